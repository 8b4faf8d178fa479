package capture

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// content returns every file of a registry's record folders.
func content(t *testing.T, reg *store.Registry) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, folder := range []string{"shapes", "fixtures", "goldens", "observations", "evidence", "errors"} {
		files, err := reg.Walk(folder, "")
		must(t, err)
		for _, f := range files {
			b, err := reg.ReadFile(f)
			must(t, err)
			out[f] = string(b)
		}
	}
	return out
}

// copies returns results as a resumed run reads them from its state.
func copies(results []*CellResult) []*CellResult {
	var out []*CellResult
	for _, r := range results {
		c := *r
		o := *r.Observation
		c.Observation = &o
		out = append(out, &c)
	}
	return out
}

// A capture that was killed between publishing and noting it publishes again.
func TestPublishTwiceChangesNothing(t *testing.T) {
	reg := newRegistry(t)
	results := []*CellResult{result("0.133.0", "s", "a"), result("0.133.0", "s", "b"), result("0.133.0", "t", "c")}
	state := copies(results)
	calls := 0
	after := func(_ *store.Transaction, added []store.Observed) error { calls += len(added); return nil }
	must(t, publish(t.Context(), reg, results, retained(results), after))
	before := content(t, reg)
	must(t, publish(t.Context(), reg, copies(state), retained(state), after))
	if got := content(t, reg); len(got) != len(before) || calls != 3 {
		t.Errorf("%d files became %d; %d observations were new, want 3", len(before), len(got), calls)
	}
	for f, b := range content(t, reg) {
		if before[f] != b {
			t.Errorf("%s changed", f)
		}
	}
}

// Two captures may run the same cell in the same millisecond.
func TestPublishSameMillisecond(t *testing.T) {
	reg := newRegistry(t)
	one, two := result("0.133.0", "s", "a"), result("0.133.0", "s", "b")
	state := copies([]*CellResult{two})
	must(t, publish(t.Context(), reg, []*CellResult{one}, retained([]*CellResult{one}), nil))
	must(t, publish(t.Context(), reg, []*CellResult{two}, retained([]*CellResult{two}), nil))
	must(t, publish(t.Context(), reg, state, retained(state), nil)) // the second one resumes
	all, err := reg.Observations("")
	must(t, err)
	if len(all) != 2 || all[0].Capture.CapturedAt == all[1].Capture.CapturedAt {
		t.Fatalf("%d observations, want 2 at two times", len(all))
	}
	for _, o := range all {
		if !strings.Contains(o.Path, strings.ReplaceAll(o.Capture.CapturedAt, ":", "")) {
			t.Errorf("%s was captured at %s", o.Path, o.Capture.CapturedAt)
		}
	}
	if two.Observation.Capture.CapturedAt != all[1].Capture.CapturedAt || two.Observation.Extensions.Fixture == "" {
		t.Error("the report does not say what the registry says")
	}
}

// Each content of a shape has a fixture of its own, and the records name it,
// in whatever portions the results come.
func TestPublishKeepsEveryFixture(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for range 8 { // every file is synced to disk, which takes its time
		reg := newRegistry(t)
		want := map[contract.Digest]bool{}
		for range 1 + random.IntN(3) {
			var results []*CellResult
			for range 1 + random.IntN(4) {
				r := result("0.133.0", pick("s", "t"), pick("a", "b", "c"))
				results = append(results, r)
				want[r.Observation.Extensions.FixtureSHA256] = true
			}
			must(t, publish(t.Context(), reg, results, retained(results), nil))
		}
		named := map[contract.Digest]bool{}
		files := content(t, reg)
		obs, err := reg.Observations("")
		must(t, err)
		for _, o := range obs {
			sig, err := store.FixtureShape(o.Extensions.Fixture)
			if err != nil || sig != o.Shape.Signature || contract.Sum([]byte(files[o.Extensions.Fixture])) != o.Extensions.FixtureSHA256 {
				t.Fatalf("%s names a fixture of another shape or content (%v)", o.Path, err)
			}
			if files[o.Shape.Path] == "" || files[o.ParserReplay.Golden] == "" || files[o.Extensions.ReferenceGolden] == "" {
				t.Fatalf("%s names a file that is not there", o.Path)
			}
			named[o.Extensions.FixtureSHA256] = true
		}
		if len(named) != len(want) {
			t.Fatalf("%d contents are named, want %d", len(named), len(want))
		}
	}
}

func TestPublishIsAllOrNothing(t *testing.T) {
	reg := newRegistry(t)
	fail := errors.New("no matrix")
	one := []*CellResult{result("0.133.0", "s", "a")}
	err := publish(t.Context(), reg, one, retained(one), func(*store.Transaction, []store.Observed) error { return fail })
	if !errors.Is(err, fail) || len(content(t, reg)) > 0 {
		t.Errorf("error %v, %d files", err, len(content(t, reg)))
	}
	must(t, reg.CheckWritable(t.Context()))
	refused := &CellResult{Redaction: contract.RedactionReview}
	must(t, publish(t.Context(), reg, []*CellResult{refused}, nil, func(*store.Transaction, []store.Observed) error {
		t.Error("nothing to publish was published")
		return nil
	}))
	var readOnly *store.ReadOnlyError
	embedded := store.Embedded(fstest.MapFS{})
	if _, err := Run(t.Context(), Options{Registry: embedded}); !errors.As(err, &readOnly) {
		t.Errorf("error %v, want ReadOnlyError", err)
	}
}

func TestEvidencePinsTheObservation(t *testing.T) {
	reg := newRegistry(t)
	r := result("0.133.0", "s", "a")
	raw := r.Observation.Capture.RawClientTranscriptSHA256
	must(t, publish(t.Context(), reg, []*CellResult{r}, map[contract.Digest]private.Meta{raw: {SHA256: raw, Bytes: 7, RetainUntil: now.Add(private.Retention)}}, nil))
	files, err := reg.Walk("evidence", ".json")
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("%d evidence records", len(files))
	}
	var e contract.Evidence
	must(t, reg.ReadJSON(files[0], &e))
	b, err := reg.ReadFile(e.Observation.Path)
	must(t, err)
	if contract.Sum(b) != e.Observation.SHA256 || e.Capture.Raw.SHA256 != raw || e.Capture.Raw.Bytes != 7 ||
		!slices.Contains([]string{"2026-12-24T10:00:00Z"}, *e.Capture.Raw.RetainedUntil) {
		t.Errorf("evidence %+v", e.Capture.Raw)
	}
}
