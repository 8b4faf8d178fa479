package redact_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/longrun"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// BenchmarkWhole measures what stands between a raw transcript in memory and its
// record: redaction with its leak scan, the shape of the result, and the hash of
// its canonical form. The proof with both adapters comes on top. MB/user-s is
// user time of this process: other work on the machine does not count.
func BenchmarkWhole(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program has it
	families, r := fromRegistry(b)
	for _, dialect := range longrun.Dialects {
		b.Run(dialect, func(b *testing.B) {
			raw := linesOf(longrun.Make(dialect, 4<<20, 7))
			in := redact.Input{Dialect: dialect, Cwd: longrun.Cwd, Home: "/home/user"}
			n := len(raw.Bytes(transcript.CLIToServer, transcript.Stdout))
			b.SetBytes(int64(n))
			var redacting, shaping, hashing time.Duration
			for b.Loop() {
				runtime.GC()
				start := userTime()
				clean, rep, err := r.Redact(raw, in)
				if err != nil || rep.Status != contract.RedactionPassed {
					b.Fatal(err, rep.Status, rep.Findings, rep.Unsure)
				}
				redacted := userTime()
				if _, _, err := normalize.Shape(clean, families.Dialect(dialect), contract.LevelRuntimeObserved); err != nil {
					b.Fatal(err)
				}
				shaped := userTime()
				h := sha256.New()
				if err := clean.WriteSanitized(h); err != nil {
					b.Fatal(err)
				}
				h.Sum(nil)
				redacting, shaping, hashing = redacting+redacted-start, shaping+shaped-redacted, hashing+userTime()-shaped
			}
			rate := func(d time.Duration) float64 { return float64(n) * float64(b.N) / 1e6 / max(d.Seconds(), 1e-9) }
			b.ReportMetric(rate(redacting), "redact-MB/user-s")
			b.ReportMetric(rate(shaping), "shape-MB/user-s")
			b.ReportMetric(rate(hashing), "hash-MB/user-s")
			b.ReportMetric(rate(redacting+shaping+hashing), "MB/user-s")
		})
	}
}

// BenchmarkMemory measures what redaction has in memory at most beside the raw
// transcript, in bytes for a byte of it: the sanitized transcript, and the rest.
// What is constant in the length of a run does not show at 100 MB.
func BenchmarkMemory(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // to see the heap often
	_, r := fromRegistry(b)
	for _, dialect := range longrun.Dialects {
		for _, megabytes := range []int{10, 100} {
			b.Run(fmt.Sprintf("%s-%dMB", dialect, megabytes), func(b *testing.B) {
				raw := linesOf(longrun.Make(dialect, megabytes<<20, 7))
				n := float64(len(raw.Bytes(transcript.CLIToServer, transcript.Stdout)))
				for b.Loop() {
					runtime.GC()
					before := liveHeap()
					peak := watchHeap()
					clean, _, err := r.Redact(raw, redact.Input{Dialect: dialect, Cwd: longrun.Cwd, Home: "/home/user"})
					if err != nil {
						b.Fatal(err)
					}
					most := max(peak(), before)
					runtime.GC()
					result := max(liveHeap(), before) - before
					b.ReportMetric(float64(most-before)/n, "peak/byte")
					b.ReportMetric(float64(result)/n, "result/byte")
					runtime.KeepAlive(clean)
				}
				runtime.KeepAlive(raw)
			})
		}
	}
}

// liveHeap is what the last collection found alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// sentinel is garbage, which a collection finds. It is large enough to be alone.
type sentinel [64]byte

// watchHeap looks at the live heap after each collection, until the function is
// called that it returns.
func watchHeap() func() uint64 {
	var peak atomic.Uint64
	var done atomic.Bool
	var arm func()
	arm = func() {
		runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
			for old, now := peak.Load(), liveHeap(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
			}
			if !done.Load() {
				arm()
			}
		})
	}
	arm()
	return func() uint64 {
		done.Store(true)
		return peak.Load()
	}
}

func fromRegistry(t testing.TB) (*contract.Families, *redact.Redactor) {
	t.Helper()
	var f contract.Families
	b, err := os.ReadFile(filepath.Join("..", "..", "registry", "families.json"))
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(filepath.Join("..", "..", "registry", "vocabulary.json")); err != nil {
		t.Fatal(err)
	}
	v, err := redact.ParseVocabulary(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(&f, v)
	if err != nil {
		t.Fatal(err)
	}
	return &f, r
}

func linesOf(stdout []byte) *transcript.Transcript {
	t := &transcript.Transcript{}
	for line := range strings.Lines(string(stdout)) {
		t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line)})
	}
	return t
}

func userTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}
