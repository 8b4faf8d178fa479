package plan

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Estimate says what captures cost.
type Estimate struct {
	Runs    int `json:"runs"`
	Seconds int `json:"seconds"` // on one machine of two cores
	// DownloadBytes come from the package registry and lie in the cache;
	// RegistryBytes are what the records take.
	DownloadBytes int64 `json:"download_bytes"`
	RegistryBytes int64 `json:"registry_bytes"`
}

func (e *Estimate) add(f Estimate) {
	e.Runs += f.Runs
	e.Seconds += f.Seconds
	e.DownloadBytes += f.DownloadBytes
	e.RegistryBytes += f.RegistryBytes
}

// Measured on two cores: the median of the nine basic probes of an agent takes
// so many seconds, a release some 230 MB, its installation 20 s, and an
// observation with all that belongs to it some 44 kB.
const (
	installSeconds  = 20
	installBytes    = 230 << 20
	recordBytes     = 44 << 10
	measuredProbes  = 9
	unmeasuredAgent = 120 // seconds for nine probes
)

// nineProbes are those seconds by agent.
var nineProbes = map[string]int{
	"codex": 63, "claude": 53, "pi": 58, "kimi": 94, "qwen": 172, "gemini": 226, "copilot": 229, "opencode": 264, "byok-opencode": 264, "kilo": 440,
}

// estimate says what capturing probes of one version costs.
func estimate(a *contract.Agent, probes []string) Estimate {
	runs := 0
	for _, p := range probes {
		runs += profiles(a, p)
	}
	per := nineProbes[a.ID]
	if per == 0 {
		per = unmeasuredAgent
	}
	return Estimate{Runs: runs, Seconds: installSeconds + (runs*per+measuredProbes-1)/measuredProbes, DownloadBytes: installBytes, RegistryBytes: int64(runs) * recordBytes}
}

// profiles counts the argv profiles that start a probe; one at least.
func profiles(a *contract.Agent, probe string) int {
	var seen []string
	for i := range a.Launches {
		l := &a.Launches[i]
		if (len(l.Probes) == 0 || slices.Contains(l.Probes, probe)) && !slices.Contains(seen, l.Profile) {
			seen = append(seen, l.Profile)
		}
	}
	return max(1, len(seen))
}
