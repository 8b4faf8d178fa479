//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The session of docs/REQUESTS.md runs as it is shown, with an agent that asks.
func TestRequestsDocumentRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, commands := "chmod 755 agent/opencode\nchmod 666 answers\n", 0
	for _, b := range blocks(t, "REQUESTS.md") {
		if b.language != "console" {
			continue
		}
		session := strings.ReplaceAll(b.text, "capture opencode@1.14.0 ", "capture opencode --bin agent/opencode ")
		session = strings.ReplaceAll(session, " REQUEST", ` $(agent-contracts review list --all | sed -n "2s/ .*//p")`)
		s, n := console(session)
		script, commands = script+s, commands+n
	}
	if commands < 6 {
		t.Errorf("the document shows only %d commands", commands)
	}
	must(t, os.WriteFile(filepath.Join(dir, "requests.txtar"), []byte(script+"-- answers --\n-- agent/opencode --\n#!/bin/sh\n"+asking), 0o644))
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// The member that the document shows is one that a scenario takes, and each kind
// has its row with its constructors.
func TestRequestsDocumentIsWhole(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "REQUESTS.md"))
	must(t, err)
	document := string(b)
	scenario, err := os.ReadFile(filepath.Join("..", "..", "probes", "permission-request", "scenario.json"))
	must(t, err)
	asks := strings.Replace(string(scenario), `"permission": "grant"`, `"permission": "ask"`, 1)
	if asks == string(scenario) || !strings.Contains(document, `{"client": {"permission": "ask"}}`) {
		t.Error("the document or the probe no longer says what this test is about")
	}
	for _, p := range contract.Validate(contract.KindScenario, "scenario.json", []byte(asks)) {
		t.Error(p)
	}
	for _, kind := range contract.RequestKinds {
		name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
		row := regexp.MustCompile("(?m)^\\| `" + string(kind) + "` \\|.*`Answer" + name + "` \\| `answer" + name + "`")
		if !row.MatchString(document) {
			t.Errorf("there is no row for %s with both constructors", kind)
		}
	}
}
