package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// fakeRegistry is what the fake npm offers, read from a file at each call. The
// test binary plays npm, so the tests need neither npm nor a network.
type fakeRegistry struct {
	Versions map[string][]string          // by package
	Tags     map[string]map[string]string // by package
	Time     map[string]map[string]any    // by package
	// Files are unpacked below node_modules: content by package and path.
	Files map[string]map[string]string
	// Extra packages come with another one, as optional dependencies do: the
	// folder's key in the lock file by package.
	Extra map[string][]string
	// Fail is the npm error code by command ("install", "view").
	Fail map[string]string
	// Published overrides the hash that `npm view` reports, by specification.
	Published map[string]string
	// Block makes an installation wait until its file is removed.
	Block string
}

// fakeCall is what npm was started with.
type fakeCall struct {
	Args []string
	Env  []string
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("FAKE_NPM"); dir != "" {
		os.Exit(playNPM(dir, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func playNPM(dir string, args []string) int {
	call, _ := json.Marshal(fakeCall{args, os.Environ()})
	log, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 9
	}
	fmt.Fprintf(log, "%s\n", call)
	b, _ := os.ReadFile(filepath.Join(dir, "registry.json"))
	var r fakeRegistry
	if err := json.Unmarshal(b, &r); err != nil {
		return 9
	}
	if code := r.Fail[args[0]]; code != "" {
		return fail(code)
	}
	if args[0] == "install" {
		return r.install(args[2], args[len(args)-1])
	}
	return r.view(args[1], args[2])
}

func fail(code string) int {
	fmt.Fprintf(os.Stderr, "npm warn something\nnpm error code %s\nnpm error SECRET of the registry\n", code)
	return 1
}

func cutSpec(spec string) (pkg, version string) {
	i := strings.LastIndex(spec, "@")
	if i <= 0 {
		return spec, ""
	}
	return spec[:i], spec[i+1:]
}

func (r *fakeRegistry) view(spec, field string) int {
	pkg, version := cutSpec(spec)
	if _, ok := r.Versions[pkg]; !ok {
		return fail("E404")
	}
	var answer any = map[string]any{"versions": r.Versions[pkg], "dist-tags": r.Tags[pkg]}
	if field == "dist-tags" {
		answer = map[string]any{"dist-tags": r.Tags[pkg], "time": r.Time[pkg]}
	}
	if field == "dist" {
		if !slices.Contains(r.Versions[pkg], version) {
			return fail("E404")
		}
		answer = map[string]string{"integrity": "sha512-" + spec}
		if p, ok := r.Published[spec]; ok {
			answer = map[string]string{"integrity": p}
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
	return 0
}

func (r *fakeRegistry) install(prefix, spec string) int {
	for deadline := time.Now().Add(time.Minute); r.Block != "" && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(r.Block); err != nil {
			break
		}
	}
	pkg, version := cutSpec(spec)
	if !slices.Contains(r.Versions[pkg], version) {
		return fail("ETARGET")
	}
	modules := filepath.Join(prefix, "node_modules")
	locked := map[string]lockedPackage{}
	for _, p := range append([]string{pkg}, r.Extra[pkg]...) {
		entry := lockedPackage{Version: version, Integrity: "sha512-" + p + "@" + version}
		locked["node_modules/"+p] = entry
		for path, content := range r.Files[p] {
			file := filepath.Join(modules, p, path)
			if os.MkdirAll(filepath.Dir(file), 0o700) != nil || os.WriteFile(file, []byte(content), 0o700) != nil {
				return 9
			}
		}
	}
	b, _ := json.Marshal(map[string]any{"packages": locked})
	if err := os.WriteFile(filepath.Join(modules, ".package-lock.json"), b, 0o600); err != nil {
		return 9
	}
	return 0
}

// world is a host with a fake npm, a fake node and an empty cache.
type world struct {
	t        *testing.T
	dir      string
	registry fakeRegistry
	agent    *contract.Agent
	opts     Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake npm is a shell script")
	}
	w := &world{t: t, dir: t.TempDir()}
	// Children of root are unprivileged, so the cache must be open to them.
	if err := os.Chmod(filepath.Dir(w.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	w.opts.Cache = filepath.Join(w.dir, "cache")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.script("npm", "FAKE_NPM='"+w.dir+"' exec '"+self+"' \"$@\"")
	w.script("node", "echo v20.20.2")
	t.Setenv("PATH", filepath.Join(w.dir, "bin"))
	platform := string(contract.HostPlatform())
	w.agent = &contract.Agent{ID: "demo", Install: &contract.AgentInstall{NPM: contract.NPMInstall{
		Package: "@x/demo", Bin: "demo",
		Native: []contract.NativeBinary{{Versions: ">=2.0.0", Path: "@x/demo-{platform}/bin/demo", PlatformPackage: "@x/demo-{platform}@{version}"}},
	}}}
	w.registry = fakeRegistry{
		Versions: map[string][]string{
			"@x/demo":             {"1.0.0", "1.1.0", "2.0.0", "2.1.0-linux-x64", "2.1.0", "2.2.0-beta.1"},
			"@x/demo-" + platform: {"2.0.0", "2.1.0", "2.2.0-beta.1"},
			"node-" + platform:    {"20.1.0", "23.0.0", "24.0.0", "24.3.0", "26.0.0"},
		},
		Tags: map[string]map[string]string{"@x/demo": {"latest": "2.1.0", "beta": "2.2.0-beta.1"}},
		Files: map[string]map[string]string{
			"@x/demo":             {"package.json": `{"bin": {"demo": "cli.js"}, "engines": {"node": ">=18"}}`, "cli.js": "js"},
			"@x/demo-" + platform: {"bin/demo": "elf"},
			"node-" + platform:    {"bin/node": "node"},
		},
		Extra: map[string][]string{"@x/demo": {"@x/demo-" + platform}},
	}
	return w
}

func (w *world) script(name, body string) {
	w.t.Helper()
	file := filepath.Join(w.dir, "bin", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o755)); err != nil {
		w.t.Fatal(err)
	}
}

// install writes the registry and installs.
func (w *world) install(spec string) (*Installed, error) {
	w.t.Helper()
	w.publish()
	return Install(context.Background(), w.agent, spec, w.opts)
}

func (w *world) publish() {
	w.t.Helper()
	b, err := json.Marshal(w.registry)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "registry.json"), b, 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// calls returns how npm was started so far.
func (w *world) calls() []fakeCall {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.dir, "calls"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	var out []fakeCall
	for d := json.NewDecoder(f); ; {
		var c fakeCall
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, c)
	}
}
