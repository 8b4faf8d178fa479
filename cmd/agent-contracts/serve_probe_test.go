//go:build linux

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A probe over HTTP is what the program on disk answers, also when that is
// another one by now: the server says so, and goes on without probes.
func TestServeProbesByItsOwnProgram(t *testing.T) {
	w := newWorld(t, fakeTurn)
	cmd := w.command("serve", "--addr", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	address, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	get := func(query string) (int, string) {
		res, err := http.Get(strings.TrimSpace(address) + "api/agents/codex/cli-compatibility" + query)
		must(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, string(b)
	}
	if code, body := get("?probe=1"); code != 200 || !strings.Contains(body, `"installed_version":"0.133.0"`) || !strings.Contains(body, `"source":"local_probe"`) {
		t.Fatalf("status %d: %s", code, body)
	}
	another := `#!/bin/sh
echo '{"ok":true,"contract_version":2,"data":{"contract_version":2,"min_supported_version":2},"error":null}'
`
	must(t, os.Remove(w.bin))
	w.write(w.bin, another, 0o755)
	if code, body := get("?probe=1"); code != 503 || !strings.Contains(body, "contract_version 2") {
		t.Errorf("status %d: %s", code, body)
	}
	if code, _ := get(""); code != 200 {
		t.Errorf("without a probe: status %d", code)
	}
}
