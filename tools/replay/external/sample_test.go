package external_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// TestSampleAdapter: examples/adapter-js loses, doubles and invents nothing on
// committed fixtures, one program for all of them.
func TestSampleAdapter(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the sample adapter needs node, and there is none in PATH")
	}
	root := filepath.Join("..", "..", "..")
	a := external.New(external.Options{Command: []string{node, filepath.Join(root, "examples", "adapter-js", "adapter.mjs")}, Timeout: time.Minute})
	var families contract.Families
	readJSON(t, filepath.Join(root, "registry", "families.json"), &families)
	read := 0
	for _, version := range []string{"codex/0.171.0", "codex/0.133.0", "claude/2.1.332"} {
		names, err := filepath.Glob(filepath.Join(root, "observations", version, "*", "*.observation.json"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no observations of %s (%v)", version, err)
		}
		for _, name := range names {
			var o contract.Observation
			readJSON(t, name, &o)
			if d := o.Extensions.Dialect; d != "codex" && d != "claude" {
				continue
			}
			if o.Probe == "truncated-stream" {
				continue // the sample takes back no text that a retry says again, as its README says
			}
			b, err := os.ReadFile(filepath.Join(root, o.Extensions.Fixture))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := transcript.ReadSanitized(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			in := replay.Input{Transcript: tr, Agent: o.Agent, Version: o.CLIVersion, Dialect: families.Dialect(o.Extensions.Dialect)}
			got, err := a.Read(context.Background(), in)
			if err != nil {
				t.Fatalf("%s %s: %v", version, o.Probe, err)
			}
			ref, err := replay.Reference(in)
			if err != nil {
				t.Fatal(err)
			}
			if c := replay.Compatible(ref, got); c.Status != contract.ReplayCompatible {
				t.Errorf("%s %s: %s: %v", version, o.Probe, c.Status, c.Findings)
			}
			for i, line := range got.Origins {
				if line == -2 {
					t.Errorf("%s %s: the adapter does not say where event %d comes from", version, o.Probe, i+1)
				}
			}
			read++
		}
	}
	if err := a.Close(); err != nil || a.Stderr() != 0 {
		t.Errorf("the adapter ends with %v and %d bytes on stderr", err, a.Stderr())
	}
	if read < 15 {
		t.Errorf("only %d fixtures were read", read)
	}
	in := replay.Input{Transcript: &transcript.Transcript{}, Agent: "gemini", Dialect: families.Dialect("gemini")}
	if r, err := a.Read(context.Background(), in); err != nil || r.Status != replay.StatusNotRun {
		t.Errorf("a dialect that it does not read: %+v, %v", r, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}
