package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

const codexRun = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
`

// said runs a command in a folder with the files and returns its exit code and
// what it printed.
func said(t *testing.T, files map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for i, a := range args {
		if text, ok := files[a]; ok {
			args[i] = filepath.Join(dir, a)
			if err := os.WriteFile(args[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out, errs bytes.Buffer
	code = Main(t.Context(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir, Now: time.Now})
	return code, out.String(), errs.String()
}

// A shell that rewrites what a CLI printed is no drift of the CLI.
func TestCompareWhatAShellRewrote(t *testing.T) {
	var wide strings.Builder
	wide.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(codexRun)) {
		wide.WriteByte(byte(u))
		wide.WriteByte(byte(u >> 8))
	}
	files := map[string]string{"old": codexRun, "wide": wide.String(), "marked": "\xef\xbb\xbf" + codexRun}
	if code, out, errs := said(t, files, "compare", "old", "wide"); code != ExitCannotKnow || out != "" || !strings.Contains(errs, "UTF-16") {
		t.Errorf("UTF-16: exit code %d, %q, %q", code, out, errs)
	}
	if _, _, errs := said(t, files, "compare", "old", "marked"); !strings.Contains(errs, "byte order mark") {
		t.Errorf("a byte order mark: %q", errs)
	}
}

func TestCompareNamesThatAreNone(t *testing.T) {
	for name, hint := range map[string]string{
		"sha256:00000000": "neither a shape", "sha256:0": "eight digits", "codex@0.133.0": "--explain codex VERSION", "nosuch.jsonl": "check the path", "nosuch": "--explain",
	} {
		code, _, errs := said(t, map[string]string{"old": codexRun}, "compare", "old", name)
		if code != ExitCannotKnow || !strings.Contains(errs, name+" is no file, and no signature") || !strings.Contains(errs, hint) {
			t.Errorf("%s: exit code %d, %q", name, code, errs)
		}
	}
}

// What cannot begin is refused before anything is asked of a network.
func TestRefusedAtOnce(t *testing.T) {
	files := map[string]string{}
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bisect", "codex", "--dry-run", "--profile", "nosuch"}, ExitUsage, `"nosuch"`},
		{[]string{"bisect", "codex", "--dry-run", "--from", "0.171.0", "--to", "0.42.0"}, ExitUsage, "older release first"},
		{[]string{"source-scan", "codex", empty, empty}, ExitCannotKnow, "holds no TypeScript"},
		{[]string{"source-scan", "codex", empty, empty, "--issues", "x"}, ExitUsage, "OWNER/NAME"},
		{[]string{"plan", "--gate", "--issues", "a/b/c"}, ExitUsage, "OWNER/NAME"},
	} {
		code, _, errs := said(t, files, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Contains(errs, "registry cannot be reached") {
			t.Errorf("%q: exit code %d, %q", c.args, code, errs)
		}
	}
}
