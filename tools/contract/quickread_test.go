package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// readKinds are the kinds that quickRead is for, with where their records are.
var readKinds = map[RecordKind]string{
	KindObservation: "observations/*/*/*/*.observation.json",
	KindEvidence:    "evidence/*/*/*/*.evidence.json",
	KindErrorCase:   "errors/*/*/*/*.error.json",
	KindShape:       "shapes/*/*.shape.json",
}

func recordFiles(tb testing.TB, pattern string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pattern))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no files %s: %v", pattern, err)
	}
	return slices.DeleteFunc(files, func(f string) bool {
		kind, _ := KindOf("x/" + filepath.Base(f))
		return readKinds[kind] == ""
	})
}

// slowly is what the decoder, v5 and encoding/json make of a text.
func slowly(t interface{ Fatal(...any) }, kind RecordKind, text []byte) (record any, valid bool) {
	s, err := schemaOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	v, findings, ok := decode(kind, text)
	if !ok || len(findings) > 0 || s.compiled.Validate(v) != nil {
		return nil, false
	}
	record = newRecord(kind)
	return record, json.Unmarshal(text, record) == nil
}

// sameAsSlowly says where quickRead parts from the slow way: it may not take a
// record that is not valid, nor read another one.
func sameAsSlowly(kind RecordKind, text []byte, t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}) (quick bool) {
	made := newRecord(kind)
	lent := slices.Clone(text)
	quick = quickRead(kind, lent, made, false)
	clear(lent) // whoever lends the text uses its room again
	if lean := newRecord(kind); quickRead(kind, text, lean, true) != quick {
		t.Fatalf("leaving out members of any kind changes whether quickRead takes a record of kind %s:\n%s", kind, text)
	} else if !quick {
		return false
	} else if kind != KindErrorCase && !reflect.DeepEqual(lean, made) {
		t.Fatalf("quickRead leaves out something else of a record of kind %s:\n%s", kind, text)
	}
	want, valid := slowly(t, kind, text)
	if !valid {
		t.Fatalf("quickRead takes a record of kind %s that is not valid:\n%s", kind, text)
	}
	if !reflect.DeepEqual(made, want) {
		t.Fatalf("quickRead reads another record of kind %s:\n%s", kind, text)
	}
	return true
}

// Every committed record is read the quick way, as the slow way reads it.
func TestQuickReadTakesEveryCommittedRecord(t *testing.T) {
	t.Parallel()
	for kind, pattern := range readKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for i, f := range recordFiles(t, pattern) {
				if raced && i%10 != 0 {
					continue
				}
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				made := newRecord(kind)
				if !quickRead(kind, text, made, false) {
					t.Errorf("%s is not read the quick way", f)
				} else if i%20 == 0 { // v5 takes its time
					sameAsSlowly(kind, text, t)
				}
			}
		})
	}
}

// Changed records: a member less or more, another value, another spelling.
func TestQuickReadAgreesWithV5(t *testing.T) {
	t.Parallel()
	for kind, pattern := range readKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			records := committed(t, kind, pattern)
			rapid.Check(t, func(rt *rapid.T) {
				text, err := json.Marshal(mutated(rt, rapid.SampledFrom(records).Draw(rt, "record")))
				if err != nil {
					rt.Fatal(err)
				}
				sameAsSlowly(kind, respelled(rt, text), rt)
			})
		})
	}
}

// respelled changes the text in a place, or leaves it.
func respelled(t *rapid.T, text []byte) []byte {
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	piece := rapid.SampledFrom([]string{"", "", "", " ", "\t", ",", "\"", "}", "]", "0", "-", ".0", "e1", "\\", `\u0041`, `\ud800`, "\x01", "\xff", "null", `"agent":"codex",`}).Draw(t, "piece")
	return slices.Concat(text[:at], []byte(piece), text[at:])
}

func FuzzQuickRead(f *testing.F) {
	kinds := []RecordKind{KindObservation, KindEvidence, KindErrorCase, KindShape}
	for i, kind := range kinds {
		for _, file := range recordFiles(f, readKinds[kind])[:5] {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, text []byte) {
		sameAsSlowly(kinds[int(i)%len(kinds)], text, t)
	})
}

// A text that is no record is read as encoding/json reads it.
func TestUnmarshalIsThatOfJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"agent": "x", "Probe": "y", "other": 1}`, `{"agent": 1}`, `[`, `{}`} {
		var quick, slow Observation
		err1, err2 := Unmarshal([]byte(text), &quick), json.Unmarshal([]byte(text), &slow)
		if (err1 == nil) != (err2 == nil) || !reflect.DeepEqual(quick, slow) {
			t.Errorf("%s is read otherwise: %v, %v", text, err1, err2)
		}
	}
}

func BenchmarkQuickRead(b *testing.B) {
	for kind, pattern := range readKinds {
		text, err := os.ReadFile(recordFiles(b, pattern)[0])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(kind), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !quickRead(kind, text, newRecord(kind), true) {
					b.Fatal("it is not read")
				}
			}
		})
	}
}
