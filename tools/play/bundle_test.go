package play

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// writes notes each write of its own.
type writes struct{ list []string }

// Write implements io.Writer.
func (w *writes) Write(b []byte) (int, error) {
	w.list = append(w.list, string(b))
	return len(b), nil
}

// A raw bundle is played in its chunks, wherever they were cut; what the child
// was told is awaited line by line.
func TestChunksOfABundle(t *testing.T) {
	place := filepath.Join(t.TempDir(), "bundle")
	w, err := transcript.CreateBundle(place)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	half := len(user) / 2
	chunks := []string{`{"type":"sys`, `tem"}` + "\n" + turnIsOver[:20], turnIsOver[20:], "\n", "caf\xc3", "\xa9\n"}
	for _, err := range []error{
		w.Process(0, transcript.ProcessEvent{Event: transcript.EventSpawn}),
		w.Chunk(transcript.ServerToCLI, transcript.Stdin, 1, []byte(user[:half])),
		w.Chunk(transcript.ServerToCLI, transcript.Stdin, 2, []byte(user[half:]+"\n")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range chunks {
		if err := w.Chunk(transcript.CLIToServer, transcript.Stdout, 3, []byte(c)); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		w.End(transcript.ServerToCLI, transcript.Stdin, 4, "closed"),
		w.End(transcript.CLIToServer, transcript.Stdout, 4, "eof"),
		w.Process(5, transcript.ProcessEvent{Event: transcript.EventExit, ExitCode: &zero}),
		w.Chunk(transcript.CLIToFile, transcript.Session, 6, []byte("{}\n")), // no pipe carried it
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := transcript.OpenBundle(place)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := FromBundle(r, "")
	if err != nil {
		t.Fatal(err)
	}
	stdin, host := io.Pipe()
	var stdout writes
	go func() {
		_, _ = io.WriteString(host, user+"\n")
		host.Close()
	}()
	rec.turnOver = 0 // this host does not look at the output
	end, err := Play(rec, Options{Stdin: stdin, Stdout: &stdout, Stderr: io.Discard})
	if err != nil || end != (Ending{}) {
		t.Fatalf("end %v, error %v", end, err)
	}
	if !slices.Equal(stdout.list, chunks) {
		t.Errorf("played in the chunks %q, want %q", strings.Join(stdout.list, "|"), strings.Join(chunks, "|"))
	}
}

// In a bundle too, the turn is over with the chunk that ends it.
func TestTurnOverInChunks(t *testing.T) {
	rec := &Recording{steps: []step{{stream: transcript.Stdout, data: []byte(turnIsOver[:9])}, {stream: transcript.Stdout, data: []byte(turnIsOver[9:] + "\n")}}}
	if got := rec.turnEnd(); got != 1 {
		t.Errorf("the turn is over in step %d, want 1", got)
	}
	rec = &Recording{steps: []step{
		{stream: transcript.Stdin, data: []byte(prompt + "\n")},
		{stream: transcript.Stdout, data: []byte(update + "\n" + answered[:30])}, {stream: transcript.Stdout, data: []byte(answered[30:] + "\n")},
	}}
	if got, waits := rec.sessionEnd(); got != 2 || !waits {
		t.Errorf("the session is over in step %d (waits: %t), want 2", got, waits)
	}
}
