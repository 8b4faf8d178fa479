// Package validate says whether a registry is true: every record by itself,
// every reference between records, and everything that can be derived again:
// fixture to shape, fixture to goldens, records to matrix. It reads and never
// writes.
package validate

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// recordFolders are the folders that hold records and nothing else.
var recordFolders = []string{"registry", "probes", "shapes", "fixtures", "goldens", "observations", "evidence", "errors", "reports/diffs"}

// Result is the outcome of a validation.
type Result struct {
	Problems []contract.Problem `json:"problems"`
	// Checked counts the files, by folder.
	Checked map[string]int `json:"checked"`
}

// OK reports whether there is nothing but warnings.
func (r *Result) OK() bool { return !contract.HasErrors(r.Problems) }

// Run validates the whole registry, or only the files below the given places.
func Run(reg *store.Registry, places []string) (*Result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	v := &validation{reg: reg, result: &Result{Problems: []contract.Problem{}, Checked: map[string]int{}}}
	resolved := make(chan *resolver, 1)
	go func() { resolved <- newResolver(reg) }()
	err := v.list(places)
	if v.res = <-resolved; err != nil {
		return nil, err
	}
	largePages(heapOf(len(v.files)))
	for _, f := range v.files {
		v.result.Checked[folderOf(f)]++
	}
	if err := v.each(); err != nil {
		return nil, err
	}
	slices.SortFunc(v.stated, func(a, b store.Stated) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(v.sources, func(a, b store.Sourced) int { return strings.Compare(a.Path, b.Path) })
	if v.all {
		if err := v.whole(); err != nil {
			return nil, err
		}
	}
	v.result.Problems = contract.SortProblems(v.causes(v.result.Problems))
	return v.result, nil
}

// gcPercent is that of a program that reads much and keeps most of it. Collecting
// half as often costs more in first touches of memory than it saves.
const gcPercent = 200

// each checks all files: observations first, since other records ask for them,
// and fixtures last, since most were read by then for a record that names them.
func (v *validation) each() error {
	var records, shapes, fixtures []string
	for _, f := range v.files {
		switch {
		case isObservation(f):
			v.observed = append(v.observed, f)
		case folderOf(f) == "fixtures":
			fixtures = append(fixtures, f)
		case strings.HasPrefix(f, "goldens/") && strings.HasSuffix(f, ".events.json"):
			// read with the observation that names it; one that nobody names is an orphan
		default:
			if kind, _ := contract.KindOf(f); kind == contract.KindShape {
				shapes = append(shapes, f)
			} else {
				records = append(records, f)
			}
		}
	}
	if err := v.res.observe(v.observed); err != nil {
		return err
	}
	if err := each(v.observed, v.observation); err != nil {
		return err
	}
	if err := v.reg.ReadEach(records, func(i int, text []byte) error { return v.file(records[i], text) }); err != nil {
		return err
	}
	if err := each(shapes, v.shape); err != nil {
		return err
	}
	return each(fixtures, v.fixture)
}

// causes leaves out that no record has its agent if the agents' own file says
// why: it cannot be read.
func (v *validation) causes(problems []contract.Problem) []contract.Problem {
	told := func(p contract.Problem) bool {
		return p.File == store.AgentsFile && p.Severity == contract.SeverityError
	}
	if !v.res.noAgents || !slices.ContainsFunc(problems, told) {
		return problems
	}
	return slices.DeleteFunc(problems, func(p contract.Problem) bool { return p.Code == "REF-AGENT" })
}

type validation struct {
	reg   *store.Registry
	res   *resolver
	files []string
	// observed are the observations among the files.
	observed []string
	all      bool // the whole registry
	result   *Result
	// mu guards what follows and the problems: files are checked in parallel.
	mu sync.Mutex
	// named are the files that some record names.
	named map[string]bool
	// pinned are the observations that an evidence record pins.
	pinned map[string]bool
	// stated are the readable evidence records that came after the captures.
	stated []store.Stated
	// sources are the synthetic records whose fixture can be read.
	sources []store.Sourced
	// cased are the observations that an error case is about, and the fixtures,
	// each with its agent.
	cased map[string]bool
	// soundCases has the caseKeys of error cases that were read and are sound.
	soundCases sync.Map
}

// list collects the files to check. A place that does not exist is an error:
// a typing mistake must not pass as a valid registry.
func (v *validation) list(places []string) error {
	v.named, v.pinned, v.cased = map[string]bool{}, map[string]bool{}, map[string]bool{}
	all := len(places) == 0 || len(places) == 1 && path.Clean(places[0]) == "."
	if all {
		places = recordFolders
	}
	for _, p := range places {
		p = path.Clean(p)
		files, err := v.reg.Walk(p, "")
		if err != nil {
			return err
		}
		if len(files) == 0 && !all {
			return fmt.Errorf("there is no file at %q in the registry %s", p, v.reg.Dir())
		}
		v.files = append(v.files, files...)
	}
	v.all = all
	if !all { // places may lie in each other
		slices.Sort(v.files)
		v.files = slices.Compact(v.files)
	}
	return nil
}

func folderOf(f string) string {
	root, _, _ := strings.Cut(f, "/")
	return root
}

func (v *validation) report(code, file, pointer, format string, args ...any) {
	p := contract.Problem{Code: code, Severity: contract.SeverityError, File: file, Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	if r, ok := contract.RuleOf(code); ok {
		p.Severity, p.Hint = r.Severity, r.Action
	}
	v.note(func() { v.result.Problems = append(v.result.Problems, p) })
}

// note changes what all files share.
func (v *validation) note(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
}

// each does something with every file, on all processors. The error is that of
// the first file that has one.
func each(files []string, do func(string) error) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, len(files))
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				errs[i] = do(files[i])
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// file checks one file by what its place says it is.
func (v *validation) file(f string, b []byte) error {
	if kind, ok := contract.KindOf(f); ok {
		return v.record(kind, f, b)
	}
	switch {
	case strings.HasPrefix(f, "probes/"):
		v.probeFile(f)
	case strings.HasPrefix(f, "reports/diffs/") && strings.HasSuffix(f, ".md") && v.reg.Exists(strings.TrimSuffix(f, ".md")+".diff.json"):
		// the record beside it for people; report diffs --check derives both again
	default:
		v.report("FILE-UNKNOWN", f, "", "the registry has no such kind of file")
	}
	return nil
}

func (v *validation) probeFile(f string) {
	parts := strings.SplitN(f, "/", 3)
	if len(parts) == 3 && (slices.Contains(contract.ProbeFiles, parts[2]) || strings.HasPrefix(parts[2], "fixture-files/")) {
		return
	}
	v.report("PROBE-FILES", f, "", "a probe has no such file")
}

// observation checks an observation by itself and against the others.
func (v *validation) observation(f string) error {
	c, err := v.res.checked(f)
	if err != nil {
		return err
	}
	o := contract.RecordOf[contract.Observation](c.Checked)
	if o != nil { // so that the judgement finds it done
		_, _ = v.res.derive(o.Extensions.Fixture, o.Extensions.Dialect, o.Agent)
	}
	sound := v.judge(c.Checked)
	if o == nil {
		return nil
	}
	c.sound = sound
	return v.derived(f, o)
}

// shape checks a shape by itself and against the others.
func (v *validation) shape(f string) error {
	c, err := v.res.records.get(f)
	if err == nil {
		v.judge(c)
	}
	return err
}

// judge collects what is wrong with a record alone and in its registry, and says
// whether that is nothing.
func (v *validation) judge(c *contract.Checked) bool {
	problems := c.In(v.res)
	v.note(func() { v.result.Problems = append(v.result.Problems, problems...) })
	return len(problems) == 0
}

// record checks a record by itself and against the others.
func (v *validation) record(kind contract.RecordKind, f string, b []byte) error {
	if kind == contract.KindErrorCase && v.writtenAgain(f, b) {
		return nil
	}
	c := v.res.validator.Check(kind, f, b)
	sound := v.judge(c)
	if e := contract.RecordOf[contract.Evidence](c); e != nil {
		v.note(func() {
			if e.Kind == contract.EvidenceCapture {
				v.pinned[e.Observation.Path] = true
			} else {
				v.stated = append(v.stated, store.Stated{Path: f, Evidence: *e})
			}
		})
	}
	if s := contract.RecordOf[contract.SourceEvidence](c); s != nil {
		return v.source(f, s)
	}
	if e := contract.RecordOf[contract.ErrorCase](c); e != nil {
		v.note(func() { v.named[e.Extensions.Fixture] = true })
		return v.errorCase(f, e, b, sound)
	}
	return nil
}

// fixture checks the syntax and canonical form of a sanitized transcript.
func (v *validation) fixture(f string) error {
	if _, read := v.res.printed.Load(f); read {
		return nil
	}
	if _, err := v.res.transcript(f); err != nil {
		v.report("FIXTURE-SYNTAX", f, "", "%v", err)
	}
	return nil
}
