package validate_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// scaleRegistry makes a valid registry of n observations in a temporary
// folder: the committed records, again and again under other versions and at
// other times, each with its evidence and its error case. The same committed
// records give the same registry.
func scaleRegistry(tb testing.TB, n int) *store.Registry {
	tb.Helper()
	dir := tb.TempDir()
	for _, folder := range []string{"registry", "probes", "shapes", "fixtures", "goldens", "observations", "evidence", "errors"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join("../..", folder))); err != nil {
			tb.Fatal(err)
		}
	}
	reg, err := store.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	committed, err := reg.Observations("")
	if err != nil {
		tb.Fatal(err)
	}
	for i := len(committed); i < n; i++ {
		if err := again(reg, &committed[i%len(committed)], i/len(committed)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := writeDerived(reg); err != nil {
		tb.Fatal(err)
	}
	return reg
}

var leadingNumber = regexp.MustCompile(`^[0-9]+`)

// again writes the k-th repetition of an observation, k > 0: every fourth under
// a new version, those between at other times.
func again(reg *store.Registry, o *store.Observed, k int) error {
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil {
		return err
	}
	at = at.Add(time.Duration(k) * 90 * time.Minute)
	version := leadingNumber.ReplaceAllStringFunc(o.CLIVersion, func(s string) string {
		major, _ := strconv.Atoi(s)
		return strconv.Itoa(major + 100*(k/4))
	})
	place := store.ObservationPath(o.Agent, version, o.Platform, at, o.Probe)
	changed := []string{
		`"cli_version": "` + o.CLIVersion + `"`, `"cli_version": "` + version + `"`,
		o.Capture.CapturedAt, at.UTC().Format("2006-01-02T15:04:05.000Z"),
		o.Path, place,
	}
	digest, err := writeAgain(reg, o.Path, place, changed)
	if err != nil {
		return err
	}
	old, err := reg.ReadFile(o.Path)
	if err != nil {
		return err
	}
	changed = append(changed, string(contract.Sum(old)), string(digest))
	if _, err := writeAgain(reg, store.EvidenceOf(o.Path), store.EvidenceOf(place), changed); err != nil {
		return err
	}
	from := strings.NewReplacer("observations/", "errors/", ".observation.json", ".error.json").Replace(o.Path)
	if !reg.Exists(from) {
		return nil // a run that did not fail
	}
	_, err = writeAgain(reg, from, store.ErrorCasePath(o.Agent, version, o.Platform, at, o.Probe), changed)
	return err
}

func writeAgain(reg *store.Registry, from, to string, changed []string) (contract.Digest, error) {
	b, err := reg.ReadFile(from)
	if err != nil {
		return "", err
	}
	b = []byte(strings.NewReplacer(changed...).Replace(string(b)))
	return contract.Sum(b), write(reg, to, b)
}

func write(reg *store.Registry, place string, b []byte) error {
	file := filepath.Join(reg.Dir(), filepath.FromSlash(place))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

// writeDerived writes what follows from all records: levels and matrix.
func writeDerived(reg *store.Registry) error {
	r, err := matrix.Load(reg)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	levels := matrix.Levels(r.Observations, matrix.NewStanding(r.Statements))
	for i := range r.Observations {
		ref := r.Observations[i].Shape
		if done[ref.Path] {
			continue
		}
		done[ref.Path] = true
		b, err := reg.ReadFile(ref.Path)
		if err != nil {
			return err
		}
		for _, l := range contract.ValidityLevels {
			b = bytes.Replace(b, fmt.Appendf(nil, "\n  \"validity_level\": %q", l), fmt.Appendf(nil, "\n  \"validity_level\": %q", levels[ref.Signature]), 1)
		}
		if err := write(reg, ref.Path, b); err != nil {
			return err
		}
	}
	m, err := matrix.Build(r)
	if err != nil {
		return err
	}
	b, err := matrix.Encode(m)
	if err != nil {
		return err
	}
	return write(reg, matrix.Path, b)
}
