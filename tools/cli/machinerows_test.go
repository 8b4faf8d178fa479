package cli

import (
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/campaign"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/conformance"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/discover"
	"github.com/nexu-io/open-design-agent-contracts/tools/evidence"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/merge"
	"github.com/nexu-io/open-design-agent-contracts/tools/play/gate"
	"github.com/nexu-io/open-design-agent-contracts/tools/publish"
	"github.com/nexu-io/open-design-agent-contracts/tools/recordings"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan"
)

// machineRows says for every command how its data is learned. Runs need no
// network and no CLI; what needs one is named by its type.
func machineRows(t *testing.T) map[string]machineRow {
	t.Helper()
	fixtures, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "json-event-stream", "*.sanitized.jsonl"))
	if err != nil || len(fixtures) < 2 {
		t.Fatal("the registry has no fixtures")
	}
	a, b := fixtures[0], fixtures[1]
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	one := func(args ...string) machineRow { return machineRow{runs: [][]string{args}} }
	return map[string]machineRow{
		"bisect":        {types: []any{&bisect.Report{}}},
		"cache list":    one(),
		"cache prune":   {runs: [][]string{{"--keep-versions", "1", "--dry-run"}}},
		"campaign":      {types: []any{&campaign.Report{}}},
		"can-i-use":     one("codex", "0.144.0"),
		"capture":       {runs: [][]string{{"codex@0.133.0", "--dry-run"}}, types: []any{&capture.Report{}}},
		"classify":      {runs: [][]string{{}}, stdin: `{"result":"failed","agentId":"codex","stderr":"401 Unauthorized","exitCode":1}`},
		"compare":       one(a, b),
		"compatibility": {runs: [][]string{{}}, types: []any{contract.CompatibilityResponse{}}},
		"conformance":   {runs: [][]string{{"--list"}}, types: []any{&conformance.Report{}}},
		"correct":       {text: true},
		"promote":       {text: true},
		"withdraw":      {text: true},
		"submit":        {text: true},
		"accept":        {types: []any{&evidence.Accepted{}}},

		"evidence audit":        {types: []any{&evidence.Audit{}}},
		"evidence expire":       one(),
		"evidence reproduction": {text: true},
		"evidence show":         {types: []any{&evidence.Chain{}}},

		"discover":         {types: []any{&discover.Report{}}},
		"publish":          {types: []any{&publish.Package{}}, text: true},
		"plan":             {runs: [][]string{{}, {"--gate"}, {"--format", "github-matrix"}}},
		"doctor":           one(),
		"errors":           one("codex"),
		"explain":          {runs: [][]string{{}, {"JSON-BOM"}}},
		"handshake":        one(),
		"health":           one(),
		"job kill":         {types: []any{&jobs.Killed{}}},
		"job list":         one(),
		"job logs":         {text: true},
		"job output":       {types: []any{&jobs.Output{}}},
		"job prune":        one(),
		"job resume":       {types: []any{&jobs.Job{}}},
		"job status":       {types: []any{&jobs.Job{}}},
		"job wait":         one("20260725T175010-97f334", "--max-wait", "0"),
		"matrix":           {runs: [][]string{{"--explain", "codex", "0.144.0"}, {"--quality"}}, lines: true},
		"merge-step":       {types: []any{merge.Plan(nil)}},
		"normalize":        {runs: [][]string{{a}}, lines: true},
		"redact":           {runs: [][]string{{"--check", a}}, text: true},
		"replay":           {runs: [][]string{{a}, {a, "--coverage"}}, lines: true, types: []any{&gate.Report{}}},
		"report diffs":     {types: []any{[]*contract.DriftReport{}}},
		"report risk":      {runs: [][]string{{"codex"}, {"codex", "--format", "issue"}, {"codex", "--format", "feishu"}}},
		"report send":      {text: true},
		"site":             {text: true},
		"review answer":    {types: []any{[]requests.Entry{}}},
		"review list":      one(),
		"review show":      {types: []any{&requests.Entry{}}},
		"source-scan":      {types: []any{&sourcescan.Report{}}},
		"synthesize":       {types: []any{&capture.CellResult{}}},
		"validate":         one("--registry", root, filepath.Join(root, "registry", "agents.json")),
		"init":             {text: true},
		"man":              {runs: [][]string{{t.TempDir()}}, text: true},
		"check-recordings": {types: []any{[]recordings.Row{}}},
	}
}
