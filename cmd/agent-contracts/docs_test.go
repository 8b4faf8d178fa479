//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// emptyList is what the CLI of the documents prints: a success whose tool found
// nothing.
const emptyList = `{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I will look."}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"cat items.json","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"cat items.json","aggregated_output":"{\"items\": []}\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"There are no items."}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":2}}
`

// block is a fenced block of a document: "```" and language and, for us, a
// place in the registry or the kind of a record.
type block struct{ language, name, text string }

func blocks(t *testing.T, document string) []block {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	open := false
	for line := range strings.Lines(string(b)) {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && open:
			open = false
		case isFence:
			language, name, _ := strings.Cut(fence, " ")
			out, open = append(out, block{language: language, name: name}), true
		case open:
			out[len(out)-1].text += line
		}
	}
	return out
}

// What the documents show is what the program says: their files and commands
// run as a script. The captures start the fake CLI in place of a release.
func TestDocumentsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	captured := "exits 1 agent-contracts capture codex --bin $FAKE --probe list-items\nexec sh -c 'echo observations/codex/*/*/*.observation.json'\ncp stdout place\n"
	release := "exits 0 agent-contracts capture codex --bin $FAKE --probe chat-tool-success\n" +
		`exec sh -c 'sed -i "s|binary:fake-codex|npm:@openai/codex@0.133.0|" observations/codex/0.133.0/*/*.json'` +
		"\nexits 0 agent-contracts matrix --write\nonpath codex\n"
	for document, prelude := range map[string]string{"PROBES.md": "", "HEALTH.md": captured, "PLAY.md": captured, "COMPATIBILITY.md": release} {
		script, files := "fake print out.jsonl\n"+prelude, "-- out.jsonl --\n"+emptyList
		for _, b := range blocks(t, "PROBES.md") {
			if strings.HasPrefix(b.name, "probes/") {
				files += "-- " + b.name + " --\n" + b.text
			}
		}
		commands := 0
		for _, b := range blocks(t, document) {
			if b.language == "console" {
				s, n := console(b.text)
				script, commands = script+s, commands+n
			}
		}
		if commands < 3 {
			t.Errorf("%s shows only %d commands", document, commands)
		}
		name := strings.ToLower(strings.TrimSuffix(document, ".md"))
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script+files), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "fake": installFake, "onpath": putOnPath},
	})
}

var spaces = regexp.MustCompile(`\s+`)

// console turns a session into lines of a script. "# exit N" behind a command
// is its exit code; a line below it is one of its output, where … stands for
// anything and spaces for spaces.
func console(session string) (script string, commands int) {
	for line := range strings.Lines(session) {
		line = strings.TrimRight(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			code := "0"
			if c, n, ok := strings.Cut(command, "  # exit "); ok {
				command, code = c, n
			}
			command = strings.Replace(command, "capture codex@0.133.0 ", "capture codex --bin $FAKE ", 1)
			command = strings.Replace(command, " OBSERVATION ", " $(cat place) ", 1)
			script += fmt.Sprintf("exits %s sh -c '%s'\n", code, command)
			commands++
		case strings.TrimSpace(line) != "":
			pattern := spaces.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), `\s+`)
			script += fmt.Sprintf("stdout '%s'\n", strings.ReplaceAll(pattern, "…", ".*"))
		}
	}
	return script, commands
}

// A block that names a kind of record is a valid one.
func TestDocumentsShowValidRecords(t *testing.T) {
	shown := 0
	for _, document := range []string{"EXPECTATIONS.md", "PROBES.md"} {
		for _, b := range blocks(t, document) {
			kind := contract.RecordKind(b.name)
			if place, ok := contract.KindOf(b.name); ok {
				kind = place
			}
			if !kind.Valid() {
				continue
			}
			shown++
			for _, p := range contract.Validate(kind, document, []byte(b.text)) {
				t.Errorf("%s", p)
			}
		}
	}
	if shown < 4 {
		t.Errorf("only %d blocks are records", shown)
	}
}
