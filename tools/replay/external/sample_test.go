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
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/transcripttest"
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
	for _, version := range []string{"codex/0.171.0", "codex/0.133.0", "claude/2.1.332", "claude/2.1.200", "claude/2.0.77"} {
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
			b, err := os.ReadFile(filepath.Join(root, o.Extensions.Fixture))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := transcript.ReadSanitized(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			in := replay.Input{Transcript: tr, Agent: o.Agent, Version: o.CLIVersion, Dialect: families.Dialect(o.Extensions.Dialect)}
			agrees(t, a, version+" "+o.Probe, in)
			read++
		}
	}
	agrees(t, a, "a text that was said whole and then given up", replay.Input{
		Transcript: transcripttest.Of(
			`> {"type":"system","subtype":"init","session_id":"s","model":"m"}`,
			`> {"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}`,
			`> {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
			`> {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}}`,
			`> {"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"Hello."}]}}`,
			`> {"type":"stream_event","event":{"type":"content_block_stop","index":0}}`,
			`> {"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"api_message_id":"m1","from_block_index":0}}`,
			`> {"type":"assistant","message":{"id":"m2","model":"m","content":[{"type":"text","text":"Hello."}]}}`,
			`> {"type":"result","subtype":"success","is_error":false,"result":"Hello.","usage":{"input_tokens":3,"output_tokens":4}}`,
			"exit 0",
		), Agent: "claude", Dialect: families.Dialect("claude"),
	})
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

// agrees wants the adapter's reading to agree with the reference, and each event
// to say where it comes from.
func agrees(t *testing.T, a *external.Adapter, name string, in replay.Input) {
	t.Helper()
	got, err := a.Read(context.Background(), in)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	ref, err := replay.Reference(in)
	if err != nil {
		t.Fatal(err)
	}
	if c := replay.Compatible(ref, got); c.Status != contract.ReplayCompatible {
		t.Errorf("%s: %s: %v", name, c.Status, c.Findings)
	}
	for i, line := range got.Origins {
		if line == -2 {
			t.Errorf("%s: the adapter does not say where event %d comes from", name, i+1)
		}
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
