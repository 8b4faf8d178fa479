package sourcescan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// folder writes sources and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func changes(t *testing.T, name, was, is string) []string {
	t.Helper()
	var sides [2]*Surface
	for i, text := range []string{was, is} {
		s, err := Folder(folder(t, map[string]string{name: text}))
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = s
	}
	var out []string
	for _, c := range Compare(sides[0], sides[1]) {
		line := fmt.Sprint(c.Kind, " ", c.Name)
		if c.Was+c.Is != "" {
			line += " " + c.Was + "→" + c.Is
		}
		out = append(out, line)
	}
	return out
}

// The changes that break readers are seen in each language, and what is no part
// of a protocol is not.
func TestChangesByLanguage(t *testing.T) {
	for name, tt := range map[string]struct {
		file, was, is string
		want          []string
	}{
		"rust, an event and a field": {
			"exec_events.rs", `
#[derive(Serialize)]
#[serde(tag = "type")]
pub enum ThreadEvent {
    /// started
    #[serde(rename = "thread.started")]
    ThreadStarted(ThreadStartedEvent),
    #[serde(rename = "item.completed")]
    ItemCompleted(ItemCompletedEvent),
}
pub struct Usage {
    pub input_tokens: i64,
    pub cached: Option<i64>,
}`, `
#[derive(Serialize)]
#[serde(tag = "type")]
pub enum ThreadEvent {
    #[serde(rename = "thread.started")]
    ThreadStarted(ThreadStartedEvent),
    #[serde(rename = "item.finished")]
    ItemCompleted(ItemCompletedEvent),
    #[serde(rename = "turn.paused")]
    TurnPaused,
}
pub struct Usage {
    pub input_tokens: String,
    pub cached_tokens: Option<i64>, // renamed
}`,
			[]string{"word_removed type:item.completed", "field_removed ThreadEvent.item.completed ItemCompletedEvent→", "field_renamed Usage.cached cached→cached_tokens",
				"field_retyped Usage.input_tokens i64→String", "word_added type:item.finished", "word_added type:turn.paused",
				"field_added ThreadEvent.item.finished →ItemCompletedEvent", "field_added ThreadEvent.turn.paused"},
		},
		"rust, rename_all": {
			"p.rs", "#[serde(rename_all = \"snake_case\")]\npub enum Status {\n    InProgress,\n}\n", "#[serde(rename_all = \"camelCase\")]\npub enum Status {\n    InProgress,\n}\n",
			[]string{"word_removed type:in_progress", "field_renamed Status.in_progress in_progress→inProgress", "word_added type:inProgress"},
		},
		"typescript": {
			"types.d.ts", "export type Result = {\n  type: 'result';\n  subtype: 'success' | 'error_max_turns';\n  usage: Usage;\n  session_id: string;\n};\nexport interface Usage { input: number; output?: number }\n",
			"// a comment: type: 'nothing'\nexport type Result = {\n  type: 'result';\n  subtype: 'success' | 'error_budget';\n  usage: Usage;\n};\nexport interface Usage { input: number; output: number }\n",
			[]string{"word_removed subtype:error_max_turns", "field_removed Result.session_id string→", "field_retyped Result.subtype 'success' | 'error_max_turns'→'success' | 'error_budget'",
				"word_added subtype:error_budget", "requiredness_changed Usage.output ?number→number"},
		},
		"go": {
			"events.go", "package p\ntype EventType string\nconst Started EventType = \"started\"\ntype Event struct {\n Type EventType `json:\"type\"`\n Text string `json:\"text,omitempty\"`\n skip int\n}\n",
			"package p\ntype EventType string\nconst Started EventType = \"begun\"\ntype Event struct {\n Type EventType `json:\"type\"`\n Content string `json:\"content,omitempty\"`\n other int\n}\n",
			[]string{"word_removed type:started", "field_renamed Event.text text→content", "word_added type:begun"},
		},
		"json schema": {
			"ServerNotification.json", `{"$schema":"x","definitions":{"Item":{"oneOf":[{"properties":{"type":{"enum":["agentMessage"]},"text":{"type":"string"}},"required":["type","text"]}]}}}`,
			`{"$schema":"x","definitions":{"Item":{"oneOf":[{"properties":{"type":{"enum":["plan"]}},"required":["type"]},{"properties":{"type":{"enum":["agentMessage"]},"text":{"type":["string","null"]}},"required":["type"]}]}}}`,
			[]string{"field_retyped Item:agentMessage.text string→?string|null", "word_added type:plan", "type_added Item:plan"},
		},
		"bundled javascript": {
			"cli.js", `var a={type:"result",subtype:"success"},b=z.literal("system"),c={title:"type",color:"red"};let type="no"`,
			`var a={"type": "result",subtype:"success"},b=z.literal("control"),c={title:"Type",color:"blue"};d={type:"rate_limit_event"}`,
			[]string{"word_removed literal:system", "word_added type:rate_limit_event", "word_added literal:control"},
		},
		"a bundle with names, which its bundler numbered": {
			"chunk-A.js", `JsonStreamEventType2["INIT"] = "init";
HarmCategory["A"] = "a";
var zUsage = external_exports.object({
  input: external_exports.number(),
  cost: external_exports.object({
    amount: external_exports.number()
  }),
  model: zModel
});`, `JsonStreamEventType3["INIT"] = "init";
JsonStreamEventType3["DONE"] = "done";
HarmCategory["B"] = "b";
var zUsage2 = external_exports2.object({
  input: external_exports2.number().nullish(),
  cost: external_exports2.object({
    value: external_exports2.number()
  }),
  model: zModel2,
  total: external_exports2.string()
});`,
			[]string{"word_added JsonStreamEventType:done", "field_added zUsage.total →string()", "requiredness_changed zUsage.input number()→?number()"},
		},
		"a program with javascript in it": {
			"vendor/x/claude", "\x7fELF\x00\x00{type:\"result\"}\x00", "\x7fELF\x00\xff{type:\"resultat\"}\x00",
			[]string{"word_removed type:result", "word_added type:resultat"},
		},
		"a test of theirs":       {"src/events.test.ts", "type A = { type: 'a' }", "type A = { type: 'b' }", nil},
		"json that is no schema": {"package.json", `{"type":"module","version":"1"}`, `{"type":"commonjs","version":"2"}`, nil},
		"only moved":             {"types.ts", "type A = { type: 'a' }\ntype B = { b: string }\n", "type B = { b: string }\n\n\ntype A = {\n  type: 'a';\n}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := changes(t, tt.file, tt.was, tt.is)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	s := newSurface()
	s.help("exec", []byte("Usage: x [OPTIONS]\n\nCommands:\n  resume  Go on\n  help    Print this\n\nOptions:\n  -m, --model <MODEL>\n          Model the agent should use, see --not-a-flag-here\n      --json\n          Print events\n"))
	want := []string{"exec --json", "exec --model", "exec help", "exec resume"}
	var got []string
	for f := range s.Flags {
		got = append(got, f)
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A link in a package leads nowhere, and a huge file is refused.
func TestFoldersAreForeign(t *testing.T) {
	secret := folder(t, map[string]string{"x.ts": "type Secret = { type: 'secret' }"})
	dir := folder(t, map[string]string{"a.ts": "type A = { type: 'a' }"})
	if err := os.Symlink(filepath.Join(secret, "x.ts"), filepath.Join(dir, "b.ts")); err != nil {
		t.Fatal(err)
	}
	s, err := Folder(dir)
	if err != nil || s.Types["Secret"] != nil || s.Types["A"] == nil {
		t.Errorf("%v, %v", s, err)
	}
	huge := filepath.Join(dir, "huge.js")
	if err := os.WriteFile(huge, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxFile+1); err != nil {
		t.Skip("no sparse files here")
	}
	if _, err := Folder(dir); err == nil || !strings.Contains(err.Error(), "huge.js") {
		t.Errorf("%v", err)
	}
	if _, err := ReadFolder(t.TempDir()); err == nil {
		t.Error("an empty folder is read as sources")
	}
}

func FuzzLanguages(f *testing.F) {
	f.Add("#[serde(tag = \"t\")]\npub enum A {\n B(C),\n}", "type A = { type: 'a' }")
	f.Add(`{"$schema":"","oneOf":[{"oneOf":[]}],"properties":{"type":{"enum":[1,"a"]}}}`, `x={type:"a"`)
	f.Add(`h.object({a:h.string(),type:h.union([h.literal("a"),h.literal('b')])})`, "{kind:_enum([`a`]),s:string(),o:object({})")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, read := range []func(*Surface, string, []byte){(*Surface).rust, (*Surface).typeScript, (*Surface).golang, (*Surface).jsonSchema, (*Surface).bundle} {
			x, y := newSurface(), newSurface()
			read(x, "f", []byte(a))
			read(y, "f", []byte(b))
			if n := len(Compare(x, x)); n != 0 {
				t.Errorf("%d changes between the same", n)
			}
			if len(Compare(x, y)) != len(Compare(y, x)) {
				t.Error("a change has no counterpart")
			}
		}
	})
}

// registry returns an empty registry on disk.
func registry(t *testing.T) *store.Registry {
	t.Helper()
	dir := folder(t, map[string]string{store.AgentsFile: `{"schema_version":1,"agents":[]}`})
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is new becomes source evidence at its level, once, with a shape that
// hashes to its name; nothing of it is an observation.
func TestWrite(t *testing.T) {
	reg := registry(t)
	a := &contract.Agent{ID: "codex", ProtocolFamilies: []contract.ProtocolFamily{contract.FamilyEvents}}
	side := func(version, sources, schema string) *Side {
		s := &Side{Name: version, Version: version, Source: "npm:codex@" + version, Surface: newSurface(), Schemas: newSurface()}
		s.rust("a.rs", []byte(sources))
		s.Schemas.jsonSchema("S.json", []byte(schema))
		s.Schemas.Files = 1
		return s
	}
	was := side("0.1.0", "pub enum E {\n A,\n}", `{"$schema":"x","properties":{"type":{"enum":["a"]}}}`)
	is := side("0.2.0", "pub enum E {\n A,\n B,\n}", `{"$schema":"x","properties":{"type":{"enum":["a","b"]}}}`)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := Scan("codex", was, is)
	places, err := Write(t.Context(), reg, a, r, now)
	if err != nil || len(places) != 2 {
		t.Fatalf("%q, %v", places, err)
	}
	if again, err := Write(t.Context(), reg, a, r, now.Add(time.Hour)); err != nil || len(again) != 0 {
		t.Errorf("the same again wrote %q, %v", again, err)
	}
	list, err := reg.SourceEvidence("codex")
	if err != nil {
		t.Fatal(err)
	}
	levels := map[contract.ValidityLevel]int{}
	for _, s := range list {
		levels[s.ValidityLevel]++
		shape, err := reg.Shape(s.ProtocolFamily, s.DerivedShape.Signature)
		if err != nil {
			t.Fatal(err)
		}
		if sig, err := shape.ComputeSignature(); err != nil || sig != s.DerivedShape.Signature {
			t.Errorf("%s: %v", s.Path, err)
		}
		for place, v := range map[string]any{s.Path: s.SourceEvidence, shape.Path(): shape} {
			b, err := contract.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			kind := contract.KindSourceEvidence
			if v == any(shape) {
				kind = contract.KindShape
			}
			if problems := contract.Validate(kind, place, b); len(problems) != 0 {
				t.Errorf("%s: %v", place, problems)
			}
		}
		if s.CLIVersion != "0.2.0" || !slices.Equal(s.SourceRefs, []string{"npm:codex@0.1.0", "npm:codex@0.2.0"}) {
			t.Errorf("%+v", s)
		}
	}
	if levels[contract.LevelSourceDerived] != 1 || levels[contract.LevelVendorDocumented] != 1 {
		t.Errorf("%v", levels)
	}
	if obs, err := reg.Observations(""); err != nil || len(obs) != 0 {
		t.Errorf("%d observations, %v", len(obs), err)
	}
	if none, err := Write(t.Context(), reg, a, Scan("codex", is, was), now); err != nil || len(none) != 0 {
		t.Errorf("a version that only lost words: %q, %v", none, err)
	}
}

// What a scan finds has members, so it is none of the plain text of an agent that
// speaks another protocol too.
func TestStructuredFamily(t *testing.T) {
	for _, tt := range []struct {
		has  []contract.ProtocolFamily
		want contract.ProtocolFamily
	}{
		{[]contract.ProtocolFamily{contract.FamilyPlain, contract.FamilyClaude, contract.FamilyACP}, contract.FamilyClaude},
		{[]contract.ProtocolFamily{contract.FamilyPlain}, contract.FamilyPlain},
	} {
		if got := structured(&contract.Agent{ProtocolFamilies: tt.has}); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.has, got, tt.want)
		}
	}
}

func TestIssue(t *testing.T) {
	a, b := &Side{Name: "1.0.0", Surface: newSurface(), Schemas: newSurface()}, &Side{Name: "1.0.1", Surface: newSurface(), Schemas: newSurface()}
	if Scan("codex", a, b).Issue() != nil {
		t.Error("an issue about nothing")
	}
	for i := range 100 {
		b.word("f", "type", fmt.Sprintf("w%d", i))
	}
	b.word("f", "type", "`-->\n# x")
	x := Scan("codex", a, b).Issue()
	if x.Fingerprint != "source-risk:codex:1.0.1" || strings.Count(x.Body, "\n- ") != maxListed || !strings.Contains(x.Body, "and 41 more") || strings.Contains(x.Body, "-->") {
		t.Errorf("%+v", x)
	}
}
