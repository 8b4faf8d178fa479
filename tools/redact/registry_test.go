package redact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// root walks up to the folder with go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir = filepath.Dir(dir); dir == "/" {
			t.Fatal("no go.mod above the package")
		}
	}
}

func loadFamilies(t testing.TB) *contract.Families {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "registry/families.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := &contract.Families{}
	if err := json.Unmarshal(b, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func loadVocabulary(t testing.TB) *Vocabulary {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "registry/vocabulary.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVocabulary(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newRedactor(t testing.TB) *Redactor {
	t.Helper()
	r, err := New(loadFamilies(t), loadVocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stdout makes a raw transcript of what a child printed.
func stdout(s string) *transcript.Transcript { return stream(transcript.Stdout, s) }

func stream(st transcript.Stream, s string) *transcript.Transcript {
	t := &transcript.Transcript{}
	for _, line := range strings.SplitAfter(s, "\n") {
		if line != "" {
			t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: st, Data: []byte(line)})
		}
	}
	return t
}

// redactText returns the sanitized bytes of stdout.
func redactText(t testing.TB, r *Redactor, in Input, s string) (string, Report) {
	t.Helper()
	out, rep, err := r.Redact(stdout(s), in)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Bytes(transcript.CLIToServer, transcript.Stdout)), rep
}

// shared finds material outside the repository, or skips.
func shared(t testing.TB, env, dir string) string {
	t.Helper()
	p := os.Getenv(env)
	if p == "" {
		p = filepath.Join(root(t), "..", "shared", dir)
	}
	if _, err := os.Stat(p); err != nil {
		t.Skipf("%s is not there; set %s", dir, env)
	}
	return p
}

func quote(s string) string { return string(rawjson.AppendQuote(nil, s)) }
