package scaffold

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

func fresh(t *testing.T) *store.Registry {
	t.Helper()
	from, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	reg, err := Registry(filepath.Join(t.TempDir(), "mine"), from)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// A private agent joins the public ones, whose text stays as it was.
func TestAddAgent(t *testing.T) {
	reg := fresh(t)
	before, _ := reg.ReadFile(store.AgentsFile)
	if err := AddAgent(reg, Agent{ID: "in-house", Family: contract.FamilyEvents}); err != nil {
		t.Fatal(err)
	}
	after, _ := reg.ReadFile(store.AgentsFile)
	f, err := agents.Read(bytes.NewReader(after), "agents.json")
	if err != nil {
		t.Fatal(err)
	}
	if a := f.Agent("in-house"); a == nil || a.Name != "in-house" || a.Exemption == "" {
		t.Errorf("the agent is %+v", a)
	}
	end := bytes.LastIndex(before, []byte("\n  ]"))
	if !bytes.HasPrefix(after, before[:end]) || !bytes.HasSuffix(after, before[end:]) {
		t.Error("the file changed elsewhere, too")
	}
	var exists *ExistsError
	if err := AddAgent(reg, Agent{ID: "in-house", Family: contract.FamilyEvents}); !errors.As(err, &exists) {
		t.Errorf("a second agent of the name: %v", err)
	}
	for _, bad := range []string{"", "../x", "A", "a b", "-a"} {
		if err := AddAgent(reg, Agent{ID: bad, Family: contract.FamilyEvents}); err == nil {
			t.Errorf("%q is an id", bad)
		}
	}
}

// Maintainers are named one by one, and those of the registry that one's own is
// made from are not its.
func TestAddMaintainer(t *testing.T) {
	public := fresh(t)
	key := "age1" + strings.Repeat("q", 58)
	for _, m := range [][2]string{{"lee", ""}, {"jo", key}} {
		if err := AddMaintainer(public, m[0], m[1]); err != nil {
			t.Fatal(err)
		}
	}
	p, err := public.Policy()
	if err != nil || len(p.Maintainers) != 2 || p.Maintainers[0].Handle != "jo" || !slices.Equal(p.Recipients(), []string{key}) {
		t.Fatalf("%+v, %v", p, err)
	}
	var exists *ExistsError
	if err := AddMaintainer(public, "jo", ""); !errors.As(err, &exists) {
		t.Errorf("jo again: %v", err)
	}
	for _, bad := range [][2]string{{"", ""}, {"a b", ""}, {"pat", "AGE-SECRET-KEY-1"}} {
		if err := AddMaintainer(public, bad[0], bad[1]); err == nil || strings.Contains(err.Error(), "SECRET-KEY") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	mine, err := Registry(filepath.Join(t.TempDir(), "mine"), public)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = mine.Policy(); err != nil || len(p.Maintainers) != 0 {
		t.Errorf("it took over %+v, %v", p, err)
	}
}

// A new probe is whole, and no second one of its name replaces it.
func TestAddProbe(t *testing.T) {
	reg := fresh(t)
	if err := AddProbe(reg, "house-rules"); err != nil {
		t.Fatal(err)
	}
	for _, f := range contract.ProbeFiles {
		if !reg.Exists("probes/house-rules/" + f) {
			t.Errorf("it has no %s", f)
		}
	}
	var exists *ExistsError
	if err := AddProbe(reg, "house-rules"); !errors.As(err, &exists) {
		t.Errorf("a second probe of the name: %v", err)
	}
	if err := AddProbe(reg, "../elsewhere"); err == nil {
		t.Error("a probe outside of probes/ was made")
	}
	left, err := filepath.Glob(filepath.Join(reg.Dir(), ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A folder of somebody's is not taken for a registry.
func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	from, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if _, err := Registry(dir, from); !errors.As(err, &exists) {
		t.Errorf("it became a registry: %v", err)
	}
}

// Whoever starts a registry has nothing to put right in it.
func TestAFreshRegistryIsTrue(t *testing.T) {
	r, err := validate.Run(fresh(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s", p)
	}
}
