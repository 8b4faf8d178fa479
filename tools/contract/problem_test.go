package contract

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblemLine(t *testing.T) {
	t.Parallel()
	p := Problem{Code: "SCHEMA-TYPE", Severity: SeverityError, File: "a\n::error::b.json", Message: "want \x1b[31mred"}
	want := `SCHEMA-TYPE error a\n::error::b.json - want \x1b[31mred`
	if got := p.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A long or secret-looking value never reaches a message.
func TestMessagesDoNotQuoteLongValues(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("k", 64)
	reg := validRegistry(t)
	place := firstOf(reg, KindObservation)
	for _, pointer := range []string{"/platform", "/capture/captured_at", "/cli_version", "/redaction/tool_version"} {
		ps := Validate(KindObservation, place, edit(t, reg[place], pointer, `"`+secret+` x"`))
		if len(ps) == 0 || strings.Contains(ps[0].String(), secret) {
			t.Errorf("%s: %v", pointer, ps)
		}
	}
}

func TestProblemsAreSortedByPlace(t *testing.T) {
	t.Parallel()
	ps := SortProblems([]Problem{{Pointer: "/a/10"}, {Pointer: "/a/9"}, {Pointer: "/a/9"}, {Pointer: ""}, {Pointer: "/a"}})
	var got []string
	for _, p := range ps {
		got = append(got, p.Pointer)
	}
	if d := cmp.Diff([]string{"", "/a", "/a/9", "/a/10"}, got); d != "" {
		t.Error(d)
	}
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	reg := validRegistry(t)
	place := firstOf(reg, KindObservation)
	ps := Validate(KindObservation, place, edit(t, edit(t, reg[place], "/platform", `"linux-x46"`), "/redaction/stauts", `"passed"`))
	if len(ps) != 2 || !strings.HasSuffix(ps[0].Message, "did you mean linux-x64?") || !strings.HasSuffix(ps[1].Message, "did you mean status?") {
		t.Errorf("%v", ps)
	}
}

// Ids are unique and stable in form, and every rule says what to do.
func TestRuleCatalogue(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[A-Z0-9]+(-[A-Z0-9]+)+$`)
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || !form.MatchString(r.ID) {
			t.Errorf("%s is there twice or misspelled", r.ID)
		}
		seen[r.ID] = true
		if r.Meaning == "" || r.Action == "" || r.Source == "" || r.Severity != SeverityError && r.Severity != SeverityWarning {
			t.Errorf("%s is incomplete", r.ID)
		}
	}
	// Every id that the code reports is in the catalogue.
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`"((?:JSON|SCHEMA|RECORD|OBS|SRC|SHAPE|MATRIX|ERR|EVID|POLICY|LATEST|ALIAS|REQ|ANS|REF|FILE|VERSION|AGENTS|SCENARIO|EXPECTATION)-[A-Z0-9-]+)"`)
	for _, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil || !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		for _, m := range used.FindAllStringSubmatch(string(b), -1) {
			if !seen[m[1]] {
				t.Errorf("%s reports %s, which is not in the catalogue", f.Name(), m[1])
			}
		}
	}
}

// What a record leaves out has the specification's default after Decode.
func TestDefaults(t *testing.T) {
	t.Parallel()
	reg := validRegistry(t)
	strip := func(kind RecordKind, pointers ...string) []byte {
		b := reg[firstOf(reg, kind)]
		for _, p := range pointers {
			b = edit(t, b, p, "")
		}
		return b
	}
	var v Validator
	o, ps := Decode[Observation](&v, "o", strip(KindObservation, "/parser_replay", "/install/binary_sha256", "/capture/workflow_run_url", "/capture/raw_stdout_sha256"))
	if len(ps) > 0 || o.ParserReplay.Status != ReplayNotRun || o.ParserReplay.OpenDesignCommit != nil || o.Install.BinarySHA256 != nil || o.Capture.RawStdoutSHA256 != nil {
		t.Errorf("observation: %+v %v", o.ParserReplay, ps)
	}
	s, ps := Decode[SourceEvidence](&v, "s", strip(KindSourceEvidence, "/cli_version"))
	if len(ps) > 0 || s.CLIVersion != "unknown" {
		t.Errorf("source evidence: %q %v", s.CLIVersion, ps)
	}
	e, ps := Decode[ErrorCase](&v, "e", strip(KindErrorCase, "/classifier_input/events", "/classifier_input/errorCode"))
	if len(ps) > 0 || e.ClassifierInput.Events == nil || e.ClassifierInput.ErrorCode != nil {
		t.Errorf("error case: %+v %v", e.ClassifierInput, ps)
	}
	shape, ps := Decode[Shape](&v, "x", strip(KindShape, "/stderr_class"))
	if len(ps) > 0 || shape.StderrClass != "none" {
		t.Errorf("shape: %q %v", shape.StderrClass, ps)
	}
	var pointers []string
	for _, i := range []string{"0", "1", "2"} {
		for _, m := range []string{"server_variants", "notes", "policy"} {
			pointers = append(pointers, "/agents/"+i+"/"+m)
		}
	}
	m, ps := Decode[SupportMatrix](&v, "m", strip(KindSupportMatrix, append(pointers, "/open_design_min_commit", "/agents/2/known_breaking_shapes", "/agents/0/latest_seen")...))
	if len(ps) > 0 || len(m.Agents) != 3 {
		t.Fatalf("matrix: %v", ps)
	}
	for i, want := range []AllowRun{AllowRunWarn, AllowRunWarn, AllowRunBlock} {
		a := m.Agents[i]
		if a.Policy.AllowRun != want || a.ServerVariants == nil || a.KnownBreakingShapes == nil || a.Notes == nil {
			t.Errorf("matrix entry %d: %+v", i, a)
		}
	}
}

// Decode reads back what Encode wrote, byte for byte.
func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	for place, b := range validRegistry(t) {
		kind, ok := KindOf(place)
		if !ok {
			continue
		}
		record := newRecord(kind)
		if err := json.Unmarshal(b, record); err != nil {
			t.Fatal(err)
		}
		setDefaults(record)
		got, err := Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(b), string(got)); d != "" {
			t.Errorf("%s (%s): file (-), struct (+):\n%s", place, reflect.TypeOf(record), d)
		}
	}
}

func TestVersionRanges(t *testing.T) {
	t.Parallel()
	for r, want := range map[string]bool{
		"0.133.0": true, ">=0.133.0 <0.140.0": true, "2025.11.06-8fe8a63": true, ">=2025.11.06-8fe8a63": true,
		"^1.2.3": true, "~1.2": true, "<0.20.0 || >=1.0.0": true, "*": true, "1.0.128": true,
		"": false, ">=": false, "1.0 2.0": false, "^next-build": false, "since 1.0": false, ">= 1.0": false, "../x": false,
	} {
		if got := ValidRange(r); got != want {
			t.Errorf("ValidRange(%q) = %v", r, got)
		}
	}
}
