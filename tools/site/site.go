// Package site shows a registry to people and programs: HTML pages that need no
// script, JSON documents and badges, each a pure function of the records. The
// server of package serve hands them out; Write makes static files of them.
// Nothing in a page depends on today: it says until when evidence is fresh, and
// a script in the reader's browser does the arithmetic.
package site

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Site is a registry read once. It is safe for concurrent use and never
// changes.
type Site struct {
	// Index answers what is claimed about a version.
	Index *matrix.Index
	// Matrix is the committed support matrix; empty where there is none.
	Matrix *contract.SupportMatrix
	// Records are what the claims follow from. The registry in the binary has
	// no observations; its pages show the matrix alone.
	Records *matrix.Records

	reg          *store.Registry
	families     *contract.Families
	observations map[string]*store.Observed // by place
	histories    map[string][]matrix.History
	quality      map[string][]matrix.Quality
	errorCases   map[string][]store.ErrorCased // by agent
	shapes       map[string]*shapeUse          // by the first twelve digits of the signature
	health       *health.Records
	live         bool
	recordURL    string
	lossy        func() (map[string][]losses, error) // reads each lossy transcript once
}

// shapeUse is a shape with where it was seen.
type shapeUse struct {
	signature contract.Digest
	family    contract.ProtocolFamily
	seen      []*store.Observed
}

// Options say for whom the pages are made.
type Options struct {
	// Live pages are served by a program on the reader's machine: they link to
	// what only such a program can answer.
	Live bool
	// RecordURL is what a record's place is appended to, to read the record.
	RecordURL string
}

// NotFoundError says that there is no such page or document.
type NotFoundError struct{ Path, What string }

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("/%s: %s", e.Path, e.What) }

// Unwrap returns fs.ErrNotExist.
func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// Load reads a registry.
func Load(reg *store.Registry, o Options) (*Site, error) {
	s := &Site{reg: reg, live: o.Live, recordURL: o.RecordURL, Matrix: &contract.SupportMatrix{Agents: []contract.MatrixEntry{}}}
	var err error
	if s.Index, err = matrix.LoadIndex(reg); err != nil {
		return nil, err
	}
	if reg.Exists(matrix.Path) {
		if err := reg.ReadJSON(matrix.Path, s.Matrix); err != nil {
			return nil, err
		}
	}
	if s.Records, err = matrix.Load(reg); err != nil {
		return nil, err
	}
	if s.families, err = reg.Families(); err != nil {
		return nil, err
	}
	if s.health, err = health.Load(reg); err != nil {
		return nil, err
	}
	cases, err := reg.ErrorCases()
	if err != nil {
		return nil, err
	}
	s.errorCases = map[string][]store.ErrorCased{}
	for _, e := range cases {
		s.errorCases[e.Agent] = append(s.errorCases[e.Agent], e)
	}
	s.lossy = sync.OnceValues(s.readLosses)
	return s, s.follow()
}

// follow derives what the pages need.
func (s *Site) follow() error {
	s.observations, s.shapes = map[string]*store.Observed{}, map[string]*shapeUse{}
	for i := range s.Records.Observations {
		o := &s.Records.Observations[i]
		s.observations[o.Path] = o
		id := shortOf(o.Shape.Signature)
		u := s.shapes[id]
		if u == nil {
			u = &shapeUse{signature: o.Shape.Signature, family: o.ProtocolFamily}
			s.shapes[id] = u
		}
		if u.signature != o.Shape.Signature {
			return fmt.Errorf("two shapes begin with %s: their pages would have one address", id)
		}
		u.seen = append(u.seen, o)
	}
	list, err := matrix.Histories(s.Records)
	if err != nil {
		return err
	}
	s.histories = map[string][]matrix.History{}
	for _, h := range list {
		s.histories[h.Agent] = append(s.histories[h.Agent], h)
	}
	qualities, err := matrix.Qualities(s.Records)
	if err != nil {
		return err
	}
	s.quality = map[string][]matrix.Quality{}
	for _, q := range qualities {
		s.quality[q.Agent] = append(s.quality[q.Agent], q)
	}
	return nil
}

// shortOf is how addresses name a shape.
func shortOf(d contract.Digest) string {
	hex := d.Hex()
	return hex[:min(len(hex), 12)]
}

// Registry returns the registry that the pages are made from.
func (s *Site) Registry() *store.Registry { return s.reg }

// Shape finds a shape by its signature, or by twelve digits of it or more,
// with or without sha256: before them.
func (s *Site) Shape(text string) (*contract.Shape, error) {
	hex := strings.TrimPrefix(strings.TrimPrefix(text, "sha256:"), "sha256-")
	missing := &NotFoundError{Path: "shapes/" + text, What: "this registry has no such shape"}
	if len(hex) < 12 || len(hex) > 64 {
		return nil, missing
	}
	u := s.shapes[hex[:12]]
	if u == nil || !strings.HasPrefix(u.signature.Hex(), hex) {
		return nil, missing
	}
	return s.reg.Shape(u.family, u.signature)
}

// dialectOf returns the rules of a shape's dialect, nil for none.
func (s *Site) dialectOf(shape *contract.Shape) *contract.Dialect {
	return s.families.Dialect(shape.Extensions.Dialect)
}

// withRecords returns the agents that were captured and the others, each in the
// order of tier and name.
func (s *Site) withRecords() (captured, others []*contract.Agent) {
	for i := range s.Records.Agents.Agents {
		a := &s.Records.Agents.Agents[i]
		claimed := slices.ContainsFunc(s.Matrix.Agents, func(e contract.MatrixEntry) bool { return e.Agent == a.ID })
		if len(s.histories[a.ID]) > 0 || claimed {
			captured = append(captured, a)
		} else {
			others = append(others, a)
		}
	}
	order := func(a, b *contract.Agent) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Name, b.Name))
	}
	slices.SortStableFunc(captured, order)
	slices.SortStableFunc(others, order)
	return captured, others
}
