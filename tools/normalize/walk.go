package normalize

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxDepth is how deep a frame is read; what lies below keeps its own type
// only. Real frames stay under 20; the limit bounds a shape's size by its input.
const maxDepth = 64

// node is one path of a kind, with what was seen there.
type node struct {
	path  string
	key   string
	state paths.State
	flags paths.Flags

	kids  []*node          // members, in order of first appearance
	index map[string]*node // of kids, once there are many
	elem  *node            // array elements
	any   *node            // members of a declared map

	frames int   // frames that have the path
	types  uint8 // set of rawjson.Kind
	seen   int   // number of the last frame counted
	enums  []contract.Literal
	last   string // raw token of the last enum value

	visit int // the last object visit that met this member
	slot  int // and where that visit keeps it
}

func newNode(path, key string, st paths.State) *node {
	return &node{path: path, key: key, state: st, flags: st.Flags()}
}

// manyKids is the number of members from which on a map finds them faster
// than a look at each.
const manyKids = 12

// kid returns the node of a member. hint is where it probably is: members
// mostly come in the order in which they came last time.
func (n *node) kid(key []byte, hint int) (*node, int) {
	if hint < len(n.kids) && n.kids[hint].key == string(key) {
		return n.kids[hint], hint + 1
	}
	if n.index != nil {
		if k := n.index[string(key)]; k != nil {
			return k, slices.Index(n.kids, k) + 1
		}
	} else if i := slices.IndexFunc(n.kids, func(k *node) bool { return k.key == string(key) }); i >= 0 {
		return n.kids[i], i + 1
	}
	name := string(key)
	k := newNode(paths.Join(n.path, name), name, n.state.Key(name))
	n.kids = append(n.kids, k)
	switch {
	case n.index != nil:
		n.index[name] = k
	case len(n.kids) > manyKids:
		n.index = make(map[string]*node, 2*len(n.kids))
		for _, x := range n.kids {
			n.index[x.key] = x
		}
	}
	return k, len(n.kids)
}

func (n *node) element() *node {
	if n.elem == nil {
		n.elem = newNode(paths.Elem(n.path), "", n.state.Elem())
	}
	return n.elem
}

func (n *node) mapped() *node {
	if n.any == nil {
		n.any = newNode(paths.MapKey(n.path), "", n.state.Key("<key>"))
	}
	return n.any
}

// walker adds frames to their kinds.
type walker struct {
	src        []byte
	frame      int // number of the frame, from 1
	visits     int // objects visited
	members    []member
	duplicates int   // members that a later one of the same name replaced
	form       *form // what is learned of the frame, or nil
}

type member struct {
	v rawjson.Value
	n *node
}

// add counts a frame. src is the text that the value was parsed from.
func (w *walker) add(k *kind, v rawjson.Value, src []byte) {
	w.frame++
	w.src = src
	k.frames++
	w.walk(v, k.root, 0)
}

// addText counts a frame that is not JSON; its content is not in the shape.
func (w *walker) addText(k *kind) {
	w.frame++
	k.frames++
	k.root.count(rawjson.String, w.frame)
}

func (n *node) count(t rawjson.Kind, frame int) {
	n.types |= 1 << t
	if n.seen != frame {
		n.seen = frame
		n.frames++
	}
}

func (w *walker) walk(v rawjson.Value, n *node, depth int) {
	t := v.Kind()
	if n.flags&racy != 0 {
		n.count(rawjson.Invalid, w.frame) // type unknown
		w.form.note(n)
		w.form.differs(v)
		return
	}
	n.count(t, w.frame)
	w.form.note(n)
	if n.flags&opaque != 0 || depth >= maxDepth {
		if depth < maxDepth {
			w.form.differs(v)
		}
		return
	}
	switch t {
	case rawjson.Object:
		w.object(v, n, depth)
	case rawjson.Array:
		e := n.element()
		for x := range v.Children() {
			w.walk(x, e, depth+1)
		}
	default:
		if n.flags&enum != 0 {
			n.addEnum(v)
		} else {
			w.form.differs(v)
		}
	}
}

func (w *walker) object(v rawjson.Value, n *node, depth int) {
	if n.flags&dynamic != 0 {
		m := n.mapped()
		for _, x := range v.Members() {
			w.walk(x, m, depth+1)
		}
		return
	}
	w.visits++
	visit, base, hint := w.visits, len(w.members), 0
	for x := range v.Children() {
		var k *node
		k, hint = n.kid(w.key(x), hint)
		if k.visit == visit { // of duplicates the last one counts, as in JavaScript
			w.members[k.slot].v = x
			w.duplicates++
			continue
		}
		k.visit, k.slot = visit, len(w.members)
		w.members = append(w.members, member{x, k})
	}
	for i := base; i < len(w.members); i++ {
		w.walk(w.members[i].v, w.members[i].n, depth+1)
	}
	w.members = w.members[:base]
}

// key returns a member's decoded key without a copy where it holds no escape.
func (w *walker) key(v rawjson.Value) []byte {
	from, to := v.KeyRange()
	raw := w.src[from+1 : to-1]
	if slices.Contains(raw, '\\') {
		return []byte(v.Key())
	}
	return raw
}

func (n *node) addEnum(v rawjson.Value) {
	raw := v.Raw()
	if n.last != "" && n.last == string(raw) {
		return
	}
	n.last = string(raw)
	text, ok := appendLiteral(nil, v)
	if !ok {
		return
	}
	lit := contract.Literal(text)
	if i, found := slices.BinarySearch(n.enums, lit); !found {
		n.enums = slices.Insert(n.enums, i, lit)
	}
}

// shape returns what the kind's frames have in common.
func (k *kind) shape() contract.FrameShape {
	f := contract.FrameShape{
		Direction: string(k.dir), Stream: string(k.stream), EventType: k.event,
		Paths: []contract.PathShape{}, Enums: map[string][]contract.Literal{},
	}
	f.Paths = slices.Grow(f.Paths, k.root.pathCount())
	k.collect(k.root, &f)
	slices.SortFunc(f.Paths, func(a, b contract.PathShape) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Type, b.Type)
	})
	return f
}

// pathCount returns how many entries the node and those below have in a shape, or
// one more.
func (n *node) pathCount() int {
	if n == nil || n.frames == 0 {
		return 0
	}
	count := bits.OnesCount8(n.types) + n.elem.pathCount() + n.any.pathCount()
	for _, x := range n.kids {
		count += x.pathCount()
	}
	return count
}

func (k *kind) collect(n *node, f *contract.FrameShape) {
	if n.frames == 0 {
		return
	}
	for t := rawjson.Invalid; t <= rawjson.Object; t++ {
		if n.types&(1<<t) == 0 || n == k.root && t == rawjson.Object {
			continue // every frame is an object; saying so adds nothing
		}
		f.Paths = append(f.Paths, contract.PathShape{Path: n.path, Type: t.String(), Required: n.frames == k.frames})
	}
	if len(n.enums) > 0 {
		f.Enums[n.path] = n.enums
	}
	for _, x := range n.kids {
		k.collect(x, f)
	}
	if n.elem != nil {
		k.collect(n.elem, f)
	}
	if n.any != nil {
		k.collect(n.any, f)
	}
}
