package validate_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// The bars are in DESIGN section 4: that of validate is for 100,000 records, which
// 40,500 observations are with their evidence and error cases, the others for
// 100,000 observations; ten times the records may cost ten times as much. cpu-s is
// processor time, which other work on the machine does not lengthen as it does
// wall time.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{10_000, 40_500, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { scale(b, scaleRegistry(b, n)) })
	}
}

func scale(b *testing.B, reg *store.Registry) {
	for _, c := range []struct {
		name string
		run  func(*store.Registry) error
	}{{"validate", validates}, {"matrix", matrixes}, {"plan", plans}} {
		b.Run(c.name, func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				if err := c.run(reg); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
	for _, p := range peers {
		b.Run("peer-"+p.name, func(b *testing.B) {
			before, n := processorTime(b), 0
			for b.Loop() {
				var err error
				if n, err = peer(reg, p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(n), "records")
		})
	}
}

func validates(reg *store.Registry) error {
	r, err := validate.Run(reg, nil)
	if err == nil && len(r.Problems) > 0 {
		err = fmt.Errorf("%d problems, such as %v", len(r.Problems), r.Problems[0])
	}
	return err
}

func matrixes(reg *store.Registry) error {
	_, same, err := matrix.Check(reg)
	if err == nil && !same {
		err = fmt.Errorf("the matrix is not what the records give")
	}
	return err
}

func plans(reg *store.Registry) error {
	r, err := plan.Load(reg)
	if err != nil {
		return err
	}
	_, err = plan.Build(r, plan.Options{Now: time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)})
	return err
}

func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
