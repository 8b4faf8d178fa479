//go:build unix

package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// TestMain makes the test binary the recorder that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv("RECORDER_SPEAKS") != "" && os.Getenv("RECORDER_BUNDLE") == "" {
		speak()
		os.Exit(0)
	}
	if place := os.Getenv("RECORDER_BUNDLE"); place != "" {
		os.Exit(recorderMain(place, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// speak prints 200 lines in two seconds.
func speak() {
	for range 200 {
		fmt.Println(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"some words of an answer"}}`)
		time.Sleep(10 * time.Millisecond)
	}
}

func recorderMain(place string, args []string) int {
	os.Unsetenv("RECORDER_BUNDLE")
	bundle, err := transcript.CreateBundle(place)
	if err != nil {
		return 100
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return 101
	}
	res, err := Run(Options{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Bundle: bundle})
	if err != nil {
		return 102
	}
	if _, err := bundle.Close(); err != nil || res.Lost != nil {
		return 103
	}
	if res.Signal != nil {
		_ = DieBy(res.Signal)
		return 104
	}
	return res.Code
}

// recording returns a command that records a shell script, and the bundle.
func recording(t testing.TB, script string) (*exec.Cmd, string) {
	t.Helper()
	return recordingOf(t, "sh", "-c", script)
}

// recordingOf returns a command that records another one, and the bundle. With
// AGENT_CONTRACTS it is the program of that name, else this test's own process.
func recordingOf(t testing.TB, args ...string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(t.TempDir(), "bundle")
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "RECORDER_BUNDLE="+place)
	if program := os.Getenv("AGENT_CONTRACTS"); program != "" {
		cmd = exec.Command(program, append([]string{"record", "--out", place, "--"}, args...)...)
		cmd.Env = os.Environ()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as OpenDesign starts its children
	return cmd, place
}

func read(t *testing.T, place string) *transcript.Transcript {
	t.Helper()
	r, err := transcript.OpenBundle(place)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := transcript.Assemble(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Truncated() {
		t.Error("the bundle was cut")
	}
	return out
}

func ended(err error) (code int, signal syscall.Signal) {
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return 0, 0
	}
	status := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -1, status.Signal()
	}
	return status.ExitStatus(), 0
}

func TestTransparent(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, c := range []struct {
		name, script   string
		stdin          []byte
		stdout, stderr string
		code           int
		signal         syscall.Signal
	}{
		{"exit code", "echo out; echo err >&2; exit 7", nil, "out\n", "err\n", 7, 0},
		{"every byte", "cat", every, string(every), "", 0, 0},
		{"end of stdin", "wc -c | tr -d ' '", []byte("12345"), "5\n", "", 0, 0},
		{"stdin that nobody reads", "exit 3", bytes.Repeat([]byte("x"), 1<<20), "", "", 3, 0},
		{"nothing", "", nil, "", "", 0, 0},
		{"SIGTERM", "kill -TERM $$", nil, "", "", -1, syscall.SIGTERM},
		{"SIGKILL", "kill -KILL $$", nil, "", "", -1, syscall.SIGKILL},
		{"a crash", "kill -SEGV $$", nil, "", "", -1, syscall.SIGSEGV},
		{"a broken pipe", "kill -PIPE $$", nil, "", "", -1, syscall.SIGPIPE},
		{"what a descendant prints later", "(sleep 0.2; echo late) & exit 4", nil, "late\n", "", 4, 0},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			cmd, place := recording(t, c.script)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if c.stdin != nil {
				cmd.Stdin = bytes.NewReader(c.stdin)
			}
			code, signal := ended(cmd.Run())
			if code != c.code || signal != c.signal {
				t.Errorf("exit %d, signal %v; want %d, %v", code, signal, c.code, c.signal)
			}
			if stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%d bytes on stdout and %d on stderr, want %d and %d", stdout.Len(), stderr.Len(), len(c.stdout), len(c.stderr))
			}
			kept := read(t, place)
			if !bytes.Equal(kept.Bytes(transcript.CLIToServer, transcript.Stdout), stdout.Bytes()) ||
				!bytes.Equal(kept.Bytes(transcript.CLIToServer, transcript.Stderr), stderr.Bytes()) {
				t.Error("the bundle has other bytes than the host")
			}
			if in := kept.Bytes(transcript.ServerToCLI, transcript.Stdin); !bytes.HasPrefix(c.stdin, in) || c.code == 0 && len(in) != len(c.stdin) {
				t.Errorf("%d bytes of stdin were kept of %d", len(in), len(c.stdin))
			}
			gotCode, gotSignal, _ := kept.Exit()
			if c.signal == 0 && (gotCode == nil || *gotCode != c.code) || c.signal != 0 && gotSignal != name(c.signal) {
				t.Errorf("the bundle ends with %v %q", gotCode, gotSignal)
			}
		})
	}
}

// A signal reaches the CLI once, whether the host sends it to its child or to
// the child's whole group.
func TestSignalsPassOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		group bool
		sig   syscall.Signal
	}{
		{"to the child", false, syscall.SIGTERM},
		{"to the group", true, syscall.SIGTERM},
		{"interrupt of the group", true, syscall.SIGINT},
		{"usr1", false, syscall.SIGUSR1},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			cmd, _ := recording(t, `trap 'echo got; got=1' TERM INT USR1
echo ready; while [ -z "$got" ]; do sleep 0.01; done; read line; echo end`)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			expect(t, stdout, "ready\n")
			pid := cmd.Process.Pid
			if c.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, c.sig); err != nil {
				t.Fatal(err)
			}
			expect(t, stdout, "got\n")
			fmt.Fprintln(stdin, "go on")
			rest, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			if string(rest) != "end\n" {
				t.Errorf("after the signal: %q, want only the end", rest)
			}
			if code, signal := ended(cmd.Wait()); code != 0 || signal != 0 {
				t.Errorf("exit %d, signal %v", code, signal)
			}
		})
	}
}

// expect reads exactly that from a stream.
func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("read %q (%v), want %q", got, err, want)
	}
}

// Each line of a host comes to the CLI while stdin stays open, and back.
func TestConversation(t *testing.T) {
	cmd, place := recording(t, `while read line; do echo "<$line>"; done; echo closed`)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		fmt.Fprintf(stdin, "%d\n", i)
		expect(t, stdout, fmt.Sprintf("<%d>\n", i))
	}
	stdin.Close()
	expect(t, stdout, "closed\n")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	var order []string
	for _, r := range read(t, place).Records {
		if r.Stream != "" {
			order = append(order, strings.TrimSpace(string(r.Data)))
		}
	}
	if got := strings.Join(order, " "); got != "0 <0> 1 <1> 2 <2> closed" {
		t.Errorf("kept in the order %s", got)
	}
}

// A host that stops reading ends the CLI as it would without the recorder.
func TestHostHangsUp(t *testing.T) {
	cmd, _ := recording(t, "yes; echo $? >&2")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	expect(t, stdout, "y\n")
	stdout.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the shell behind the recorder: %v", err)
	}
	if got := strings.TrimSpace(stderr.String()); !strings.HasSuffix(got, "141") && !strings.HasSuffix(got, "1") {
		t.Errorf("the CLI ended with %q, want a broken pipe", got)
	}
}

// Nothing is left of the CLI when the recorder is killed.
func TestKilledRecorder(t *testing.T) {
	cmd, _ := recording(t, "echo $$; exec sleep 600")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanln(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for range 6000 { // a minute
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the CLI outlived its recorder")
}
