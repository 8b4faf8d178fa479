//go:build unix

package serve

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// supportTable is what this test reads of testdata/support-table.json at the
// module root: the table of the Go and of the npm package.
type supportTable struct {
	Registries map[string]struct{ Agents, Matrix, Policy json.RawMessage }
	Rows       []struct {
		Registry, Agent, Version string
		Platform                 contract.Platform
		Probe                    *struct {
			Shape contract.Digest
			At    string
			Live  bool
		}
		Status    contract.SupportStatus
		Policy    contract.CompatibilityPolicy
		Evidence  json.RawMessage
		Installed string `json:"installed_version"`
	}
}

// Over HTTP each row of the table that Go and TypeScript are held against has
// the same answer. What they call unknown because there is no such agent, or
// because the text is no version, is the asker's mistake here.
func TestSupportTable(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "support-table.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table supportTable
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	servers := map[string]*world{}
	for name, r := range table.Registries {
		files := fstest.MapFS{}
		for rel, content := range map[string]json.RawMessage{store.AgentsFile: r.Agents, matrix.Path: r.Matrix, matrix.PolicyPath: r.Policy} {
			if string(content) != "null" {
				files[rel] = &fstest.MapFile{Data: content}
			}
		}
		for _, rel := range []string{store.FamiliesFile, "registry/vocabulary.json"} {
			content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(rel)))
			if err != nil {
				t.Fatal(err)
			}
			files[rel] = &fstest.MapFile{Data: content}
		}
		now := func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) } // the time of the table's probes
		w := &world{Server: newServer(Config{Registry: store.Embedded(files), Now: now, Fault: func(err error) { t.Errorf("fault: %v", err) }})}
		snap, err := w.read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.Server.now.Store(snap)
		servers[name] = w
	}
	codes := map[int]int{}
	for _, r := range table.Rows {
		q := url.Values{"agent": {r.Agent}, "version": {r.Version}, "platform": {string(r.Platform)}}
		if r.Probe != nil {
			q.Set("shape", "none")
			if r.Probe.Shape != "" {
				q.Set("shape", string(r.Probe.Shape))
			}
			if r.Probe.Live {
				q.Set("live", "1")
			}
		}
		rec := servers[r.Registry].get("/api/v1/classify?"+q.Encode(), nil)
		codes[rec.Code]++
		if rec.Code == 404 || rec.Code == 400 {
			if r.Status != contract.SupportUnknown || text(t, r.Evidence) != text(t, contract.CompatibilityEvidence{Source: contract.EvidenceFromNone}) {
				t.Errorf("%s %s: status %d where Go says %s", r.Registry, q.Encode(), rec.Code, r.Status)
			}
			continue
		}
		got := dto(t, rec)
		if got.Status != r.Status || got.Policy != r.Policy || text(t, got.Evidence) != text(t, r.Evidence) || got.Agent != r.Agent || got.Platform != r.Platform || *got.InstalledVersion != r.Installed {
			t.Errorf("%s %s: %s, want %s %s %s", r.Registry, q.Encode(), rec.Body, r.Status, r.Policy, r.Evidence)
		}
	}
	if codes[200] < 500 || codes[404] == 0 || codes[400] == 0 {
		t.Errorf("answers by status: %v", codes)
	}
}
