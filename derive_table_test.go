package agentcontracts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// derivation is a line of testdata/derive-table.jsonl: records, and the matrix
// that they give. The npm package derives it from them too. The first line has
// the agents of all, and the policy of those that are Decided.
type derivation struct {
	Agents       *contract.AgentsFile    `json:"agents,omitempty"`
	Observations []observationFacts      `json:"observations"`
	Statements   []statementFacts        `json:"statements"`
	Policy       *contract.Policy        `json:"policy,omitempty"`
	Decided      bool                    `json:"decided"`
	LatestSeen   *contract.LatestSeen    `json:"latest_seen"`
	Matrix       *contract.SupportMatrix `json:"matrix"`
}

// observationFacts are what of an observation claims follow from.
type observationFacts struct {
	Path            string                     `json:"path"`
	Agent           string                     `json:"agent"`
	CLIVersion      string                     `json:"cli_version"`
	Platform        contract.Platform          `json:"platform"`
	Probe           string                     `json:"probe"`
	ProtocolFamily  contract.ProtocolFamily    `json:"protocol_family"`
	ValidityLevel   contract.ValidityLevel     `json:"validity_level"`
	Install         map[string]string          `json:"install"`
	Capture         map[string]string          `json:"capture"`
	Shape           map[string]contract.Digest `json:"shape"`
	ParserReplay    map[string]string          `json:"parser_replay"`
	ExtensionsFacts map[string]any             `json:"extensions"`
}

type statementFacts struct {
	Path         string                 `json:"path"`
	Observation  map[string]string      `json:"observation"`
	RecordedAt   string                 `json:"recorded_at"`
	Withdrawal   *contract.Withdrawal   `json:"withdrawal,omitempty"`
	Reproduction *contract.Reproduction `json:"reproduction,omitempty"`
	Promotion    *contract.Promotion    `json:"promotion,omitempty"`
}

func facts(o *store.Observed) observationFacts {
	ext := map[string]any{"provider": o.Extensions.Provider, "profile": o.Extensions.Profile, "readers": o.Extensions.Readers}
	if len(o.Extensions.Violations) > 0 {
		ext["violations"] = []string{"some"}
	}
	return observationFacts{
		o.Path, o.Agent, o.CLIVersion, o.Platform, o.Probe, o.ProtocolFamily, o.ValidityLevel, map[string]string{"source": o.Install.Source},
		map[string]string{"captured_at": o.Capture.CapturedAt, "runner": o.Capture.Runner, "raw_client_transcript_sha256": string(o.Capture.RawClientTranscriptSHA256)}, map[string]contract.Digest{"signature": o.Shape.Signature},
		map[string]string{"status": string(o.ParserReplay.Status)}, ext,
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// anyRecords makes records of every kind that the matrix treats in its own way.
func anyRecords(r *rand.Rand, full *matrix.Records) *matrix.Records {
	out := &matrix.Records{Agents: full.Agents}
	versions := map[string][]string{
		"semver":   {"1.0.0", "1.1.0", "1.2.0", "1.10.0", "2.0.0-alpha.2", "2.0.0"},
		"calendar": {"2025.11.06-8fe8a63", "2025.12.01-1a2b3c4", "2026.1.2-0000001"},
	}
	for n := r.IntN(14); n >= 0; n-- {
		agent := pick(r, "semver", "semver", "semver", "calendar")
		o := observed(agent, pick(r, versions[agent]...), pick(r, "A", "A", "A", "B"), pick[contract.Platform](r, "linux-x64", "linux-x64", "darwin-arm64"), len(out.Observations)+100*r.IntN(3), func(o *contract.Observation) {
			o.Probe = pick(r, rep, rep, "auth-failure", "version-probe")
			o.Capture.Runner = pick(r, "r", "r", "other")
			o.ParserReplay.Status = pick(r, contract.ReplayCompatible, contract.ReplayCompatible, contract.ReplayCompatible, contract.ReplayIncompatible, contract.ReplayNotRun)
			o.Extensions.Provider = pick(r, contract.ProviderEmulated, contract.ProviderEmulated, contract.ProviderEmulated, contract.ProviderLive)
			o.Extensions.Readers = pick(r, "1.0.0", "1.0.0", "1.1.0", "open-design@0.19.2+1 reference@1")
			o.Extensions.Profile = pick(r, contract.ProfileProduction, contract.ProfileProduction, contract.ProfileProduction, "compatible")
			o.ValidityLevel = pick(r, contract.LevelRuntimeObserved, contract.LevelRuntimeObserved, contract.LevelRuntimeObserved, contract.LevelServerVariant)
			o.ProtocolFamily = pick(r, contract.FamilyEvents, contract.FamilyEvents, contract.FamilyPlain)
			if r.IntN(8) == 0 {
				o.Install.Source = "binary:x"
			}
			if r.IntN(6) == 0 {
				o.Extensions.Violations = []contract.ContractViolation{{Kind: "run_result"}}
			}
		})
		if n := len(out.Observations); n > 0 && r.IntN(4) == 0 {
			o.Capture.RawClientTranscriptSHA256 = out.Observations[n-1].Capture.RawClientTranscriptSHA256
		}
		o.Path = fmt.Sprintf("observations/%d.observation.json", len(out.Observations))
		out.Observations = append(out.Observations, o)
	}
	for n := r.IntN(5); n > 0; n-- {
		o := pick(r, out.Observations...)
		e := contract.Evidence{Observation: contract.FileRef{Path: o.Path}, RecordedAt: time.Date(2026, 2, 1, 0, r.IntN(9), 0, 0, time.UTC).Format(time.RFC3339)}
		path := fmt.Sprintf("evidence/%d.evidence.json", len(out.Statements))
		switch r.IntN(4) {
		case 0, 1:
			e.Withdrawal = &contract.Withdrawal{By: "somebody", Reason: "wrong account"}
		case 2:
			e.Promotion = &contract.Promotion{By: "somebody", To: pick(r, contract.LevelCommunityConfirmed, contract.LevelServerVariant)}
			if len(out.Statements) > 0 && r.IntN(3) > 0 {
				e.Promotion.Reproduction = &contract.FileRef{Path: out.Statements[0].Path}
				e.Observation = out.Statements[0].Observation
			}
		default:
			if len(out.Statements) > 0 {
				e.Withdrawal = &contract.Withdrawal{By: "somebody", Reason: "by mistake", Record: &contract.FileRef{Path: out.Statements[0].Path}}
			} else {
				e.Reproduction = &contract.Reproduction{}
				if r.IntN(2) == 0 {
					e.Reproduction.Observation = &contract.FileRef{Path: pick(r, out.Observations...).Path}
				}
			}
		}
		out.Statements = append(out.Statements, store.Stated{Path: path, Evidence: e})
	}
	if r.IntN(4) == 0 {
		out.Policy = full.Policy
	}
	if r.IntN(2) == 0 {
		out.LatestSeen = contract.LatestSeen{SchemaVersion: 1, Agents: []contract.LatestSeenAgent{{Agent: "semver", Version: "3.0.0"}}}
	}
	return out
}

const deriveTablePath = "testdata/derive-table.jsonl"

// The committed table is what the matrix derives. npm/test/verify.test.mjs
// derives the same.
func TestDeriveTable(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	full := fullRecords()
	list := []*matrix.Records{full}
	for range 80 {
		list = append(list, anyRecords(r, full))
	}
	var b bytes.Buffer
	statuses := map[contract.SupportStatus]bool{}
	for i, records := range list {
		m, err := matrix.Build(records)
		if err != nil {
			t.Fatal(err)
		}
		d := derivation{Observations: []observationFacts{}, Statements: []statementFacts{}, Decided: len(records.Policy.Agents) > 0, LatestSeen: &records.LatestSeen, Matrix: m}
		if i == 0 {
			d.Agents, d.Policy = records.Agents, &records.Policy
		}
		for i := range records.Observations {
			d.Observations = append(d.Observations, facts(&records.Observations[i]))
		}
		for _, s := range records.Statements {
			d.Statements = append(d.Statements, statementFacts{s.Path, map[string]string{"path": s.Observation.Path}, s.RecordedAt, s.Withdrawal, s.Reproduction, s.Promotion})
		}
		for _, e := range m.Agents {
			statuses[e.SupportStatus] = true
		}
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if len(statuses) < 6 {
		t.Errorf("the table has the statuses %v only", statuses)
	}
	if *update {
		if err := os.WriteFile(filepath.FromSlash(deriveTablePath), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(deriveTablePath))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is not what the matrix derives; go test . -run TestDeriveTable -update writes it, and npm/src/derive.ts has to follow", deriveTablePath)
	}
}
