package agentcontracts_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

var update = flag.Bool("update", false, "write the golden files")

// table is testdata/support-table.json: registries, and what is said of
// versions in them. Go, TypeScript and HTTP are held against it.
type table struct {
	Registries map[string]tableRegistry `json:"registries"`
	Rows       []row                    `json:"rows"`
}

type tableRegistry struct {
	Agents *contract.AgentsFile    `json:"agents"`
	Matrix *contract.SupportMatrix `json:"matrix"` // null: the registry has none
	Policy *contract.Policy        `json:"policy"` // null likewise
}

// row is one question and every answer to it.
type row struct {
	Registry string                  `json:"registry"`
	Agent    string                  `json:"agent"`
	Version  string                  `json:"version"`
	Platform agentcontracts.Platform `json:"platform"`
	Probe    *probed                 `json:"probe,omitempty"`

	Status   agentcontracts.Status          `json:"status"`
	Policy   contract.CompatibilityPolicy   `json:"policy"`
	Evidence contract.CompatibilityEvidence `json:"evidence"`
	Answer   matrix.Answer                  `json:"answer"`
	// Installed is the version as the answer spells it.
	Installed    string  `json:"installed_version"`
	TooOld       bool    `json:"too_old"`
	TooOldAll    bool    `json:"too_old_everywhere"`
	Breaking     bool    `json:"known_breaking"`
	Newer        bool    `json:"newer"`
	EntryRange   *string `json:"entry"` // the ranges of the entry, null for none
	HasVariants  bool    `json:"has_observed_server_variants"`
	RangeIsGood  bool    `json:"version_range_verified"`
	LatestOfMine string  `json:"latest_verified"`
}

type probed struct {
	Shape contract.Digest `json:"shape"`
	At    string          `json:"at"`
	Live  bool            `json:"live"`
}

// ask answers a row's question.
func (r row) ask(s *agentcontracts.Support) row {
	out := row{Registry: r.Registry, Agent: r.Agent, Version: r.Version, Platform: r.Platform, Probe: r.Probe}
	var p *agentcontracts.Probed
	if r.Probe != nil {
		p = &agentcontracts.Probed{Done: true, Shape: r.Probe.Shape, At: r.Probe.At, Live: r.Probe.Live}
	}
	c := s.Classify(r.Agent, r.Version, r.Platform, p)
	out.Status, out.Policy, out.Evidence, out.Answer, out.Installed = c.Status, c.Policy, c.Evidence, c.Answer(), c.Version
	out.LatestOfMine = c.LatestVerified
	out.TooOld = s.IsOlderThanMinSupported(r.Agent, r.Version, r.Platform)
	out.TooOldAll = s.IsOlderThanMinSupported(r.Agent, r.Version, "")
	out.Breaking = s.IsKnownBreaking(r.Agent, r.Version, r.Platform)
	out.Newer = s.IsNewerThanLatestVerified(r.Agent, r.Version)
	if e := s.FindSupportEntry(r.Agent, r.Version, r.Platform); e != nil {
		text := fmt.Sprint(e.VersionRanges)
		out.EntryRange = &text
		out.HasVariants = len(e.ServerVariants) > 0 || e.SupportStatus == contract.SupportServerVariantPossible
		out.RangeIsGood = e.SupportStatus == contract.SupportVersionRangeVerified
	}
	return out
}

func (r tableRegistry) open(t *testing.T) *agentcontracts.Support {
	t.Helper()
	files := fstest.MapFS{}
	add := func(rel string, v any) {
		b, err := contract.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		files[rel] = &fstest.MapFile{Data: b}
	}
	add(store.AgentsFile, r.Agents)
	if r.Matrix != nil {
		add(matrix.Path, r.Matrix)
	}
	if r.Policy != nil {
		add(matrix.PolicyPath, r.Policy)
	}
	s, err := agentcontracts.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const rep = "chat-tool-success"

// observed makes an observation of the representative probe; minute orders them in time.
func observed(agent, version, shape string, p contract.Platform, minute int, change func(*contract.Observation)) store.Observed {
	o := contract.Observation{
		SchemaVersion: 1, Agent: agent, CLIVersion: version, Platform: p, Probe: rep, ProtocolFamily: contract.FamilyEvents,
		ValidityLevel: contract.LevelRuntimeObserved,
		Capture:       contract.ObservationCapture{CapturedAt: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC).Format(time.RFC3339), Runner: "r"},
		Shape:         contract.ShapeRef{Signature: shapeOf(shape)},
		ParserReplay:  contract.ParserReplay{Status: contract.ReplayCompatible},
	}
	o.Capture.RawClientTranscriptSHA256 = shapeOf(fmt.Sprint("run ", agent, version, shape, p, minute))
	o.Install.Source = "npm:" + agent + "@" + version
	o.Extensions.Provider, o.Extensions.Profile = contract.ProviderEmulated, contract.ProfileProduction
	if change != nil {
		change(&o)
	}
	return store.Observed{Path: fmt.Sprintf("observations/%s/%s/%s/%d.%s.observation.json", agent, version, p, minute, o.Probe), Observation: o}
}

func shapeOf(name string) contract.Digest { return contract.Sum([]byte(name)) }

// fullRecords are the records of the table's full registry.
func fullRecords() *matrix.Records {
	families := []contract.ProtocolFamily{contract.FamilyEvents, contract.FamilyPlain}
	agents := &contract.AgentsFile{SchemaVersion: 1, Agents: []contract.Agent{
		{ID: "semver", Name: "S", RepresentativeProbe: rep, ProtocolFamilies: families, VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease}},
		{ID: "calendar", Name: "C", RepresentativeProbe: rep, ProtocolFamilies: families, VersionProbe: &contract.VersionProbe{Scheme: contract.SchemeBuild}},
		{ID: "plain", Name: "P", RepresentativeProbe: rep, ProtocolFamilies: families},
		{ID: "models", Name: "M", RepresentativeProbe: rep, ProtocolFamilies: families, VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease}},
		{ID: "exempt", Name: "E", ProtocolFamilies: families, Exemption: "nobody can install it"},
	}}
	live := func(o *contract.Observation) { o.Extensions.Provider = contract.ProviderLive }
	loses := func(o *contract.Observation) { o.ParserReplay.Status = contract.ReplayIncompatible }
	plainText := func(o *contract.Observation) {
		o.ProtocolFamily, o.ParserReplay.Status = contract.FamilyPlain, contract.ReplayNotRun
	}
	other := func(o *contract.Observation) { o.Probe = "auth-failure" }
	records := &matrix.Records{Agents: agents}
	minute := 0
	see := func(agent, version, shape string, p contract.Platform, change func(*contract.Observation)) {
		minute++
		records.Observations = append(records.Observations, observed(agent, version, shape, p, minute, change))
	}
	for _, v := range []string{"1.0.0", "1.2.0", "1.10.0"} {
		see("semver", v, "A", "linux-x64", nil)
	}
	see("semver", "1.0.0", "F", "linux-x64", other)
	see("semver", "1.10.0", "F", "linux-x64", other)
	see("semver", "1.11.0", "B", "linux-x64", nil)
	see("semver", "1.12.0", "L", "linux-x64", loses)
	see("semver", "1.13.0", "V", "linux-x64", live)
	see("semver", "1.13.0", "W", "linux-x64", live)
	see("semver", "1.14.0", "D1", "linux-x64", nil)
	see("semver", "1.14.0", "D2", "linux-x64", nil)
	see("semver", "1.15.0", "BAD", "linux-x64", nil)
	see("semver", "1.16.0", "P", "linux-x64", plainText)
	see("semver", "1.17.0", "A", "linux-x64", other)
	see("semver", "1.18.0", "A", "linux-x64", nil)
	see("semver", "1.18.0", "Z", "linux-x64", nil)
	see("semver", "1.18.0", "A", "linux-x64", nil)
	see("semver", "2.0.0-alpha.2", "A", "linux-x64", nil)
	see("semver", "1.2.0", "A", "darwin-arm64", nil)
	see("semver", "0.9.0", "A", "darwin-arm64", nil)
	see("calendar", "2025.11.06-8fe8a63", "A", "linux-x64", nil)
	see("calendar", "2025.12.01-1a2b3c4", "A", "linux-x64", nil)
	see("calendar", "2026.1.2-0000001", "B", "linux-x64", nil)
	see("plain", "0.1", "A", "linux-x64", nil)
	see("plain", "0.3", "A", "linux-x64", nil)
	models := func(o *contract.Observation) { o.ProtocolFamily, o.Probe = contract.FamilyPlain, "model-probe" }
	see("models", "1.0.0", "A", "linux-x64", nil)
	see("models", "1.4.0", "B", "linux-x64", nil)
	see("models", "1.0.0", "M", "linux-x64", models)
	see("models", "1.4.0", "M", "linux-x64", models)
	see("models", "1.6.0", "N", "linux-x64", models)
	see("models", "1.0.0", "M", "darwin-arm64", models)
	records.Policy = contract.Policy{SchemaVersion: 1, Agents: []contract.AgentPolicy{{
		Agent:  "calendar",
		TooOld: []contract.TooOld{{Below: "2025.06.01-0000000", Reason: "no JSON"}},
	}, {
		Agent:  "semver",
		TooOld: []contract.TooOld{{Below: "0.5.0", Reason: "no JSON"}, {Below: "1.0.0", Reason: "crashes", Scope: contract.Scope{Platforms: []contract.Platform{"win32-x64"}}}},
		KnownBreaking: []contract.KnownBreaking{
			{VersionRanges: []string{">=0.6.0 <0.7.0", "~0.8.2", "0.7.x"}, Reason: "hangs", Evidence: []string{"https://example.org/1"}},
			{VersionRanges: []string{"=1.2.0", "^3.1.0 || 4.0.0 - 4.2"}, Reason: "loses", Evidence: []string{"https://example.org/2"}, Scope: contract.Scope{Platforms: []contract.Platform{"darwin-arm64"}}},
		},
		KnownBreakingShapes: []contract.KnownBreakingShape{{Shape: shapeOf("BAD"), Reason: "no text", Evidence: "https://example.org/3"}, {Shape: shapeOf("X"), Reason: "no text", Evidence: "https://example.org/4"}},
		Notes:               []contract.PolicyNote{{VersionRanges: []string{"=1.11.0"}, Text: "be careful"}},
		Overrides: []contract.PolicyOverride{
			{VersionRanges: []string{"=9.9.9"}, SupportStatus: contract.SupportNewerThanVerified, AllowRun: contract.AllowRunBlock, Reason: "recalled"},
			{VersionRanges: []string{"1.17"}, AllowRun: contract.AllowRunAllow, Reason: "seen to work"},
			{VersionRanges: []string{"!=1.11.0, >=1.11"}, SupportStatus: contract.SupportActiveShapeUnknown, AllowRun: contract.AllowRunBlock, Reason: "be careful", Scope: contract.Scope{Platforms: []contract.Platform{"linux-x64"}}},
		},
	}}}
	return records
}

// worlds are the registries of the table.
func worlds(t *testing.T) map[string]tableRegistry {
	t.Helper()
	records := fullRecords()
	agents := records.Agents
	m, err := matrix.Build(records)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]tableRegistry{
		"full":           {agents, m, &records.Policy},
		"without_policy": {agents, m, nil},
		"without_matrix": {agents, nil, nil},
		"empty":          {&contract.AgentsFile{SchemaVersion: 1, Agents: []contract.Agent{}}, &contract.SupportMatrix{SchemaVersion: 1, GeneratedAt: "1970-01-01T00:00:00Z", Agents: []contract.MatrixEntry{}}, &contract.Policy{SchemaVersion: 1}},
	}
}

// questions are the rows without their answers.
func questions() []row {
	versions := map[string][]string{
		"semver": {"0.4.9", "0.5.0", "0.6.3", "0.7.0-rc.1", "0.7.4", "0.8.1", "0.8.9", "0.9.0", "1.0.0", "1.0.0-beta", "1.1.0", "1.2.0", "1.2.0-beta.1", "v1.2.0", "1.02.0", "1.2", "1.2.0+b7", "1.10.0", "1.10.0-rc.1+x",
			"1.10.5", "1.11.0", "1.12.0", "1.13.0", "1.14.0", "1.15.0", "1.16.0", "1.17.0", "1.17.9", "1.18.0", "2.0.0-alpha.2", "2.0.0-alpha.2.1", "2.0.0-alpha.10", "2.0.0-01", "2.0.0", "3.1.0", "3.9.9", "4.0.0", "4.2.9", "9.9.9"},
		"calendar": {"2025.05.30-abcdef0", "2025.06.01", "2025.11.06-8fe8a63", "2025.11.6-8fe8a63", "2025.11.06", "2025.11.06-9", "2025.11.20-abcdef0", "2025.12.20-abcdef0", "2026.01.02-0000001", "2026.1.2-0000001", "2026.2.1", "1.0"},
		"plain":    {"0.1", "0.1.0", "0.2", "0.2.5", "0.3", "0.3.1", "0.4"},
		"models":   {"1.0.0", "1.2.0", "1.3.0-rc.1", "1.4.0", "1.5.0", "1.6.0"},
		"exempt":   {"1.0.0"},
		"nobody":   {"1.0.0", ""},
		"":         {"1.0.0"},
	}
	odd := []string{"", "latest", "1", "1.2.3.4", "1.2.x", " 1.2.0", "1.2.0 ", "1.2.0\n", "1.2.0-", "1.2.0-a..b", "-1.2.0", "1.2.0-\u00fc", "\u0661.2.0", "999999999999999.0.0", "9999999999999999.0.0", "vv1.2.0", "1.2.0/x", "1..2", "0.0.0"}
	for _, a := range []string{"semver", "calendar", "plain"} {
		versions[a] = append(versions[a], odd...)
	}
	at := "2026-02-01T00:00:00Z"
	probes := []*probed{nil, {shapeOf("A"), at, false}, {shapeOf("X"), at, false}, {shapeOf("L"), at, false}, {shapeOf("V"), at, false}, {shapeOf("V"), at, true}, {"", at, false}, {shapeOf("Z"), at, false}}
	var rows []row
	for _, name := range []string{"full", "without_policy", "without_matrix", "empty"} {
		for _, agent := range []string{"semver", "calendar", "plain", "models", "exempt", "nobody", ""} {
			for _, v := range versions[agent] {
				for _, p := range []contract.Platform{"linux-x64", "darwin-arm64", "win32-x64"} {
					for i, probe := range probes {
						// All of it where there is something to decide, a part elsewhere.
						if i > 0 && (name != "full" || p != "linux-x64" || slices.Contains(odd, v)) && i != 1+len(v)%3 || i > 3 && agent != "semver" {
							continue
						}
						if name != "full" && (i > 1 || p != "linux-x64") || p == "win32-x64" && i > 0 {
							continue
						}
						rows = append(rows, row{Registry: name, Agent: agent, Version: v, Platform: p, Probe: probe})
					}
				}
			}
		}
	}
	return rows
}

const tablePath = "testdata/support-table.json"

// The committed table is what this code answers, and has a row of every status,
// answer and source. npm/test/table.test.mjs holds the package against it.
func TestSupportTable(t *testing.T) {
	have := table{Registries: worlds(t)}
	open := map[string]*agentcontracts.Support{}
	for name, r := range have.Registries {
		open[name] = r.open(t)
	}
	seen := map[string]bool{}
	for _, q := range questions() {
		a := q.ask(open[q.Registry])
		have.Rows = append(have.Rows, a)
		for _, word := range []string{string(a.Status), string(a.Answer), string(a.Evidence.Source), string(a.Policy.UserAction)} {
			seen[word] = true
		}
	}
	if len(have.Rows) < 500 {
		t.Errorf("the table has %d rows", len(have.Rows))
	}
	for _, s := range contract.SupportStatuses {
		if !seen[string(s)] {
			t.Errorf("no row has the status %s", s)
		}
	}
	for _, word := range []string{"yes", "no", "cannot_know", "local_probe", "support_matrix", "known_breaking", "none", "upgrade_cli", "pin_supported_version", "report_unknown_shape", "run_local_probe"} {
		if !seen[word] {
			t.Errorf("no row says %s", word)
		}
	}
	b := encodeTable(t, have)
	if *update {
		if err := os.WriteFile(filepath.FromSlash(tablePath), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(tablePath))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		line := slices.IndexFunc(bytes.Split(b, []byte("\n")), func(l []byte) bool { return !bytes.Contains(want, l) })
		t.Errorf("%s is not what this code answers, first at line %d; go test . -run TestSupportTable -update writes it", tablePath, line+1)
	}
}

// encodeTable writes one row a line, so that a change is seen in a diff.
func encodeTable(t *testing.T, tab table) []byte {
	t.Helper()
	registries, err := json.Marshal(tab.Registries)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"registries\": %s,\n\"rows\": [\n", registries)
	for i, r := range tab.Rows {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		if i < len(tab.Rows)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
	return b.Bytes()
}
