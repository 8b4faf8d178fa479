package replay_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The forms of a statement about a shape that can be checked.
var (
	notInEnums  = regexp.MustCompile(`([A-Za-z0-9_-]+) must not appear in enums`)
	noPathBelow = regexp.MustCompile(`^(\S+) is <text>, no paths below it`)
	placeholder = regexp.MustCompile(`^(\S+) → <(?:id|text|path|time|number)>`)
	noEnumValue = regexp.MustCompile(`^(\S+) (string|number|boolean) without enum value`)
	unionTypes  = regexp.MustCompile(`(\S+) is ((?:string|number|boolean|null|object|array)(?:\|(?:string|number|boolean|null|object|array))+)`)
	requiredIf  = regexp.MustCompile(`^(\S+) required only if present in all frames`)
)

// normalizer checks what a case says of its shape, as far as the statement has
// a form that a program understands. Whatever it says, the order of keys must
// not matter and no value may stand where only structure belongs.
func (j *judge) normalizer() {
	raw, ok := j.c.Expect["normalizer"]
	if !ok || j.c.dialect() == "" {
		return
	}
	var statements []string
	in, err := j.c.load()
	if json.Unmarshal(raw, &statements) != nil || err != nil {
		j.bad("normalizer: cannot be read")
		return
	}
	d := j.c.caseDialect(j.t, in)
	s := sideOf(j.t, in.transcript(), d).Shape
	turned := sideOf(j.t, turnedKeys(in.transcript()), d).Shape
	if turned.Signature != s.Signature {
		j.bad("normalizer: another key order gives another shape")
	}
	for _, text := range statements {
		if what := shapeSays(s, text); what != "" {
			j.bad("normalizer: %q: %s", text, what)
		}
	}
	j.checked = append(j.checked, "normalizer")
}

// shapeSays holds one statement against a shape; "" if it is true, or if it
// has no form that can be checked.
func shapeSays(s *contract.Shape, text string) string {
	if m := notInEnums.FindStringSubmatch(text); m != nil {
		b, _ := json.Marshal(s.FrameShapes)
		if strings.Contains(string(b), m[1]) {
			return m[1] + " is in the shape"
		}
	}
	if m := noPathBelow.FindStringSubmatch(text); m != nil {
		for _, f := range s.FrameShapes {
			for _, p := range f.Paths {
				if strings.Contains(p.Path, m[1]+".") {
					return "has " + p.Path
				}
			}
		}
	}
	for _, re := range []*regexp.Regexp{placeholder, noEnumValue} {
		if m := re.FindStringSubmatch(text); m != nil {
			for _, f := range s.FrameShapes {
				for p := range f.Enums {
					if ends(p, m[1]) {
						return fmt.Sprintf("%s has values %s", p, f.Enums[p])
					}
				}
			}
		}
	}
	if m := unionTypes.FindStringSubmatch(text); m != nil {
		want := strings.Split(m[2], "|")
		path := m[1][strings.LastIndex(m[1], "/")+1:]
		if _, below, ok := strings.Cut(path, "."); ok {
			path = below // the part before it names the frame
		}
		slices.Sort(want)
		if !slices.ContainsFunc(s.FrameShapes, func(f contract.FrameShape) bool { return slices.Equal(typesOf(f, path), want) }) {
			return fmt.Sprintf("no frame has %s as %q", path, want)
		}
	}
	if m := requiredIf.FindStringSubmatch(text); m != nil {
		for _, f := range s.FrameShapes {
			for _, p := range f.Paths {
				if ends(p.Path, m[1]) && p.Required {
					return p.Path + " is required"
				}
			}
		}
	}
	return ""
}

func ends(path, want string) bool { return path == want || strings.HasSuffix(path, "."+want) }

func typesOf(f contract.FrameShape, path string) []string {
	var out []string
	for _, p := range f.Paths {
		if ends(p.Path, path) {
			out = append(out, p.Type)
		}
	}
	slices.Sort(out)
	return out
}

// turnedKeys spells each frame with its keys sorted.
func turnedKeys(t *transcript.Transcript) *transcript.Transcript {
	u := undo{dialect: &contract.Dialect{}}
	return u.apply(t)
}
