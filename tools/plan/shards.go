package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// MaxShards is the largest matrix that GitHub runs.
const MaxShards = 256

// GitHubMatrix is the strategy.matrix of a GitHub Actions job.
type GitHubMatrix struct {
	Include []Shard `json:"include"`
}

// Shard is one job.
type Shard struct {
	Shard    string            `json:"shard"` // <platform>-<n>
	Platform contract.Platform `json:"platform"`
	RunsOn   string            `json:"runs_on"`
	// Inputs is a JSON list of Capture Inputs, for capture --input: no part of it
	// reaches a shell.
	Inputs   string   `json:"inputs"`
	Estimate Estimate `json:"estimate"`
}

// runners are GitHub's images by platform.
var runners = map[contract.Platform]string{
	"linux-x64": "ubuntu-24.04", "linux-arm64": "ubuntu-24.04-arm", "darwin-arm64": "macos-15", "darwin-x64": "macos-15-intel", "win32-x64": "windows-2025",
}

// input is the specification's Capture Input.
type input struct {
	Agent          string                  `json:"agent"`
	TargetVersion  string                  `json:"target_version"`
	Platform       contract.Platform       `json:"platform"`
	Probe          string                  `json:"probe"`
	ProtocolFamily contract.ProtocolFamily `json:"protocol_family"`
}

// Matrix spreads a plan over at most n jobs, a version in one job and the jobs
// about equally long. Items on platforms without a runner are an error.
func (p *Plan) Matrix(n int, known *contract.AgentsFile) (*GitHubMatrix, error) {
	if n < 1 || n > MaxShards {
		return nil, fmt.Errorf("%d shards: want 1 to %d", n, MaxShards)
	}
	byPlatform := map[contract.Platform][]*Item{}
	for i := range p.Items {
		it := &p.Items[i]
		if runners[it.Platform] == "" {
			return nil, fmt.Errorf("GitHub has no runner for the platform %q", it.Platform)
		}
		byPlatform[it.Platform] = append(byPlatform[it.Platform], it)
	}
	if len(byPlatform) > n {
		return nil, fmt.Errorf("%d shards are too few for %d platforms: a job runs on one", n, len(byPlatform))
	}
	m := &GitHubMatrix{Include: []Shard{}}
	for platform, shards := range allot(byPlatform, n) {
		for i, items := range spread(byPlatform[platform], shards) {
			s := Shard{Shard: fmt.Sprintf("%s-%d", platform, i+1), Platform: platform, RunsOn: runners[platform]}
			var err error
			if s.Inputs, err = Inputs(items, known); err != nil {
				return nil, err
			}
			for _, it := range items {
				s.Estimate.add(it.Estimate)
			}
			m.Include = append(m.Include, s)
		}
	}
	slices.SortFunc(m.Include, func(a, b Shard) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(len(a.Shard), len(b.Shard)), cmp.Compare(a.Shard, b.Shard))
	})
	return m, nil
}

// allot gives each platform one job and the rest to those with the longest
// jobs, never more than it has items.
func allot(byPlatform map[contract.Platform][]*Item, n int) map[contract.Platform]int {
	out, seconds := map[contract.Platform]int{}, map[contract.Platform]int{}
	for platform, items := range byPlatform {
		out[platform] = 1
		for _, it := range items {
			seconds[platform] += it.Estimate.Seconds
		}
	}
	for used := len(out); used < n; used++ {
		var best contract.Platform
		for platform := range out {
			if out[platform] == len(byPlatform[platform]) {
				continue
			}
			a, b := seconds[platform]/out[platform], seconds[best]/max(1, out[best])
			if best == "" || a > b || a == b && platform < best {
				best = platform
			}
		}
		if best == "" {
			break
		}
		out[best]++
	}
	return out
}

// spread puts each item, the longest first, into the shortest job.
func spread(items []*Item, n int) [][]*Item {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b *Item) int { return cmp.Compare(b.Estimate.Seconds, a.Estimate.Seconds) })
	out, seconds := make([][]*Item, n), make([]int, n)
	for _, it := range sorted {
		i := slices.Index(seconds, slices.Min(seconds))
		out[i] = append(out[i], it)
		seconds[i] += it.Estimate.Seconds
	}
	return out
}

// Inputs is the JSON list of Capture Inputs that capture --input reads to do
// these items.
func Inputs(items []*Item, known *contract.AgentsFile) (string, error) {
	list := []input{}
	for _, it := range items {
		family := known.Agent(it.Agent).ProtocolFamilies[0]
		for _, probe := range it.Probes {
			list = append(list, input{it.Agent, it.Version, it.Platform, probe, family})
		}
	}
	b, err := json.Marshal(list)
	return string(b), err
}
