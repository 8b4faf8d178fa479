package scaffold

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
