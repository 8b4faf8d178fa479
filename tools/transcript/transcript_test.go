package transcript

import (
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func event(name, reason string) Record {
	return Record{Dir: Process, Event: name, Reason: reason}
}

func exitCode(code int) Record {
	return Record{Dir: Process, Event: EventExit, ExitCode: &code}
}

func exitSignal(name string) Record {
	return Record{Dir: Process, Event: EventExit, Signal: name}
}

func TestExit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		records []Record
		ended   string
		signal  string
		class   contract.ExitClass
	}{
		{"nothing", nil, "", "", contract.ExitUnknown},
		{"spawned and cut", []Record{event(EventSpawn, "")}, "", "", contract.ExitUnknown},
		{"not started", []Record{event(EventSpawn, ReasonNotStarted)}, "", "", contract.ExitUnknown},
		{"success", []Record{exitCode(0)}, EventExit, "", contract.ExitSuccess},
		{"failure", []Record{exitCode(2)}, EventExit, "", contract.ExitNonzero},
		{"crash", []Record{exitSignal("SIGSEGV")}, EventExit, "SIGSEGV", contract.ExitSignal},
		{"our timeout", []Record{event(EventTimeout, ReasonIdleTimeout), exitSignal("SIGTERM")}, EventTimeout, "SIGTERM", contract.ExitTimeout},
		{"timeout that the child answers with an exit", []Record{event(EventTimeout, ReasonWallTimeout), exitCode(0)}, EventTimeout, "", contract.ExitTimeout},
		{"timeout and cut", []Record{event(EventTimeout, ReasonWallTimeout)}, EventTimeout, "", contract.ExitTimeout},
		{"too much output", []Record{event(EventKill, ReasonOutputLimit), exitSignal("SIGKILL")}, EventKill, "SIGKILL", contract.ExitSignal},
		{"scripted interrupt", []Record{event(EventKill, ReasonInterrupt), exitCode(130)}, EventExit, "", contract.ExitNonzero},
		{"leftovers", []Record{exitCode(0), event(EventKill, ReasonLeftover)}, EventExit, "", contract.ExitSuccess},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := &Transcript{Records: tc.records}
			_, signal, ended := tr.Exit()
			if signal != tc.signal || ended != tc.ended || tr.ExitClass() != tc.class {
				t.Errorf("signal %q, ended %q, class %q; want %q, %q, %q", signal, ended, tr.ExitClass(), tc.signal, tc.ended, tc.class)
			}
		})
	}
}

func TestLinesOfOneStream(t *testing.T) {
	tr := &Transcript{Records: []Record{
		{Dir: ServerToCLI, Stream: Stdin, DataRef: "prompt"},
		{Dir: CLIToServer, Stream: Stdout, Data: []byte("a\n")},
		{Dir: CLIToServer, Stream: Stderr, Data: []byte("noise\n")},
		{Dir: CLIToServer, Stream: Stdout, Frame: []byte(`{"b":1}`)},
		{Dir: CLIToServer, Stream: Stdout, Frame: []byte(`{"c":1}`), Deviations: []string{DeviationCRLF}},
		{Dir: CLIToServer, Stream: Stdout, Frame: []byte(`{"d":1}`), Deviations: []string{DeviationTruncatedTail}},
		exitCode(0),
	}}
	if got, want := string(tr.Bytes(CLIToServer, Stdout)), "a\n{\"b\":1}\n{\"c\":1}\r\n{\"d\":1}"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if n := len(slices.Collect(tr.Lines(ServerToCLI, Stdin))); n != 0 {
		t.Errorf("stdin has %d lines, want none: the prompt is a reference", n)
	}
	for line := range tr.Lines(CLIToServer, Stdout) {
		if string(line) != "a\n" {
			t.Errorf("first line %q", line)
		}
		break
	}
}
