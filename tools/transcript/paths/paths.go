// Package paths names places inside JSON frames and matches them against
// patterns. A path is written as members joined by dots, [] for array
// elements, <key> for the members of an object whose keys are data, and "$"
// for the value itself: item.status, message.content[].type,
// modelUsage.<key>.costUSD. A member name that is not made of letters, digits,
// _ $ - is quoted: ["a.b"]. In a pattern a last member ** matches everything
// below.
package paths

import (
	"fmt"
	"strconv"
	"strings"
)

// Flags is the set of meanings that a caller gave to patterns.
type Flags uint64

type node struct {
	flags Flags // of the patterns that end here
	deep  Flags // of the patterns that end in ** below here
	keys  map[string]*node
	any   *node
	elem  *node
}

// Set is a set of patterns, each with flags. The zero Set is empty.
type Set struct{ root node }

// Add adds a pattern.
func (s *Set) Add(pattern string, f Flags) error {
	steps, err := Split(pattern)
	if err != nil {
		return err
	}
	n := &s.root
	for i, st := range steps {
		if st == "**" && i == len(steps)-1 {
			n.deep |= f
			return nil
		}
		n = n.child(st)
	}
	n.flags |= f
	return nil
}

func (n *node) child(step string) *node {
	switch step {
	case "[]":
		if n.elem == nil {
			n.elem = &node{}
		}
		return n.elem
	case "<key>":
		if n.any == nil {
			n.any = &node{}
		}
		return n.any
	}
	if n.keys == nil {
		n.keys = map[string]*node{}
	}
	if n.keys[step] == nil {
		n.keys[step] = &node{}
	}
	return n.keys[step]
}

// State is a place during a walk. The zero State matches nothing.
type State struct {
	n    *node
	deep Flags
}

// Root returns the state at the top of a frame.
func (s *Set) Root() State { return State{&s.root, s.root.deep} }

// Flags returns the flags of the patterns that match the place.
func (st State) Flags() Flags {
	if st.n == nil {
		return st.deep
	}
	return st.deep | st.n.flags
}

// Key steps into an object's member. An exact member wins over <key>.
func (st State) Key(k string) State {
	if st.n == nil {
		return st
	}
	c := st.n.keys[k]
	if c == nil {
		c = st.n.any
	}
	return st.to(c)
}

// Elem steps into an array's element.
func (st State) Elem() State {
	if st.n == nil {
		return st
	}
	return st.to(st.n.elem)
}

func (st State) to(c *node) State {
	if c == nil {
		return State{nil, st.deep}
	}
	return State{c, st.deep | c.deep}
}

// Join appends a member name to a path.
func Join(path, key string) string {
	if plain(key) {
		if path == "" || path == "$" {
			return key
		}
		return path + "." + key
	}
	if path == "$" {
		path = ""
	}
	return path + "[" + strconv.Quote(key) + "]"
}

// Elem appends an array step to a path.
func Elem(path string) string {
	if path == "" {
		path = "$"
	}
	return path + "[]"
}

// MapKey appends the step of a member whose key is data.
func MapKey(path string) string {
	if path == "" || path == "$" {
		return "<key>"
	}
	return path + ".<key>"
}

func plain(k string) bool {
	if k == "" || k == "$" || k == "**" {
		return false
	}
	for i := range len(k) {
		c := k[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '-') {
			return false
		}
	}
	return true
}

// Split returns the steps of a path or pattern: member names as they are,
// "[]", "<key>" and, at the end of a pattern, "**". "$" has no steps.
func Split(p string) ([]string, error) {
	bad := func(what string) ([]string, error) {
		return nil, fmt.Errorf("path pattern %q: %s", p, what)
	}
	if p == "" {
		return bad("empty")
	}
	rest := p
	if rest == "$" {
		return nil, nil
	}
	rest = strings.TrimPrefix(rest, "$[]")
	var steps []string
	if rest != p {
		steps = append(steps, "[]")
	}
	start := len(steps) == 0
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "[]"):
			steps, rest = append(steps, "[]"), rest[2:]
		case strings.HasPrefix(rest, `["`):
			q, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(q):], "]") {
				return bad("a quoted member does not end")
			}
			k, err := strconv.Unquote(q)
			if err != nil {
				return bad("a quoted member does not decode")
			}
			steps, rest = append(steps, k), rest[len(q)+2:]
		default:
			if !start {
				if rest[0] != '.' {
					return bad("expected a dot")
				}
				rest = rest[1:]
			}
			i := strings.IndexAny(rest, ".[")
			if i < 0 {
				i = len(rest)
			}
			k := rest[:i]
			if k != "<key>" && k != "**" && !plain(k) {
				return bad("a member needs quotes")
			}
			steps, rest = append(steps, k), rest[i:]
		}
		start = false
	}
	return steps, nil
}
