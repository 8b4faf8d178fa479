package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// beyond are the statements that need more than a reading: what stderr was
// about, what redaction leaves, the version, the transport, how the process
// ended. Each says what is wrong, or "".
var beyond = map[string]func(*judge, *caseInput, json.RawMessage) string{
	"stderr_class": func(j *judge, in *caseInput, raw json.RawMessage) string {
		var chatter []string
		if d := j.c.caseDialect(j.t, in); d != nil {
			chatter = d.StderrChatter
		}
		got := normalize.StderrClass(in.transcript().Lines(transcript.CLIToServer, transcript.Stderr), chatter...)
		return unequal(string(got), word(raw))
	},
	"redaction": func(j *judge, in *caseInput, raw json.RawMessage) string { return j.redacted(in, raw) },
	"version": func(j *judge, in *caseInput, raw json.RawMessage) string {
		return j.version(in.stdout, raw)
	},
	"transport": func(j *judge, in *caseInput, raw json.RawMessage) string {
		d, err := normalize.DetectDialect(familiesOf(j.t), in.transcript())
		if err != nil {
			return err.Error()
		}
		return unequal(string(d.Transport), word(raw))
	},
	"failure_when_no_flag": func(j *judge, in *caseInput, raw json.RawMessage) string {
		r, err := (&caseInput{agent: in.agent, dialect: in.dialect, process: in.process}).read()
		if err != nil {
			return err.Error()
		}
		return checkFailure(r, raw)
	},
	"shape_exit": func(j *judge, in *caseInput, raw json.RawMessage) string {
		return unequal(string(sideOf(j.t, in.transcript(), j.c.caseDialect(j.t, in)).Shape.Exit), word(raw))
	},
	"frames":           countedFrames,
	"frame_count":      countedFrames,
	"drift_if_renamed": func(j *judge, in *caseInput, raw json.RawMessage) string { return j.renamed(in, word(raw)) },
}

func unequal(got, want string) string {
	if got != want {
		return fmt.Sprintf("got %q, want %q", got, want)
	}
	return ""
}

// countedFrames counts the frames of stdout that can be read, some of them
// behind what a terminal or a notice put before them.
func countedFrames(_ *judge, in *caseInput, raw json.RawMessage) string {
	n := 0
	for line := range in.transcript().Lines(transcript.CLIToServer, transcript.Stdout) {
		line = line[max(0, bytes.IndexByte(line, '{')):]
		if v, err := rawjson.Parse(bytes.TrimSpace(line)); err == nil && v.Kind() == rawjson.Object {
			n++
		}
	}
	return unequal(fmt.Sprint(n), string(raw))
}

// redacted sanitizes the input of a case. Nothing that must be gone may stand
// in the bytes or in what their strings hold; `<path>` asks for a path in our
// own notation.
func (j *judge) redacted(in *caseInput, raw json.RawMessage) string {
	var want struct {
		MustNotContain []string `json:"must_not_contain"`
		MustContain    []string `json:"must_contain"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	r, _ := redactor(j.t)
	id := j.c.Agent
	if d := j.c.caseDialect(j.t, in); d != nil {
		id = d.ID
	}
	clean, report, err := r.Redact(in.transcript(), redact.Input{Dialect: id})
	if err != nil {
		return err.Error()
	}
	if report.Status != contract.RedactionPassed {
		return fmt.Sprintf("status %s: %v %v", report.Status, report.Findings, report.Unsure)
	}
	out := string(clean.Bytes(transcript.CLIToServer, transcript.Stdout)) + string(clean.Bytes(transcript.CLIToServer, transcript.Stderr))
	all := out + stringsOf(out)
	for _, w := range want.MustNotContain {
		if strings.Contains(all, w) {
			return fmt.Sprintf("an entry of must_not_contain with %d bytes survives", len(w))
		}
	}
	for _, w := range want.MustContain {
		if w == "<path>" && pathPlaceholder.MatchString(out) {
			continue
		}
		if !strings.Contains(out, w) {
			return fmt.Sprintf("%q is lost", w)
		}
	}
	return ""
}

var pathPlaceholder = regexp.MustCompile(`<path:\d+>|[/\\][wh][/\\]+p\d+`)

// stringsOf joins every string of every line, and those of JSON inside
// strings.
func stringsOf(text string) string {
	var b strings.Builder
	var add func(v rawjson.Value, depth int)
	add = func(v rawjson.Value, depth int) {
		if v.Kind() == rawjson.String {
			b.WriteString(v.Str() + "\n")
			if in, err := rawjson.Parse([]byte(v.Str())); err == nil && depth < 6 {
				add(in, depth+1)
			}
		}
		for c := range v.Children() {
			b.WriteString(c.Key() + "\n")
			add(c, depth)
		}
	}
	for line := range bytes.Lines([]byte(text)) {
		if v, err := rawjson.Parse(line); err == nil {
			add(v, 0)
		}
	}
	return b.String()
}

// version asks what an output of the version probe says; null says nothing.
func (j *judge) version(stdout []byte, raw json.RawMessage) string {
	v, err := agents.ParseVersion(j.agent(j.c.Agent), stdout)
	if string(raw) == "null" {
		if err == nil {
			return "got " + v.Token
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	return unequal(v.Token, word(raw))
}

// agent is the registry's definition, or one that knows no names.
func (j *judge) agent(id string) *contract.Agent {
	var file contract.AgentsFile
	if err := json.Unmarshal(registryFile(j.t, "agents.json"), &file); err != nil {
		j.t.Fatal(err)
	}
	if i := slices.IndexFunc(file.Agents, func(a contract.Agent) bool { return a.ID == id }); i >= 0 {
		return &file.Agents[i]
	}
	return &contract.Agent{ID: id, VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease}}
}

// versionFiles judges what a case says of versions outside a run: a table of
// outputs, or one output for each product of a name, that no order compares.
func (j *judge) versionFiles() {
	var products map[string]string
	_ = json.Unmarshal(j.c.Expect["version"], &products) // another form is no list of products
	var seen []agents.Version
	for _, name := range j.c.Input.Files {
		b, err := os.ReadFile(filepath.Join(j.c.dir, filepath.Base(name)))
		if err != nil {
			continue // the case's own line names it
		}
		product := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "version."), ".txt"), "-", "_")
		switch {
		case strings.HasPrefix(name, "version.table"):
			j.versionTable(string(b))
		case strings.HasPrefix(name, "version.") && products[product] != "":
			v, err := agents.ParseVersion(j.agent(j.c.Agent), b)
			if err != nil || v.Token != products[product] {
				j.bad("version of %s: %q, %v", product, v.Token, err)
			}
			// A program that no product of the agent's describes is refused before
			// anything is compared (capture.InstalledVersion).
			if slices.ContainsFunc(seen, func(w agents.Version) bool {
				_, err := w.Compare(v)
				return err == nil && v.Product != "" && w.Product != ""
			}) {
				j.bad("version of %s is compared with another product's", product)
			}
			seen = append(seen, v)
			j.checked = append(j.checked, name)
		}
	}
}

func (j *judge) versionTable(table string) {
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) != 3 || f[0] == "agent" {
			continue
		}
		a := j.agent(f[0])
		v, err := agents.ParseVersion(a, []byte(f[1]))
		if err != nil || v.Token != f[2] {
			j.bad("version %q of %s: %q, %v; want %q", f[1], f[0], v.Token, err, f[2])
		}
		// A build is no prerelease: it does not come before its own release.
		if release, _, ok := strings.Cut(v.Token, "-"); ok && v.Build != "" {
			if n, err := agents.CompareVersions(a, v.Token, release); err != nil || n < 0 {
				j.bad("%s of %s sorts below %s (%v)", v.Token, f[0], release, err)
			}
		}
	}
	j.checked = append(j.checked, "version table")
}

var renamedForm = regexp.MustCompile(`^(\S+) instead of (\S+) must give (\w+) with tally \{(.*)\}`)

// renamed reads "a/b instead of c/d must give VERDICT with tally {a:1,b:2}".
func (j *judge) renamed(in *caseInput, text string) string {
	m := renamedForm.FindStringSubmatch(text)
	if m == nil || in.records != nil {
		return notJudged
	}
	var pairs []string
	now, before := strings.Split(m[1], "/"), strings.Split(m[2], "/")
	if len(now) != len(before) {
		return notJudged
	}
	for i := range now {
		pairs = append(pairs, `"type":"`+before[i]+`"`, `"type":"`+now[i]+`"`, `"type": "`+before[i]+`"`, `"type": "`+now[i]+`"`)
	}
	out := *in
	out.stdout = []byte(strings.NewReplacer(pairs...).Replace(string(in.stdout)))
	r, err := out.read()
	if err != nil {
		return err.Error()
	}
	want := map[string]int{}
	for one := range strings.SplitSeq(m[4], ",") {
		var n int
		kind, count, _ := strings.Cut(strings.TrimSpace(one), ":")
		fmt.Sscan(count, &n)
		want[kind] = n
	}
	if !maps.Equal(r.Unknown, want) {
		return fmt.Sprintf("tally %v, want %v", r.Unknown, want)
	}
	d := j.c.caseDialect(j.t, in)
	changed := compare.Runs(sideOf(j.t, in.transcript(), d), sideOf(j.t, out.transcript(), d), d)
	verdict := changed.Judge(compare.Evidence{Replay: replayStatus(j.t, j.c.Agent, d, out.transcript())})
	return unequal(string(verdict), m[3])
}

// notJudged is the answer to a statement in a form that no program reads.
const notJudged = "cannot be judged"

// forbiddenForm is the one form of a forbidden statement that is not prose.
var forbiddenForm = regexp.MustCompile(`^final (\w+) == (-?\d+)$`)

func checkForbidden(r *reference.Reading, raw json.RawMessage) string {
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return err.Error()
	}
	for _, w := range words {
		m := forbiddenForm.FindStringSubmatch(w)
		if m == nil {
			return notJudged
		}
		if fmt.Sprint(r.Usage[m[1]]) == m[2] {
			return "got it: " + w
		}
	}
	return ""
}
