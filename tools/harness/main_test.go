//go:build unix

package harness

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The test binary plays the children: AC_TEST_CHILD names the role.
func TestMain(m *testing.M) {
	if SuperviseMain() {
		os.Exit(0)
	}
	if role := os.Getenv("AC_TEST_CHILD"); role != "" {
		os.Exit(roles[role](os.Args[1:]))
	}
	os.Exit(m.Run())
}

var roles map[string]func(args []string) int

func init() { // the roles start each other, which a literal could not say
	roles = map[string]func([]string) int{
		"print": playPrint, "flood": playFlood, "silent": playSilent, "stubborn": playStubborn,
		"polite": playPolite, "echo": playEcho, "deaf": playDeaf,
		"closestdin": playCloseStdin, "leave": playLeave, "linger": playLinger, "whoami": playWhoami,
		"dial": playDial, "serve": playServe, "parent": playParent, "chatter": playChatter,
	}
}

// playPrint prints its first argument and exits with the second.
func playPrint(args []string) int {
	fmt.Print(args[0])
	fmt.Fprint(os.Stderr, "diagnostic\n")
	code, _ := strconv.Atoi(args[1])
	return code
}

// playFlood prints as many MiB on one line as its argument says.
func playFlood(args []string) int {
	n, _ := strconv.Atoi(args[0])
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range n {
		if _, err := os.Stdout.Write(block); err != nil {
			return 1
		}
	}
	return 0
}

func playSilent([]string) int { return forever() }

func playChatter([]string) int {
	for {
		if _, err := fmt.Println("still here"); err != nil {
			return 1
		}
	}
}

func playStubborn([]string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready")
	return forever()
}

func playPolite([]string) int {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready")
	fmt.Println("got", <-c)
	return 7
}

// playEcho answers each line of stdin until stdin ends.
func playEcho([]string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Printf("echo %s\n", in.Text())
	}
	return 0
}

// playDeaf never reads stdin, prints a lot, and ends.
func playDeaf([]string) int {
	for i := range 20_000 {
		fmt.Printf("line %d that nobody asked for, long enough to fill every buffer on the way\n", i)
	}
	return 0
}

func playCloseStdin([]string) int {
	os.Stdin.Close()
	fmt.Println("closed")
	return 0
}

// playLeave starts lingering descendants and exits. The argument says how they
// live: "hold" keeps the pipes, "daemon" leaves the session.
func playLeave(args []string) int {
	cmd := exec.Command("/proc/self/exe", args[1])
	cmd.Env = append(os.Environ(), "AC_TEST_CHILD=linger")
	if args[0] == "hold" {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	ready, done, err := os.Pipe()
	if err != nil {
		return 1
	}
	cmd.ExtraFiles = []*os.File{done}
	if cmd.Start() != nil {
		return 1
	}
	done.Close()
	io.Copy(io.Discard, ready)
	fmt.Println("left")
	if len(args) > 2 && args[2] == "stay" {
		return forever()
	}
	return 0
}

// playLinger holds the life line in its argument open and ignores whatever it
// can, as does a child of its own in yet another session.
func playLinger(args []string) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	line, err := os.OpenFile(args[0], os.O_WRONLY, 0)
	if err != nil {
		return 1
	}
	if len(args) == 1 {
		cmd := exec.Command("/proc/self/exe", args[0], "last")
		cmd.Env = os.Environ()
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "ready")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if cmd.Start() != nil {
			return 1
		}
	}
	fmt.Fprintln(line, "up")
	os.NewFile(3, "ready").Close()
	return forever()
}

func playWhoami([]string) int {
	groups, _ := os.Getgroups()
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	status, _ := os.ReadFile("/proc/self/status")
	caps := "unknown"
	for l := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(l, "CapEff:"); ok {
			caps = strings.Trim(strings.TrimSpace(v), "0")
		}
	}
	fmt.Printf("uid %d gid %d groups %v caps %q leader %v env %d\n",
		os.Getuid(), os.Getgid(), groups, caps, int(sid) == os.Getpid(), len(os.Environ()))
	return 0
}

// playDial talks to the provider and tries to leave the machine.
func playDial(args []string) int {
	c, err := net.Dial("tcp", args[0])
	if err != nil {
		fmt.Println("provider: unreachable")
		return 1
	}
	b, _ := io.ReadAll(c)
	fmt.Printf("provider: %s\n", b)
	_, err = net.Dial("tcp", "192.0.2.1:9")
	if err == nil || !strings.Contains(err.Error(), "network is unreachable") {
		fmt.Println("outside: reachable")
		return 1
	}
	fmt.Println("outside: network is unreachable")
	return 0
}

// playServe makes a sandbox as whoever it is, and reports.
func playServe([]string) int {
	s, err := NewSandbox(context.Background(), Options{})
	if err != nil {
		fmt.Println("no sandbox:", err)
		return 1
	}
	fmt.Printf("isolated %v, problem %v\n", s.Isolated(), s.Problem() != "")
	spec := childSpec("whoami")
	spec.Path = "/proc/self/exe" // the binary's own folder may be closed to us
	spec.Tap = func(_ transcript.Stream, chunk []byte) { os.Stdout.Write(chunk) }
	res, err := s.Run(context.Background(), spec)
	if err != nil || s.Close() != nil {
		fmt.Println("no run:", err)
		return 1
	}
	return *res.ExitCode
}

// playParent runs and records a child that leaves descendants, for a test that
// kills it.
func playParent(args []string) int {
	s, err := NewSandbox(context.Background(), Options{})
	if err != nil {
		return 1
	}
	spec := childSpec("leave", "daemon", args[0], "stay")
	if spec.Bundle, err = transcript.CreateBundle(args[1]); err != nil {
		return 1
	}
	s.Run(context.Background(), spec)
	return 1
}

func forever() int {
	for {
		time.Sleep(time.Hour)
	}
}
