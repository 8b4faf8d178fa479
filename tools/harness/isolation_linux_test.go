package harness

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is an unprivileged id that needs no entry in a user database.
const nobody = 65534

func needIsolation(t *testing.T) *Sandbox {
	t.Helper()
	s := newTestSandbox(t)
	if !s.Isolated() {
		t.Skip("this system refuses network namespaces: " + s.Problem())
	}
	return s
}

// The child reaches what this process serves on the sandbox's listener, and
// nothing else.
func TestIsolatedChildReachesOnlyTheListener(t *testing.T) {
	s := needIsolation(t)
	go func() {
		c, err := s.Listener().Accept()
		if err != nil {
			return
		}
		fmt.Fprint(c, "served")
		c.Close()
	}()
	res, tr := recordIn(t, context.Background(), s, childSpec("dial", s.Listener().Addr().String()))
	if *res.ExitCode != 0 || stdout(tr) != "provider: served\noutside: network is unreachable\n" {
		t.Errorf("%+v, stdout %q", res, stdout(tr))
	}
	// The listener lives in there: this process does not reach it.
	if c, err := net.Dial("tcp", s.Listener().Addr().String()); err == nil {
		c.Close()
		t.Error("the listener is reached from outside the sandbox")
	}
}

func TestHostNetworkSandbox(t *testing.T) {
	s, err := NewSandbox(context.Background(), Options{HostNetwork: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Isolated() || s.Problem() != "" {
		t.Errorf("isolated %v, problem %q", s.Isolated(), s.Problem())
	}
	accepted := make(chan struct{})
	go func() {
		if c, err := s.Listener().Accept(); err == nil {
			c.Close()
			close(accepted)
		}
	}()
	c, err := net.Dial("tcp", s.Listener().Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	<-accepted
}

// As root the child runs as somebody else, with no group and no capability.
func TestChildRunsUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change ids")
	}
	spec := childSpec("whoami")
	spec.UID, spec.GID = nobody, nobody
	spec.Path = "/proc/self/exe" // the binary's own folder is closed to others
	res, tr := record(t, spec)
	want := `uid 65534 gid 65534 groups [] caps "" leader true env 1` + "\n"
	if *res.ExitCode != 0 || stdout(tr) != want {
		t.Errorf("%+v, stdout %q, want %q", res, stdout(tr), want)
	}
}

// The child gets three descriptors and no signal setting, whatever this
// program was started with.
func TestChildInheritsNothingElse(t *testing.T) {
	leak, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	if _, err := unix.FcntlInt(leak.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	spec := shellSpec("")
	spec.Path, spec.Args = "/bin/ls", []string{"/proc/self/fd"}
	if _, tr := record(t, spec); stdout(tr) != "0\n1\n2\n3\n" { // 3 is the folder itself
		t.Errorf("descriptors %q", stdout(tr))
	}
	spec.Path, spec.Args = "/bin/grep", []string{"-E", "Sig(Blk|Ign)", "/proc/self/status"}
	if _, tr := record(t, spec); strings.Trim(stdout(tr), "SigBlkIn:\t0\n") != "" {
		t.Errorf("signals %q", stdout(tr))
	}
}

// Without root a user namespace isolates, where the system allows it; the
// child keeps its id and has no capability in there.
func TestSandboxWithoutRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the other tests show it")
	}
	cmd := serveCommand()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.Output()
	first, rest, _ := strings.Cut(string(out), "\n")
	if err != nil || first != "isolated true, problem false" && first != "isolated false, problem true" {
		t.Fatalf("%v, stdout %q", err, out)
	}
	t.Log(first)
	if rest != `uid 65534 gid 65534 groups [] caps "" leader true env 1`+"\n" {
		t.Errorf("the child says %q", rest)
	}
}

// Where namespaces are refused there is a sandbox all the same, which says so.
func TestFallbackWithoutNamespaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give up the capability that isolates")
	}
	out := make(chan string)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread is spoilt
		err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
		b, rerr := serveCommand().Output()
		out <- fmt.Sprint(string(b), err, rerr)
	}()
	want := "isolated false, problem true\n" + `uid 0 gid 0`
	if got := <-out; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "<nil> <nil>") {
		t.Errorf("stdout and errors %q", got)
	}
}

func serveCommand() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"AC_TEST_CHILD=serve"}
	cmd.Dir = "/"
	return cmd
}

func TestNewSandboxNeedsSuperviseMain(t *testing.T) {
	armed.Store(false)
	defer armed.Store(true)
	if _, err := NewSandbox(context.Background(), Options{}); err != ErrUnsupervised {
		t.Errorf("%v", err)
	}
}

func TestNewSandboxCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, err := NewSandbox(ctx, Options{}); err == nil {
		s.Close()
		t.Error("a cancelled start succeeds")
	}
}
