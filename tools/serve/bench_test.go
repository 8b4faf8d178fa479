//go:build unix

package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCompatibility asks the compatibility route over TCP from 32 clients
// at once, who keep their connections. It reports requests a second and the
// 99th percentile of what one takes: the bar is 2,000 and 20 ms on two cores,
// which clients and server share. cpu-µs/request is the processor time of both,
// which says more than the others on a machine with other work.
func BenchmarkCompatibility(b *testing.B) {
	w := newWorld(b)
	w.install(b, "codex", "codex-cli 0.144.0")
	url := "http://" + w.start(b) + "/api/agents/codex/cli-compatibility?probe=0"
	const clients = 32
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DialContext: (&net.Dialer{}).DialContext}}
	get := func() error {
		res, err := client.Get(url)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", res.StatusCode)
		}
		return nil
	}
	if err := get(); err != nil { // the first one starts the program
		b.Fatal(err)
	}
	took := make([][]time.Duration, clients)
	var left sync.WaitGroup
	before := cpuTime(b)
	b.ResetTimer()
	for c := range clients {
		left.Go(func() {
			for i := c; i < b.N; i += clients {
				start := time.Now()
				if err := get(); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(start))
			}
		})
	}
	left.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/request")
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}

// cpuTime is the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkPage is a page from the cache, with its checks.
func BenchmarkPage(b *testing.B) {
	w := newWorld(b)
	for b.Loop() {
		if rec := w.get("/codex/", nil); rec.Code != http.StatusOK {
			b.Fatal(rec.Code)
		}
	}
}
