package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// synthetic is a registry of 25 agents, some versions of each, and 8 probes.
func synthetic(versions int) *Records {
	var agents []contract.Agent
	var runs []run
	for a := range 25 {
		def := agent(fmt.Sprintf("a%d", a), a%3)
		agents = append(agents, def)
		for v := range versions {
			for p := range 8 {
				probe := rep
				if p > 0 {
					probe = fmt.Sprintf("p%d", p)
				}
				runs = append(runs, run{def.ID, fmt.Sprintf("0.%d.%d", v/5, v%5), probe, fmt.Sprintf("S%d.%d", v/50, p), time.Duration(v) * time.Minute, nil})
			}
		}
	}
	return records(agents, runs...)
}

// Ten times the records, at most ten times the time (issue: 100,000
// observations).
func BenchmarkBuild(b *testing.B) {
	for _, versions := range []int{50, 500} {
		r := synthetic(versions)
		b.Run(fmt.Sprint(len(r.Observations)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Build(r, Options{Now: noon}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
