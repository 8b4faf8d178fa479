//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is the file that plays agent-contracts and its CLIs: this test
// binary, or under the race detector the same tests without it. A raced program
// starts and reads many times slower, and what runs at once inside it is
// raced in the tests of its packages and in those that call raced.
var program string

// tests runs the tests after program is there, and in the place of the commands
// that package testscript has put into PATH.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	if err := prepareProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "making the program under test:", err)
		return 1
	}
	return t.m.Run()
}

func prepareProgram() (err error) {
	if program, err = os.Executable(); err != nil || !raceEnabled {
		return err
	}
	installed, err := exec.LookPath("agent-contracts")
	if err != nil {
		return err
	}
	dir := filepath.Dir(installed)
	program = filepath.Join(dir, "without-race.test")
	build := exec.Command("go", "test", "-race=false", "-c", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for name := range commands {
		place := filepath.Join(dir, name)
		if err := os.Remove(place); err != nil {
			return err
		}
		if err := os.Link(program, place); err != nil {
			return err
		}
	}
	return nil
}

// install puts a program there, as a link where the file system allows it.
func install(from, to string) error {
	if os.Link(from, to) != nil { // another file system
		if err := copyFile(from, to); err != nil {
			return err
		}
	}
	return os.Chmod(to, 0o755)
}
