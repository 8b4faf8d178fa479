package leak

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// session makes a stream of about n bytes: mostly tool output and messages, as
// long sessions are.
func session(n int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":%s,"exit_code":0,"status":"completed"}}`+"\n",
			i, i, encode.Quote(strings.Repeat(fmt.Sprintf("drwxr-xr-x 2 user group 4096 Jan 1 10:%02d some file name %d\n", i%60, i), 60)))
		fmt.Fprintf(&b, `{"type":"item.completed","item":{"id":"item_%d_m","type":"agent_message","text":"Step %d is done, I looked at the files and will go on with the next part of the work."}}`+"\n", i, i)
		b.WriteString(`{"type":"turn.completed","usage":{"input_tokens":1840,"cached_input_tokens":256,"output_tokens":732}}` + "\n")
	}
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	s := NewScanner(nil)
	raw := session(8 << 20)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	before := cpu()
	for b.Loop() {
		if f := s.Scan(raw); len(f) > 0 {
			b.Fatal(f[0])
		}
	}
	b.ReportMetric(float64(len(raw))*float64(b.N)/(cpu()-before).Seconds()/1e6, "MB/cpu-s")
}

// cpu is the processor time of this process: other work on the machine does
// not count.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
