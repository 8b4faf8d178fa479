//go:build unix

package record

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// printing is how much the CLI of the throughput benchmark prints.
const printing = 512 << 20

// BenchmarkThroughput is how fast output passes through the recorder into the
// bundle and to a host that reads it. cpu-MB/s is the output for each second of
// the recorder's own processor time, whatever else the machine does; max-MB is
// the most memory that the recorder held.
func BenchmarkThroughput(b *testing.B) {
	b.SetBytes(printing)
	var cpu float64
	var most int64
	for b.Loop() {
		cmd, place := recording(b, "exec head -c "+strconv.Itoa(printing)+" /dev/zero")
		drain(b, cmd)
		os.Remove(place)
		c, m := used(cmd.ProcessState)
		cpu, most = cpu+c, max(most, m)
	}
	b.ReportMetric(float64(b.N)*printing/1e6/cpu, "cpu-MB/s")
	b.ReportMetric(float64(most)/1e6, "max-MB")
}

// drain runs a command and reads its stdout to the end.
func drain(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{stdout}, make([]byte, 256<<10)); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

// cli prints 200 lines in some two seconds, as a model's answer comes.
const cli = `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo '{"type":"item.completed","item":{"text":"some words of an answer"}}'; sleep 0.01; done`

// BenchmarkCost runs the same CLI bare and recorded, in turns, and reports how
// much longer a recorded run takes. Only the recorder of the test binary is
// measured; BenchmarkCommand of package cmd/agent-contracts starts the program
// itself.
func BenchmarkCost(b *testing.B) {
	var bare, recorded float64
	for b.Loop() {
		runtime.GC()
		bare += seconds(b, exec.Command("sh", "-c", cli))
		cmd, _ := recording(b, cli)
		recorded += seconds(b, cmd)
	}
	b.ReportMetric(100*(recorded/bare-1), "%slower")
	b.ReportMetric(1000*(recorded-bare)/float64(b.N), "ms-slower/run")
}
