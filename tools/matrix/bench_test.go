package matrix

import (
	"fmt"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// many are 100,000 observations: 25 agents, 500 versions each, 8 probes.
func many() *Records {
	r := &Records{Agents: &contract.AgentsFile{}}
	for a := range 25 {
		def := agentsFile().Agents[0]
		def.ID = fmt.Sprintf("a%d", a)
		r.Agents.Agents = append(r.Agents.Agents, def)
		for v := range 500 {
			for p := range 8 {
				probe := rep
				if p > 0 {
					probe = fmt.Sprintf("p%d", p)
				}
				o := seen{version: fmt.Sprintf("0.%d.%d", v/5, v%5), probe: probe, shape: fmt.Sprintf("S%d.%d", v/50, p), minute: v}.observed()
				o.Agent = def.ID
				r.Observations = append(r.Observations, o)
			}
		}
	}
	return r
}

// The bar is 2 s for 100,000 observations (DESIGN section 4).
func BenchmarkBuild100k(b *testing.B) {
	r := many()
	for b.Loop() {
		if _, err := Build(r); err != nil {
			b.Fatal(err)
		}
	}
}

// The bar is 1 µs for a look-up.
func BenchmarkFind(b *testing.B) {
	r := many()
	x := index(b, r)
	for name, version := range map[string]string{"captured": "0.50.3", "newer": "3.0.0", "between": "0.50.99"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Find("a7", version, "linux-x64"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
