// Package sourcescan compares what the sources of two versions of a CLI say
// about its protocol: event type definitions in TypeScript, Rust, Go and JSON
// Schema, words in bundled JavaScript, and the flags in its help. It is an early
// warning and guides captures: what it writes is source evidence and supports no
// claim (specification "Source Scan").
package sourcescan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Surface is what the sources of one version say.
type Surface struct {
	// Types are definitions of objects: TypeScript types, Rust structs and enum
	// variants, Go structs, JSON Schema definitions.
	Types map[string]*Type
	// Words are the values that discriminators take, as "type:turn.completed":
	// literals in types and schemas, and in bundled JavaScript.
	Words map[string]string // with the file that has it first
	// Flags are those of each command's help, as "exec --json".
	Flags map[string]string
	// Files counts the files that were read.
	Files int
}

// Type is one definition. A name that several files define has the union.
type Type struct {
	File   string
	Fields map[string]string // name → type as written; "?" in front: optional
}

func newSurface() *Surface {
	return &Surface{Types: map[string]*Type{}, Words: map[string]string{}, Flags: map[string]string{}}
}

// maxNames bounds what hostile sources can make us keep.
const maxNames = 200_000

func (s *Surface) field(typ, file, name, kind string) {
	t := s.Types[typ]
	if t == nil {
		if len(s.Types) >= maxNames {
			return
		}
		t = &Type{File: file, Fields: map[string]string{}}
		s.Types[typ] = t
	}
	if name != "" && len(t.Fields) < maxNames {
		t.Fields[name] = kind
	}
}

func (s *Surface) word(file, key, value string) {
	w := key + ":" + value
	if _, ok := s.Words[w]; !ok && len(s.Words) < maxNames {
		s.Words[w] = file
	}
}

// discriminators are the members whose values name kinds of frames and states
// (specification "Shape Normalization", with those that DESIGN D6 adds).
var discriminators = map[string]bool{
	"type": true, "subtype": true, "method": true, "status": true, "role": true, "kind": true, "event": true,
	"sessionUpdate": true, "stop_reason": true, "stopReason": true, "reason": true, "finish_reason": true,
}

// Kind is a kind of change.
type Kind string

// The kinds of changes, the most dangerous to a reader first.
const (
	WordRemoved     Kind = "word_removed"
	FieldRemoved    Kind = "field_removed"
	FieldRenamed    Kind = "field_renamed"
	FieldRetyped    Kind = "field_retyped"
	FlagRemoved     Kind = "flag_removed"
	TypeRemoved     Kind = "type_removed"
	WordAdded       Kind = "word_added"
	TypeAdded       Kind = "type_added"
	FieldAdded      Kind = "field_added"
	RequirednessNew Kind = "requiredness_changed"
	FlagAdded       Kind = "flag_added"
)

var kinds = []Kind{WordRemoved, FieldRemoved, FieldRenamed, FieldRetyped, FlagRemoved, TypeRemoved, WordAdded, TypeAdded, FieldAdded, RequirednessNew, FlagAdded}

// Change is one difference.
type Change struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"` // "type:turn.completed", "ThreadItem.status", "exec --json"
	Was  string `json:"was,omitempty"`
	Is   string `json:"is,omitempty"`
	File string `json:"file,omitempty"` // where the newer version, else the older, has it
	// Fingerprint is the same for the same change in every run.
	Fingerprint contract.Digest `json:"fingerprint"`
}

// Compare lists the differences, the most dangerous first, and words that tell
// kinds of frames apart before those of other members: what comes of the list, an
// issue or a derived shape, has room for so many.
func Compare(a, b *Surface) []Change {
	out := []Change{}
	add := func(c Change) {
		c.Fingerprint = contract.Sum([]byte(string(c.Kind) + "\x00" + c.Name + "\x00" + c.Was + "\x00" + c.Is))
		out = append(out, c)
	}
	sets := func(was, is map[string]string, removed, added Kind) {
		for name, file := range was {
			if _, ok := is[name]; !ok {
				add(Change{Kind: removed, Name: name, File: file})
			}
		}
		for name, file := range is {
			if _, ok := was[name]; !ok {
				add(Change{Kind: added, Name: name, File: file})
			}
		}
	}
	sets(a.Words, b.Words, WordRemoved, WordAdded)
	sets(a.Flags, b.Flags, FlagRemoved, FlagAdded)
	for name, t := range a.Types {
		if is := b.Types[name]; is != nil {
			compareFields(name, t, is, add)
		} else {
			add(Change{Kind: TypeRemoved, Name: name, File: t.File})
		}
	}
	for name, t := range b.Types {
		if a.Types[name] == nil {
			add(Change{Kind: TypeAdded, Name: name, File: t.File})
		}
	}
	slices.SortFunc(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, x.Kind), slices.Index(kinds, y.Kind)), cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Was, y.Was), cmp.Compare(x.Is, y.Is))
	})
	return out
}

// rank is 0 for the word of a discriminator, else 1.
func (c Change) rank() int {
	if key, _, ok := strings.Cut(c.Name, ":"); ok && discriminators[key] {
		return 0
	}
	return 1
}

func compareFields(name string, was, is *Type, add func(Change)) {
	var removed, added []string
	for f, kind := range was.Fields {
		now, ok := is.Fields[f]
		switch {
		case !ok:
			removed = append(removed, f)
		case strings.TrimPrefix(now, "?") != strings.TrimPrefix(kind, "?"):
			add(Change{Kind: FieldRetyped, Name: name + "." + f, Was: kind, Is: now, File: is.File})
		case now != kind:
			add(Change{Kind: RequirednessNew, Name: name + "." + f, Was: kind, Is: now, File: is.File})
		}
	}
	for f := range is.Fields {
		if _, ok := was.Fields[f]; !ok {
			added = append(added, f)
		}
	}
	if len(removed) == 1 && len(added) == 1 && was.Fields[removed[0]] == is.Fields[added[0]] { // one for one, of one type
		add(Change{Kind: FieldRenamed, Name: name + "." + removed[0], Was: removed[0], Is: added[0], File: is.File})
		return
	}
	for _, f := range removed {
		add(Change{Kind: FieldRemoved, Name: name + "." + f, Was: was.Fields[f], File: is.File})
	}
	for _, f := range added {
		add(Change{Kind: FieldAdded, Name: name + "." + f, Is: is.Fields[f], File: is.File})
	}
}
