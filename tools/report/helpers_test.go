package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

var update = flag.Bool("update", false, "write golden files")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// registry copies the committed records of one agent and one probe, with
// everything that they name, into a folder of its own.
func registry(t *testing.T, agent, probe string) *store.Registry {
	t.Helper()
	root, dir := filepath.Join("..", ".."), t.TempDir()
	from := os.DirFS(root)
	place := func(rel string) {
		b, err := fs.ReadFile(from, rel)
		must(t, err)
		to := filepath.Join(dir, filepath.FromSlash(rel))
		must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must(t, os.WriteFile(to, b, 0o644))
	}
	for _, f := range []string{"registry/agents.json", "registry/families.json", "registry/policy.json", "registry/vocabulary.json"} {
		place(f)
	}
	committed, err := store.Open(root)
	must(t, err)
	obs, err := committed.Observations(agent)
	must(t, err)
	n := 0
	for _, o := range obs {
		if o.Probe == probe {
			place(o.Path)
			place(o.Shape.Path)
			place(o.Extensions.Fixture)
			n++
		}
	}
	if n < 3 {
		t.Fatalf("the committed registry has %d observations of %s %s", n, agent, probe)
	}
	reg, err := store.Open(dir)
	must(t, err)
	return reg
}

func families(t testing.TB) *contract.Families {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "registry", "families.json"))
	must(t, err)
	var f contract.Families
	must(t, json.Unmarshal(b, &f))
	return &f
}

// run is a side of what a child of codex printed before it exited with 0.
func run(t testing.TB, stdout string) *Side {
	t.Helper()
	code := 0
	tr := &transcript.Transcript{}
	for line := range bytes.Lines([]byte(stdout)) {
		tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: line})
	}
	tr.Records = append(tr.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	s, err := Transcript(tr, families(t).Dialect("codex"), "codex", true)
	must(t, err)
	return s
}

const codexRun = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
`

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it):\n%s", file, got)
	}
}
