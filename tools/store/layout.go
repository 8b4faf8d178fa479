package store

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// timeLayout is the UTC time with milliseconds in file names; a colon is not
// allowed in a Windows file name.
const timeLayout = "2006-01-02T150405.000Z"

// ObservationPath returns the place of an observation (FINE-PRINT 3).
func ObservationPath(agent, version string, p contract.Platform, at time.Time, probe string) string {
	return recordPath("observations", agent, version, p, at, probe+".observation.json")
}

// EvidencePath returns the place of the evidence record beside an observation.
func EvidencePath(agent, version string, p contract.Platform, at time.Time, probe string) string {
	return recordPath("evidence", agent, version, p, at, probe+".evidence.json")
}

// EvidenceOf returns the place of the evidence record beside an observation.
func EvidenceOf(observation string) string {
	return "evidence" + strings.TrimSuffix(strings.TrimPrefix(observation, "observations"), ".observation.json") + ".evidence.json"
}

// SourceEvidencePath returns the place of a source-evidence record. Where no
// program ran, the platform is unknown, and so may be the version.
func SourceEvidencePath(agent, version string, p contract.Platform, at time.Time, probe string) string {
	return recordPath("evidence", agent, version, p, at, probe+".source-evidence.json")
}

// ErrorCasePath returns the place of the error case of a failed run, which
// stands beside the run's observation.
func ErrorCasePath(agent, version string, p contract.Platform, at time.Time, probe string) string {
	return recordPath("errors", agent, version, p, at, probe+".error.json")
}

func recordPath(root, agent, version string, p contract.Platform, at time.Time, name string) string {
	return path.Join(root, agent, version, string(p), at.UTC().Format(timeLayout)+"."+name)
}

// FixturePath returns the place of a sanitized transcript. The first fixture of
// a shape is named by the shape, others also by twelve characters of their
// content's hash (FINE-PRINT 7).
func FixturePath(f contract.ProtocolFamily, shape contract.Digest, content contract.Digest, first bool) string {
	kind := "sanitized"
	if f.IsRPC() {
		kind = "transcript"
	}
	return path.Join("fixtures", f.Dir(), shape.FileName()+contentPart(content, first)+"."+kind+".jsonl")
}

// GoldenPath returns the place of an adapter's reading of a fixture. adapter is
// open-design-parser or reference. Two agents may share a fixture (OpenCode and
// its forks when they print nothing) and are read apart: kind is "" for the
// first of them and the agent's id for others (FINE-PRINT 3).
func GoldenPath(adapter string, f contract.ProtocolFamily, shape, content contract.Digest, first bool, kind string) string {
	if kind != "" {
		kind = "." + kind
	}
	return path.Join("goldens", adapter, f.Dir(), shape.FileName()+contentPart(content, first)+kind+".events.json")
}

func contentPart(content contract.Digest, first bool) string {
	if first {
		return ""
	}
	return "." + content.Hex()[:12]
}

// FixtureShape returns the signature that a fixture's or golden's file name
// starts with.
func FixtureShape(rel string) (contract.Digest, error) {
	name, _, _ := strings.Cut(path.Base(rel), ".")
	d, err := contract.ParseDigest(name)
	if err != nil {
		return "", fmt.Errorf("file name %q does not start with a shape: %w", path.Base(rel), err)
	}
	return d, nil
}
