package validate

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// sample is a small true registry made from the committed one: the records of
// one agent version with everything that they name.
func sample(t *testing.T) fstest.MapFS {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	out := fstest.MapFS{}
	copyTree(t, root, out, "registry", "")
	delete(out, "registry/releases.json") // these are also about agents that the sample lacks
	delete(out, "registry/latest-seen.json")
	copyTree(t, root, out, "probes", "")
	copyTree(t, root, out, "observations/codex/0.133.0", "")
	copyTree(t, root, out, "evidence/codex/0.133.0", "")
	copyTree(t, root, out, "errors/codex/0.133.0", "")
	if len(out) < 20 {
		t.Fatal("the committed registry has no codex 0.133.0")
	}
	reg := store.Embedded(out)
	obs, err := reg.Observations("codex")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range obs {
		for _, rel := range []string{o.Shape.Path, o.Extensions.Fixture, o.Extensions.ReferenceGolden, o.ParserReplay.Golden} {
			if rel != "" {
				copyTree(t, root, out, rel, "")
			}
		}
	}
	derive(t, out, reg)
	return out
}

// derive makes the sample's matrix, levels and coverage true for what it holds.
func derive(t *testing.T, files fstest.MapFS, reg *store.Registry) {
	t.Helper()
	var agents contract.AgentsFile
	must(t, json.Unmarshal(files[store.AgentsFile].Data, &agents))
	agents.Agents = slices.DeleteFunc(agents.Agents, func(a contract.Agent) bool { return a.ID != "codex" })
	put(t, files, store.AgentsFile, agents)
	obs, err := reg.Observations("")
	must(t, err)
	levels := matrix.Levels(obs, matrix.Standing{})
	for _, o := range obs {
		var s contract.Shape
		must(t, json.Unmarshal(files[o.Shape.Path].Data, &s))
		s.ValidityLevel = levels[s.Signature]
		put(t, files, o.Shape.Path, &s)
	}
	r, err := matrix.Load(reg)
	must(t, err)
	m, err := matrix.Build(r)
	must(t, err)
	put(t, files, matrix.Path, m)
}

func put(t *testing.T, files fstest.MapFS, rel string, v any) {
	t.Helper()
	b, err := contract.Encode(v)
	must(t, err)
	files[rel] = &fstest.MapFile{Data: b}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, from fs.FS, to fstest.MapFS, root, suffix string) {
	t.Helper()
	err := fs.WalkDir(from, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, suffix) {
			return err
		}
		b, err := fs.ReadFile(from, p)
		to[p] = &fstest.MapFile{Data: b}
		return err
	})
	must(t, err)
}

// repeated adds the observation of the sample's first error case once more, at
// another time, with its evidence and its case, whose place it returns.
func repeated(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	from := anErrorCase(t, files)
	var e contract.ErrorCase
	must(t, json.Unmarshal(files[from].Data, &e))
	at := e.Extensions.RecordedAt
	digit := len("2026-11-30T0") // of the hour
	again := at[:digit] + string('0'+(at[digit]-'0'+1)%4) + at[digit+1:]
	words := strings.NewReplacer(at, again, strings.ReplaceAll(at, ":", ""), strings.ReplaceAll(again, ":", ""))
	add := func(place string, words *strings.Replacer) contract.Digest {
		b := []byte(words.Replace(string(files[place].Data)))
		files[words.Replace(place)] = &fstest.MapFile{Data: b}
		return contract.Sum(b)
	}
	place := e.Extensions.Observation
	old := contract.Sum(files[place].Data)
	add(store.EvidenceOf(place), strings.NewReplacer(at, again, strings.ReplaceAll(at, ":", ""), strings.ReplaceAll(again, ":", ""), string(old), string(add(place, words))))
	add(from, words)
	derive(t, files, store.Embedded(files))
	return words.Replace(from)
}

// A case that is what this program writes is not read again; one of which a
// single byte is another is.
func TestWrittenAgain(t *testing.T) {
	files := sample(t)
	place := repeated(t, files)
	if p := run(t, files); contract.HasErrors(p) {
		t.Fatalf("the sample with a repeated run does not validate: %v", p)
	}
	reg := store.Embedded(files)
	v := &validation{reg: reg, res: newResolver(reg), result: &Result{}}
	must(t, v.list(nil))
	must(t, v.each())
	text := files[place].Data
	if !v.writtenAgain(place, text) {
		t.Fatal("the repeated case is read again")
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if v.writtenAgain(place, changed) {
			t.Fatalf("byte %d of the case changed and it was not read", i)
		}
	}
	if v.writtenAgain(strings.Replace(place, "/20", "/19", 1), text) {
		t.Error("a case without its observation is not read")
	}
	o := v.res.observed[strings.NewReplacer("errors/", "observations/", ".error.json", ".observation.json").Replace(place)]
	if o.sound = false; v.writtenAgain(place, text) {
		t.Error("a case whose observation has a problem is not read")
	}
}

func run(t *testing.T, files fstest.MapFS) []contract.Problem {
	t.Helper()
	r, err := Run(store.Embedded(files), nil)
	must(t, err)
	return r.Problems
}

func TestSampleIsTrue(t *testing.T) {
	if p := run(t, sample(t)); contract.HasErrors(p) {
		t.Fatalf("the sample registry does not validate: %v", p)
	}
}

// Any single byte of a shape, fixture, golden, observation, error case or the matrix that
// is changed so that the file says something else is found.
func TestEveryChangedByteIsFound(t *testing.T) {
	files := sample(t)
	repeated(t, files)
	places := map[string][]string{}
	for rel := range files {
		switch root := folderOf(rel); {
		case root == "shapes", root == "fixtures", root == "goldens", root == "observations", root == "errors", rel == matrix.Path:
			places[root] = append(places[root], rel)
		}
	}
	if len(places) != 6 {
		t.Fatalf("the sample lacks a kind of record: %v", places)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, root := range slices.Sorted(mapKeys(places)) {
		slices.Sort(places[root])
		for range 12 {
			rel := places[root][rng.IntN(len(places[root]))]
			before := files[rel]
			after, at := mutate(rng, before.Data)
			files[rel] = &fstest.MapFile{Data: after}
			problems := run(t, files)
			files[rel] = before
			if !contract.HasErrors(problems) {
				t.Errorf("seed %d: byte %d of %s changed and nothing was found", seed, at, rel)
				continue
			}
			if !slices.ContainsFunc(problems, func(p contract.Problem) bool { return named(p, rel) }) {
				t.Errorf("seed %d: byte %d of %s changed and no problem names it: %v", seed, at, rel, problems)
			}
		}
	}
}

// named reports whether a problem leads to the file: it is about the file, or
// its message names it.
func named(p contract.Problem, rel string) bool {
	return p.File == rel || strings.Contains(p.Message, rel) || p.Code == "REF-FILE-HASH"
}

// mutate changes one byte so that the JSON says something else.
func mutate(rng *rand.Rand, b []byte) ([]byte, int) {
	for {
		i := rng.IntN(len(b))
		c := b[i]
		if c == ' ' || c == '\n' || c == '_' {
			continue
		}
		out := bytes.Clone(b)
		switch {
		case c >= '0' && c <= '8', c >= 'a' && c <= 'y', c >= 'A' && c <= 'Y':
			out[i]++
		case c == '9', c == 'z', c == 'Z':
			out[i]--
		default:
			out[i] = '_'
		}
		return out, i
	}
}

func anErrorCase(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	for _, rel := range slices.Sorted(mapKeys(files)) {
		if strings.HasPrefix(rel, "errors/") {
			return rel
		}
	}
	t.Fatal("the sample has no error case")
	return ""
}

func TestProblemsOfTheWhole(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, files fstest.MapFS)
		code   string
	}{
		{"a fixture that nobody names", func(t *testing.T, f fstest.MapFS) {
			d := contract.Sum([]byte("x"))
			f["fixtures/plain/"+d.FileName()+".sanitized.jsonl"] = &fstest.MapFile{Data: []byte(`{"dir":"process","event":"spawn","at_ms":0}` + "\n")}
		}, "FILE-ORPHAN"},
		{"a stray file among the records", func(t *testing.T, f fstest.MapFS) {
			f["observations/notes.txt"] = &fstest.MapFile{Data: []byte("x")}
		}, "FILE-UNKNOWN"},
		{"no matrix", func(t *testing.T, f fstest.MapFS) { delete(f, matrix.Path) }, "MATRIX-DERIVED"},
		{"an observation without evidence", func(t *testing.T, f fstest.MapFS) {
			for rel := range f {
				if strings.HasPrefix(rel, "evidence/") {
					delete(f, rel)
					return
				}
			}
		}, "OBS-EVIDENCE"},
		{"a failed run without its error case", func(t *testing.T, f fstest.MapFS) {
			delete(f, anErrorCase(t, f))
		}, "OBS-ERROR-CASE"},
		{"an error case of a run that succeeded", func(t *testing.T, f fstest.MapFS) {
			var e contract.ErrorCase
			place := anErrorCase(t, f)
			must(t, json.Unmarshal(f[place].Data, &e))
			for rel, b := range f {
				if strings.HasSuffix(rel, "chat-text-success.observation.json") {
					var o contract.Observation
					must(t, json.Unmarshal(b.Data, &o))
					e.Extensions.Observation, e.RawShape = rel, o.Capture.RawClientTranscriptSHA256
					e.Extensions.Fixture, e.Extensions.FixtureSHA256 = o.Extensions.Fixture, o.Extensions.FixtureSHA256
				}
			}
			put(t, f, place, &e)
		}, "ERR-DERIVED"},
		{"a missing golden", func(t *testing.T, f fstest.MapFS) {
			for rel := range f {
				if strings.HasPrefix(rel, "goldens/reference/json") {
					delete(f, rel)
					return
				}
			}
		}, "REF-FILE"},
		{"an unmarked Tier 0 probe", func(t *testing.T, f fstest.MapFS) {
			var a contract.AgentsFile
			must(t, json.Unmarshal(f[store.AgentsFile].Data, &a))
			delete(a.Agents[0].Coverage, "auth-failure")
			put(t, f, store.AgentsFile, a)
		}, "COVERAGE-UNMARKED"},
		{"an unmarked Tier 0 probe of the breadth", func(t *testing.T, f fstest.MapFS) {
			var a contract.AgentsFile
			must(t, json.Unmarshal(f[store.AgentsFile].Data, &a))
			delete(a.Agents[0].Coverage, "resume-session")
			put(t, f, store.AgentsFile, a)
		}, "COVERAGE-UNMARKED"},
		{"a probe with a file that no probe has", func(t *testing.T, f fstest.MapFS) {
			f["probes/auth-failure/readme.md"] = &fstest.MapFile{Data: []byte("x")}
		}, "PROBE-FILES"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := sample(t)
			c.change(t, files)
			problems := run(t, files)
			if !slices.ContainsFunc(problems, func(p contract.Problem) bool { return p.Code == c.code }) {
				t.Fatalf("want %s, got %v", c.code, problems)
			}
		})
	}
}

func TestAMistypedPlaceIsNoSuccess(t *testing.T) {
	if _, err := Run(store.Embedded(sample(t)), []string{"observations/codx"}); err == nil {
		t.Fatal("a place that does not exist validates")
	}
}

func TestAgentsThatCannotBeReadAreOneProblem(t *testing.T) {
	files := sample(t)
	whole := files[store.AgentsFile].Data
	files[store.AgentsFile] = &fstest.MapFile{Data: whole[:len(whole)/2]}
	found, err := Run(store.Embedded(files), nil)
	must(t, err)
	codes := map[string]bool{}
	for _, p := range found.Problems {
		codes[p.Code] = true
	}
	if !codes["JSON-SYNTAX"] || codes["REF-AGENT"] {
		t.Errorf("got %v, want the broken file and no agent that is missing because of it", codes)
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "/a/1"},
		{`{"a/b":1}`, `{}`, "/a~1b"},
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":[1]}`, `{"a":[1,2]}`, "/a"},
		{`not json`, `{}`, ""},
	} {
		if got := firstDifference([]byte(c[0]), []byte(c[1])); got != c[2] {
			t.Errorf("firstDifference(%s, %s) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// Agents that were never captured in a registry are one finding, whatever the
// public registry's marks say of them.
func TestAgentsWithoutRecordsAreOneFinding(t *testing.T) {
	files := sample(t)
	var a contract.AgentsFile
	must(t, json.Unmarshal(files[store.AgentsFile].Data, &a))
	for _, id := range []string{"one", "two"} {
		more := a.Agents[0]
		more.ID, more.Tier = id, 2
		more.Coverage = map[string]contract.ProbeCoverage{"chat-text-success": {Status: contract.CoverageCaptured}, "auth-failure": {Status: contract.CoverageCaptured}}
		a.Agents = append(a.Agents, more)
	}
	put(t, files, store.AgentsFile, a)
	together := 0
	for _, p := range run(t, files) {
		if p.Code != "COVERAGE-UNTRUE" {
			continue
		}
		if p.Pointer == "/agents" {
			together++
			if !strings.Contains(p.Message, "one, two") {
				t.Errorf("the finding does not name the agents: %s", p)
			}
		} else if strings.Contains(p.Message, "one has") || strings.Contains(p.Message, "two has") {
			t.Errorf("a finding of its own: %s", p)
		}
	}
	if together != 1 {
		t.Errorf("%d findings about agents without records", together)
	}
}
