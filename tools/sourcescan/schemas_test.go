package sourcescan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a schema library lets a value be is read whatever a minifier named the
// library, and what only looks like it is not.
func TestBundledSchemas(t *testing.T) {
	const h = `var q=h.object({a:h.string()});` // h is a schema library
	for name, tt := range map[string]struct {
		text string
		want string // sorted words
	}{
		"members of an object":         {h + `r=h.object({type:h.literal("init"),status:h.enum(["busy","idle"]),n:h.number()})`, "status:busy status:idle type:init"},
		"a name of a dollar":           {`x=$2.object({a:$2.string(),kind:$2.enum(["a","b"])})`, "kind:a kind:b"},
		"nobody minified it":           {"const s = z.object({\n  'kind': z.enum([\n    'a',\n    'b',\n  ]),\n  t: z.string()\n});", "kind:a kind:b"},
		"the library of a module":      {"x=zod_1.z.object({a:zod_1.z.string(),kind:zod_1.z.enum([`a`])})", "kind:a"},
		"functions by themselves":      {`var a = object({ kind: _enum(["a"]), type: literal("b"), n: string() })`, "kind:a type:b"},
		"without a member":             {h + `Q=y(()=>h.enum(["on","off"])),w=h.literal("x")`, "enum:off enum:on literal:x"},
		"a union of literals":          {h + `r=h.object({type:h.union([h.literal("a"), h.literal("b")]).optional(),z:1})`, "type:a type:b"},
		"a union of more":              {h + `r=h.object({type:h.union([h.literal("a"),h.string(),h.literal("b")])})`, "literal:b type:a"},
		"a union nobody named":         {h + `Q=h.union([h.literal("a"),h.literal("b")])`, "literal:a literal:b"},
		"a discriminated union":        {h + `Q=h.discriminatedUnion("via",[h.object({via:h.literal("url"),u:h.string()}),h.object({via:h.literal("git")})])`, "via:git via:url"},
		"a literal of several":         {h + `r=h.object({type:h.literal(["a","b"])})`, "type:a type:b"},
		"with a message":               {h + `r=h.object({type:h.enum(["a"],{message:"no"}),s:h.literal("b",{})})`, "s:b type:a"},
		"a condition":                  {h + `r=k?v:h.enum(["a"])`, "enum:a"},
		"in an array":                  {h + `r=h.object({modes:h.array(h.enum(["a"]))})`, "enum:a"},
		"texts that are no words":      {h + `r=h.object({type:h.enum(["a","two words","","1","` + strings.Repeat("x", 65) + `"])})`, "type:a"},
		"not only texts":               {h + `r=h.enum(["a",b]);r=h.enum(["a",...b]);r=h.enum(b);r=h.enum({a:"b"});r=h.literal(1)`, ""},
		"computed and escaped texts":   {h + "r=h.enum([`a${b}`]);r=h.enum([\"a\\n\"]);r=h.enum(['a\n'])", ""},
		"another library's enum":       {h + `r=s.enum(["a"]);S.string().enum(["b"])`, ""},
		"an object alone is none":      {`r=g.object({kind:g.enum(["a"])});g.string("x")`, ""},
		"a function that only ends so": {`var a=object({s:string()});myenum(["a"]);my_enum(["a"]);$literal("b")`, ""},
		"literal of a parser":          {`p=seq(literal("a"),literal("b"))`, ""},
		"an enumeration of a set":      {h + `r=a.union(b),c=a.union([d])`, ""},
		"cut off":                      {h + `r=h.object({type:h.enum(["a","b"`, ""},
		"cut off in a union":           {h + `r=h.object({type:h.union([h.literal("a"),`, "type:a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurface()
			s.bundle("cli.js", []byte(tt.text))
			if d := cmp.Diff(tt.want, strings.Join(slices.Sorted(maps.Keys(s.Words)), " ")); d != "" {
				t.Error(d)
			}
		})
	}
}

// The words that tell frames apart have the room of a derived shape, and of an
// issue, before others.
func TestDiscriminatorsComeFirst(t *testing.T) {
	a, b := &Side{Name: "1", Surface: newSurface(), Schemas: newSurface()}, &Side{Name: "2", Surface: newSurface(), Schemas: newSurface()}
	for i := range maxFrames {
		b.word("f", "colour", strings.Repeat("a", i%maxWord+1)+strings.Repeat("b", i/maxWord))
	}
	b.word("f", "type", "turn.paused")
	r := Scan("codex", a, b)
	shape, err := derive("json-event-stream/v1", "source_derived", r.Derived, b.Surface)
	if err != nil || len(shape.FrameShapes) != maxFrames || shape.FrameShapes[0].EventType != "turn.paused" {
		t.Errorf("%d frames, %v", len(shape.FrameShapes), err)
	}
	if !strings.Contains(r.Issue().Body, "type:turn.paused") {
		t.Error("the issue leaves it out")
	}
}
