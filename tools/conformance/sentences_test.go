package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/CONFORMANCE.md")

const root = "../.."

// sentence is one sentence of D1 to D10 or of the consumer obligations: where it
// stands (decision, paragraph, sentence), the beginning of its hash, and what
// judges it. "-" is a sentence that asks for nothing: a reason, an example, or
// what was so earlier.
type sentence struct {
	place, hash string
	refs        []string // requirements, or outside, or consumer
	tests       []string // names of Go tests, or titles of tests of the npm package
	words       string   // ours
}

func sentences(t *testing.T) []sentence {
	t.Helper()
	b, err := os.ReadFile("testdata/sentences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []sentence
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		f := append(strings.Split(line, "\t"), "", "", "", "")
		s := sentence{place: f[0], hash: f[1], refs: strings.Fields(f[2]), words: f[4]}
		for _, name := range strings.Split(f[3], "; ") {
			if name != "" {
				s.tests = append(s.tests, name)
			}
		}
		out = append(out, s)
	}
	return out
}

func (s *sentence) outside() bool {
	return slices.Contains(s.refs, "outside") || slices.Contains(s.refs, "consumer")
}

// Every sentence that asks for something has a requirement, or a test of this
// repository; and every requirement and every named test is there.
func TestEverySentenceIsJudged(t *testing.T) {
	known, tests := map[string]bool{}, testNames(t)
	for _, r := range Requirements() {
		known[r.ID] = false
	}
	for _, s := range sentences(t) {
		if slices.Equal(s.refs, []string{"-"}) {
			continue
		}
		if s.words == "" || len(s.refs) == 0 || s.outside() != (len(s.tests) > 0) {
			t.Errorf("%s is not complete", s.place)
		}
		for _, ref := range s.refs {
			if _, is := known[ref]; is {
				known[ref] = true
			} else if ref != "outside" && ref != "consumer" {
				t.Errorf("%s names %s, which is no requirement", s.place, ref)
			}
		}
		for _, name := range s.tests {
			if !tests[name] {
				t.Errorf("%s names %q, which is no test", s.place, name)
			}
		}
	}
	for id, cited := range known {
		if !cited {
			t.Errorf("requirement %s stands for no sentence", id)
		}
	}
}

// testNames are the tests of this repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	find := func(name string, re *regexp.Regexp) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range re.FindAllSubmatch(b, -1) {
			out[string(m[1])] = true
		}
	}
	inGo := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, dir := range []string{"tools", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, "_test.go") {
				find(name, inGo)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	find(filepath.Join(root, "npm/test/machine.test.mjs"), regexp.MustCompile(`(?m)^(?:test\(|  \[)"([^"]+)"`))
	return out
}

// The table is about the specification as it stands, sentence by sentence.
func TestSentencesAreThoseOfTheSpecification(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(root, "../shared/spec/000_*.txt"))
	if len(files) != 1 {
		t.Skip("the specification is not beside this checkout")
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	spec, table := split(string(b)), sentences(t)
	for i := range max(len(spec), len(table)) {
		switch {
		case i >= len(spec) || i >= len(table):
			t.Fatalf("the specification has %d sentences, the table %d", len(spec), len(table))
		case spec[i].place != table[i].place || spec[i].hash != table[i].hash:
			t.Fatalf("at %s the specification has another sentence than the table at %s", spec[i].place, table[i].place)
		}
	}
}

var (
	decision = regexp.MustCompile(`^(D\d+) — `)
	boundary = regexp.MustCompile("[.!?:]\\s+[A-Z`“\"(0]")
)

// split finds the sentences of the decisions and of the consumer obligations.
func split(text string) (out []sentence) {
	where, paragraph := "", 0
	for _, line := range strings.Split(text, "\n") {
		m := decision.FindStringSubmatch(line)
		switch {
		case m != nil:
			where, paragraph = m[1], 0
			continue
		case strings.HasPrefix(line, "Consumer obligations¶"):
			where, paragraph = "C", 0
			continue
		case strings.HasPrefix(line, "DEFERRED: the orphan"), strings.HasPrefix(line, "Consequences¶"):
			where = ""
		}
		if where == "" || strings.TrimSpace(line) == "" || strings.ContainsAny(line[:1], " \t{}\"") || strings.HasPrefix(line, "li ") {
			continue // between the decisions, or an example
		}
		paragraph++
		line = strings.TrimPrefix(line, "• ")
		for n := 1; line != ""; n++ {
			one, rest := line, ""
			if at := boundary.FindStringIndex(line); at != nil {
				one, rest = line[:at[0]+1], strings.TrimLeft(line[at[0]+1:], " \t")
			}
			sum := sha256.Sum256([]byte(one))
			out = append(out, sentence{place: fmt.Sprintf("%s/%d/%d", where, paragraph, n), hash: hex.EncodeToString(sum[:4])})
			line = rest
		}
	}
	return out
}

// docs/CONFORMANCE.md is made of the table and of the requirements.
func TestConformancePage(t *testing.T) {
	name := filepath.Join(root, "docs/CONFORMANCE.md")
	want := page(sentences(t))
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/CONFORMANCE.md is not what the table says: go test ./tools/conformance -run TestConformancePage -update")
	}
	machinePage, err := os.ReadFile(filepath.Join(root, "docs/MACHINE.md"))
	if err != nil || !strings.Contains(string(machinePage), fmt.Sprintf("runs %d numbered requirements", len(Requirements()))) {
		t.Errorf("docs/MACHINE.md does not say that there are %d requirements (%v)", len(Requirements()), err)
	}
}

func page(all []sentence) []byte {
	var b bytes.Buffer
	asked := slices.DeleteFunc(slices.Clone(all), func(s sentence) bool { return s.refs[0] == "-" })
	fmt.Fprintf(&b, `# What judges the machine-result contract

Of the %d sentences of specification 000 (D1 to D10 and the consumer obligations)
%d ask for something. Each is judged from outside by a requirement of
`+"`agent-contracts conformance`"+`, or by a test of this repository, or by both; the
others are reasons, examples and history. A place is decision, paragraph and
sentence; C are the consumer obligations. The words are ours.

`+"`go test ./tools/conformance -run TestConformancePage -update`"+` writes this page from
testdata/sentences.tsv; the tests beside it hold the table to the specification, to
the requirements and to the tests that it names.
`, len(all), len(asked))
	section := func(title, intro string, columns [3]string, row func(s *sentence) (string, bool)) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| %s | %s | %s |\n|---|---|---|\n", title, intro, columns[0], columns[1], columns[2])
		for i := range asked {
			if last, is := row(&asked[i]); is {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", asked[i].place, asked[i].words, last)
			}
		}
	}
	section("Judged from outside", "A producer's duties, with the requirements that check them on any executable.", [3]string{"place", "what is asked", "requirements"}, func(s *sentence) (string, bool) {
		ids := slices.DeleteFunc(slices.Clone(s.refs), func(r string) bool { return r == "outside" || r == "consumer" })
		return strings.Join(ids, ", "), len(ids) > 0
	})
	section("Not judged from outside", `One build of an executable does not show what the next will do, a judge cannot make
another process fail between two of its writes, and how something is counted inside
is not to be told from time on a busy machine. What such sentences ask of this
program its own tests hold it to.`, [3]string{"place", "what is asked", "test"}, func(s *sentence) (string, bool) {
		return strings.Join(s.tests, ", "), slices.Contains(s.refs, "outside")
	})
	section("A consumer's duties", "What our Go client (`tools/machine`), the npm package's client and the commands that use the first are held to. A title in words is a test of npm/test/machine.test.mjs.", [3]string{"place", "what is asked", "test"}, func(s *sentence) (string, bool) {
		return strings.Join(s.tests, "; "), slices.Contains(s.refs, "consumer")
	})
	b.WriteString("\n## Requirements\n\n| id | requirement | specification |\n|---|---|---|\n")
	for _, r := range Requirements() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Sentence, r.Cites)
	}
	return b.Bytes()
}
