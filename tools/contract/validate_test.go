package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The records of testdata/valid are valid alone and together; the
// specification's example records, with real hashes, are among them.
func TestValidRecords(t *testing.T) {
	t.Parallel()
	reg := validRegistry(t)
	seen := map[RecordKind]bool{}
	for place := range reg {
		kind, ok := KindOf(place)
		if !ok {
			continue
		}
		seen[kind] = true
		for _, p := range reg.checkAll(kind, place) {
			t.Errorf("%s", p)
		}
	}
	for _, kind := range []RecordKind{KindObservation, KindSourceEvidence, KindShape, KindSupportMatrix, KindErrorCase,
		KindEvidence, KindPolicy, KindLatestSeen, KindAliases, KindRequest, KindAnswer} {
		if !seen[kind] {
			t.Errorf("testdata/valid has no %s", kind)
		}
	}
}

// specInvalid lists the invalid examples of the specification in our words:
// each is a file under testdata/invalid. The transcript's secret is not a
// matter of form and belongs to the leak scan (package redact).
var specInvalid = []string{
	"observation/higher-schema-version-without-a-migration",
	"observation/redaction-passed-without-raw-client-transcript-hash",
	"observation/shape-signature-is-not-the-hash-of-the-shape-file",
	"observation/protocol-family-never-declared-by-the-agent",
	"observation/cli-version-unknown",
	"observation/validity-level-source-derived",
	"source-evidence/validity-level-runtime-observed",
	"source-evidence/source-refs-empty",
	"source-evidence/raw-client-transcript-hash",
	"transcript/exit-without-exit-code-or-signal",
	"transcript/data-and-data-ref",
	"shape/event-types-omit-a-used-event-type",
	"shape/required-path-absent-in-the-fixture",
	"shape/signature-does-not-match-canonical-json",
	"shape/synthetic-mock-referenced-by-a-normal-claim",
	"support-matrix/support-status-verified",
	"support-matrix/version-ranges-without-observed-shapes",
	"support-matrix/known-breaking-without-reason-and-evidence",
	"support-matrix/version-range-verified-by-synthetic-mock-only",
	"support-matrix/version-range-verified-by-source-derived-only",
	"error-case/failed-without-expected-classification",
	"error-case/user-action-reauthenticate",
	"error-case/failure-stage-outside-the-enum",
}

func TestSpecificationExamplesAreComplete(t *testing.T) {
	t.Parallel()
	for _, name := range specInvalid {
		if _, err := os.Stat(filepath.Join("testdata", "invalid", filepath.FromSlash(name)+".txtar")); err != nil {
			t.Errorf("the specification's invalid example has no file: %v", err)
		}
	}
}

// Each file of testdata/invalid changes one valid record and lists what is
// then wrong: "CODE severity pointer", one a line. Its sections:
//
//	record     end of the record's place (default: the first of the folder's kind)
//	text       replaces the record's text
//	set        lines "pointer value" for the record
//	remove     lines "pointer" for the record
//	elsewhere  lines "end-of-place pointer value" for other files
//	delete     lines "end-of-place" of other files
//	resign     recomputes a shape's signature
//	derived    members of the shape that the fixture turns out to have
//	want       the golden part
func TestInvalidRecords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "invalid", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		kind := RecordKind(filepath.Base(filepath.Dir(file)))
		t.Run(string(kind)+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a := readArchive(t, file)
			reg, place := invalidRegistry(t, kind, a)
			var lines []string
			for _, p := range reg.checkAll(kind, place) {
				if rule, ok := RuleOf(p.Code); !ok || p.Hint == "" || p.Severity != rule.Severity {
					t.Errorf("%s is not in the catalogue", p.Code)
				}
				lines = append(lines, strings.TrimSpace(p.Code+" "+string(p.Severity)+" "+p.Pointer))
			}
			got := strings.Join(lines, "\n") + "\n"
			if got == "\n" {
				t.Fatal("the record is valid")
			}
			a.checkGolden(t, file, "want", got)
		})
	}
}

// invalidRegistry applies a file's changes to the valid registry.
func invalidRegistry(t *testing.T, kind RecordKind, a *archive) (testRegistry, string) {
	t.Helper()
	reg := validRegistry(t)
	section := func(name string) (string, bool) {
		text, ok := a.get(name)
		return strings.TrimSpace(text), ok
	}
	place := firstOf(reg, kind)
	if suffix, ok := section("record"); ok {
		place = reg.find(t, suffix)
	}
	if text, ok := section("text"); ok {
		reg[place] = []byte(strings.ReplaceAll(strings.ReplaceAll(text, `<BOM>`, "\ufeff"), `<FF>`, "\xff"))
	}
	set, _ := section("set")
	for line := range strings.Lines(set) {
		pointer, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		reg[place] = edit(t, reg[place], pointer, value)
	}
	remove, _ := section("remove")
	for _, pointer := range strings.Fields(remove) {
		reg[place] = edit(t, reg[place], pointer, "")
	}
	elsewhere, _ := section("elsewhere")
	for line := range strings.Lines(elsewhere) {
		parts := strings.SplitN(strings.TrimSpace(line), " ", 3)
		other := reg.find(t, parts[0])
		reg[other] = edit(t, reg[other], parts[1], parts[2])
	}
	gone, _ := section("delete")
	for _, suffix := range strings.Fields(gone) {
		delete(reg, reg.find(t, suffix))
	}
	if derived, ok := section("derived"); ok {
		reg["derived.json"] = []byte(derived)
	}
	if _, ok := section("resign"); ok {
		place = resign(t, reg, place)
	}
	return reg, place
}

func firstOf(reg testRegistry, kind RecordKind) string {
	var places []string
	for place := range reg {
		if k, ok := KindOf(place); ok && k == kind {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return string(kind) + ".json" // a kind that is not a file of its own
	}
	return slices.Min(places)
}

// resign gives a shape the signature and the place of its content.
func resign(t *testing.T, reg testRegistry, place string) string {
	t.Helper()
	s, err := readAs[Shape](reg, place)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := s.ComputeSignature()
	if err != nil {
		t.Fatal(err)
	}
	b := edit(t, reg[place], "/signature", strconv.Quote(string(sig)))
	for _, fixture := range reg.Fixtures(s.Signature) {
		reg[strings.ReplaceAll(fixture, s.Signature.FileName(), sig.FileName())] = reg[fixture]
	}
	delete(reg, place)
	place = ShapePath(s.ProtocolFamily, sig)
	reg[place] = b
	return place
}

// edit sets the value at a pointer of a JSON text, or removes it if value is
// empty. A number at the end of a pointer is an index; "-" appends.
func edit(t *testing.T, text []byte, pointer, value string) []byte {
	t.Helper()
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(pointer, "/")
	last := parts[len(parts)-1]
	parent := valueAt(root, strings.Join(parts[:len(parts)-1], "/"))
	var v any
	if value != "" {
		v = json.RawMessage(value)
	}
	switch p := parent.(type) {
	case map[string]any:
		if value == "" {
			delete(p, last)
			break
		}
		p[last] = v
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil || i >= len(p) || value == "" {
			t.Fatalf("cannot edit %s", pointer)
		}
		p[i] = v
	default:
		t.Fatalf("there is nothing at %s", pointer)
	}
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
