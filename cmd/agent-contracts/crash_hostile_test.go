//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// everywhere prints a secret in every position that a program has: KEY stands
// for it.
const everywhere = `echo "$@" KEY >&2
echo "$@" KEY
printf 'KEY\n'; printf 'KEY' >&2
printf '{"type":"error","message":"KEY"}\n{"KEY":"KEY","type":"KEY","item":{"type":"KEY","KEY":[{"KEY":1}]}}\n'
printf '\033]0;KEY\007\033]8;;https://x.example/KEY\007\377\376KEY\303(\n\0KEY\0A=KEY\0B=KEY\0\n' | tee /dev/stderr
head -c 12000 /dev/zero | tr '\0' '['; printf '"KEY"\n'
printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"'
head -c 3000000 /dev/zero | tr '\0' x; printf ' KEY '; head -c 3000000 /dev/zero | tr '\0' y; printf '"}}\n'
printf '{"type":"item.completed","item":{"id":"j","text":"KEY'
`

// Whatever becomes of a capture whose program prints a secret everywhere, and in
// whatever form it answers, no file and no answer has a byte of it; only the
// owner's private files do, while the run is there.
func TestSecretEverywhere(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		script string
		live   bool // a job: wait for it, and read what it says
	}{
		"text":        {script: everywhere + "\nexit 3\n"},
		"json":        {args: []string{"--format", "json"}, script: everywhere},
		"machine":     {args: []string{"--machine"}, script: everywhere},
		"asking":      {args: []string{"--ask", "durable"}, script: everywhere},
		"detached":    {args: []string{"--detach", "--format", "json"}, script: everywhere, live: true},
		"killed":      {script: everywhere + "kill -KILL $$\n"},
		"dumps core":  {args: []string{"--machine"}, script: "{ ulimit -c; grep -s 'Max core' /proc/self/limits; } > \"${0%/*}/../tmp/limit\"\n" + everywhere + "kill -SEGV $$\n"},
		"a full disk": {script: everywhere},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			key := "sk-proj-" + rand.Text() + "T3BlbkFJ" + rand.Text()
			w := newWorld(t, "")
			must(t, os.Chmod(filepath.Join(w.dir, "tmp"), 0o1777))
			w.write(w.fake, "#!/bin/bash\n"+fakeVersion+strings.ReplaceAll(c.script, "KEY", key), 0o755)
			var limit unix.Rlimit
			must(t, unix.Getrlimit(unix.RLIMIT_CORE, &limit))
			free := func() {}
			if name == "a full disk" {
				w.smallDisk(filepath.Dir(w.priv))
				free = w.fill(filepath.Dir(w.priv), 200)
			}
			cmd := w.capture(append([]string{"--probe", "chat-text-success"}, c.args...)...)
			must(t, cmd.Start())
			code, stdout, stderr := cmd.finish()
			t.Logf("exit code %d", code)
			if c.live {
				id := strings.TrimSpace(stdout)
				if i := strings.Index(id, `"run_id": "`); i >= 0 {
					id = id[i+11 : i+11+22]
				}
				for _, args := range [][]string{{"job", "wait", id, "--max-wait", "120"}, {"job", "output", id}, {"job", "logs", id}, {"job", "status", id, "--machine"}} {
					j := w.command(args...)
					must(t, j.Start())
					code, out, said := j.finish()
					if code == 2 {
						t.Errorf("%s: %s%s", args, out, said)
					}
				}
			}
			w.leavesNobody()
			free()
			// A capture that waits is no recording yet.
			if name != "a full disk" && code != 5 && !w.recorded([]string{key}) {
				t.Error("the raw recording has none of it: the test proves nothing")
			}
			w.hidesEverywhere(key[12:])
			if name == "dumps core" {
				b, err := os.ReadFile(filepath.Join(w.dir, "tmp", "limit"))
				must(t, err)
				if strings.Join(strings.Fields(string(b)), " ") != "0 Max core file size 1 1 bytes" {
					t.Errorf("the child may leave a core: %q; this process %d", b, limit.Cur)
				}
			}
			if code == 70 || strings.Contains(stdout+stderr, key[12:]) {
				t.Errorf("exit code %d, or the answer holds the secret", code)
			}
			w.validates()
		})
	}
}

// hidesEverywhere is keepsSecret for the private folder too: what is in clear
// there is its owner's alone, and no log.
func (w *world) hidesEverywhere(word string) {
	w.t.Helper()
	w.keepsSecret(word)
	must(w.t, filepath.WalkDir(w.priv, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(b, []byte(word)) {
			return err
		}
		info, err := d.Info()
		must(w.t, err)
		rel := strings.TrimPrefix(p, w.priv)
		if info.Mode().Perm() != 0o600 || !w.sealed(filepath.Dir(p)) {
			w.t.Errorf("%s holds the secret, and others may read it (%s)", rel, info.Mode())
		}
		if !strings.Contains(rel, "/requests/") && !strings.HasSuffix(rel, ".bundle") {
			w.t.Errorf("%s holds the secret in clear", rel)
		}
		return nil
	}))
}

// sealed reports whether a folder or one above it lets nobody in but its owner.
func (w *world) sealed(dir string) bool {
	for ; strings.HasPrefix(dir, w.priv); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(w.t, err)
		if info.Mode().Perm()&0o077 == 0 {
			return true
		}
	}
	return false
}

// A redaction that is killed leaves a whole sanitized file or none, and nothing
// raw anywhere.
func TestKillRedact(t *testing.T) {
	t.Parallel()
	kills, random := killPlan(t)
	prepare := func(t *testing.T) (*world, *command) {
		w := newWorld(t, "")
		var raw strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&raw, `{"type":"item.completed","item":{"id":"item_%d","type":"agent_message","text":"MARKER is ready with %d"}}`+"\n", i, i)
		}
		file := filepath.Join(w.priv, "run.jsonl")
		w.write(file, raw.String(), 0o600)
		return w, w.command("redact", file, "--out", filepath.Join(w.dir, "out"))
	}
	w, cmd := prepare(t)
	start := time.Now()
	cmd.run(0)
	took := time.Since(start)
	whole, err := os.ReadFile(filepath.Join(w.dir, "out", "run.sanitized.jsonl"))
	must(t, err)
	alive := 0
	for range kills {
		w, cmd := prepare(t)
		start := time.Now()
		must(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { _ = cmd.Process.Kill() })
		code, _, _ := cmd.finish()
		timer.Stop()
		if code == -1 {
			alive++
		} else { // the machine may have less to do by now
			took = min(took, time.Since(start))
		}
		left, err := filepath.Glob(filepath.Join(w.dir, "out", "*"))
		must(t, err)
		for _, f := range left {
			if b, err := os.ReadFile(f); err != nil || strings.HasSuffix(f, ".jsonl") && !bytes.Equal(b, whole) {
				t.Errorf("%s is half written: %v", filepath.Base(f), err)
			}
		}
		w.keepsSecret(w.marker)
		w.leavesNobody()
		must(t, os.RemoveAll(w.dir))
	}
	t.Logf("%d of %d kills found it alive", alive, kills)
	if alive == 0 && kills > 1 {
		t.Error("no kill found it alive: the test proves nothing")
	}
}
