//go:build unix

package record

import (
	"io"
	"os"
	"os/exec"
	"slices"
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

// BenchmarkCost runs a CLI that prints 200 lines in two seconds, as a model's
// answer comes, bare and recorded in turns. It reports by how much the median
// recorded run is longer, and how much more processor time it takes for each
// second of a bare run, which does not depend on what else the machine does.
func BenchmarkCost(b *testing.B) {
	var bare, recorded, cpu []float64
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		plain := exec.Command(self, "speak")
		plain.Env = append(os.Environ(), "RECORDER_SPEAKS=1")
		bare = append(bare, seconds(b, plain))
		cmd, place := recordingOf(b, self, "speak")
		cmd.Env = append(cmd.Env, "RECORDER_SPEAKS=1")
		recorded = append(recorded, seconds(b, cmd))
		os.Remove(place)
		more, _ := used(cmd.ProcessState)
		less, _ := used(plain.ProcessState)
		cpu = append(cpu, more-less)
	}
	b.ReportMetric(100*(median(recorded)/median(bare)-1), "%slower")
	b.ReportMetric(100*median(cpu)/median(bare), "%cpu")
	b.ReportMetric(1000*(median(recorded)-median(bare)), "ms-slower/run")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
