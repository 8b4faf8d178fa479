package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestInstallNativeRelease(t *testing.T) {
	t.Setenv("NPM_TOKEN", "x")
	w := newWorld(t)
	got, err := w.install("2.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if got.Launcher != LauncherNative || got.Source != "npm:@x/demo@2.1.0" || got.BinarySHA256 != contract.Sum([]byte("elf")) || got.Cached || len(got.Args) > 0 || got.NodeVersion != "" {
		t.Errorf("%+v", got)
	}
	info, err := os.Stat(got.Path)
	if err != nil || info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("the program has mode %v, %v: an unprivileged child cannot run it", info.Mode(), err)
	}
	if bad := blockedFolder(got.Dir); os.Geteuid() == 0 && bad != "" {
		t.Errorf("an unprivileged child cannot enter %s", bad)
	}
	install := w.calls()[0]
	if !slices.Contains(install.Args, "--ignore-scripts") || install.Args[len(install.Args)-1] != "@x/demo@2.1.0" {
		t.Errorf("npm was called with %q", install.Args)
	}
	for _, kv := range install.Env {
		if name, value, _ := strings.Cut(kv, "="); name == "NPM_TOKEN" || name == "HOME" && !strings.HasPrefix(value, w.opts.Cache) {
			t.Errorf("npm saw the host's %s", name)
		}
	}
}

func TestInstallJavaScriptRelease(t *testing.T) {
	w := newWorld(t)
	got, err := w.install("v1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(got.Dir, "node_modules", "@x", "demo", "cli.js")
	if got.Launcher != LauncherNPMWrapper || got.Path != filepath.Join(w.dir, "bin", "node") || !slices.Equal(got.Args, []string{script}) {
		t.Errorf("%+v", got)
	}
	if got.NodeVersion != "v20.20.2" || got.BinarySHA256 != contract.Sum([]byte("js")) || got.Version != "1.1.0" {
		t.Errorf("%+v", got)
	}
}

// A release from before a package was renamed is installed, checked and named
// under the old name.
func TestRenamedPackage(t *testing.T) {
	w := newWorld(t)
	w.registry.Versions["@old/demo"] = []string{"0.9.0"}
	w.registry.Files["@old/demo"] = map[string]string{"package.json": `{"bin":{"old-demo":"cli.js"}}`, "cli.js": "old"}
	w.agent.Install.NPM.Earlier = []contract.EarlierPackage{{Versions: "<1.0.0", Package: "@old/demo", Bin: "old-demo"}}
	got, err := w.install("0.9.0")
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != "npm:@old/demo@0.9.0" || got.BinarySHA256 != contract.Sum([]byte("old")) {
		t.Errorf("%+v", got)
	}
	if got, err = w.install("1.1.0"); err != nil || got.Source != "npm:@x/demo@1.1.0" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestScriptsRunOnlyWhenAllowed(t *testing.T) {
	w := newWorld(t)
	w.agent.Install.NPM.AllowScripts = true
	if _, err := w.install("2.0.0"); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.calls()[0].Args, "--ignore-scripts") {
		t.Error("the definition allows scripts and they were not run")
	}
}

// npm leaves the platform's package out where a script would fetch it.
func TestPlatformPackageIsFetched(t *testing.T) {
	w := newWorld(t)
	w.registry.Extra = nil
	platform := "@x/demo-" + string(contract.HostPlatform())
	w.registry.Extra = map[string][]string{platform: {"@x/demo"}} // npm keeps what was installed before
	got, err := w.install("2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if got.Launcher != LauncherNative {
		t.Errorf("%+v", got)
	}
	specs := []string{}
	for _, c := range w.calls() {
		if c.Args[0] == "install" {
			specs = append(specs, c.Args[len(c.Args)-1])
		}
	}
	if !slices.Equal(specs, []string{"@x/demo@2.0.0", platform + "@2.0.0"}) {
		t.Errorf("installed %q", specs)
	}
}

func TestCachedReleaseNeedsNoNPM(t *testing.T) {
	w := newWorld(t)
	for _, v := range []string{"1.0.0", "2.0.0"} {
		if _, err := w.install(v); err != nil {
			t.Fatal(err)
		}
	}
	before := len(w.calls())
	if err := os.Remove(filepath.Join(w.dir, "bin", "npm")); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"1.0.0", "2.0.0"} {
		if got, err := w.install(v); err != nil || !got.Cached {
			t.Errorf("%s: %+v, %v", v, got, err)
		}
	}
	if len(w.calls()) != before {
		t.Error("npm was called for a cached release")
	}
	// What cannot be known offline says what can be had.
	_, err := w.install("latest")
	if !errors.Is(err, ErrNPMMissing) || !strings.Contains(err.Error(), "1.0.0, 2.0.0") {
		t.Errorf("latest without npm: %v", err)
	}
}

func TestChangedProgramIsInstalledAgain(t *testing.T) {
	w := newWorld(t)
	got, err := w.install("2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(got.Path, []byte("something else"), 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := w.install("2.0.0")
	if err != nil || again.Cached || again.BinarySHA256 != got.BinarySHA256 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestSpecifications(t *testing.T) {
	for spec, want := range map[string]string{
		"": "2.1.0", "latest": "2.1.0", "beta": "2.2.0-beta.1", "^1.0.0": "1.1.0", "1": "1.1.0", ">=1.0.0 <2.1": "2.0.0", "2.1.0": "2.1.0", "v7.7.7": "7.7.7", "*": "2.1.0",
	} {
		w := newWorld(t)
		w.publish()
		if got, err := Resolve(context.Background(), w.agent, spec, w.opts); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", spec, got, err, want)
		}
	}
}

func TestNoSuchVersion(t *testing.T) {
	for spec, want := range map[string]string{
		"2.0.1": "2.0.0, 2.1.0, 1.1.0", "9.0.0": "2.2.0-beta.1, 2.1.0, 2.0.0", "nightly": "2.2.0-beta.1, 2.1.0, 2.0.0", "<0.5": "1.0.0, 1.1.0, 2.0.0", "--global": "2.2.0-beta.1",
	} {
		w := newWorld(t)
		_, err := w.install(spec)
		var e *NoSuchVersionError
		if !errors.As(err, &e) || !errors.Is(err, ErrNoSuchVersion) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want the nearest, %s", spec, err, want)
		}
	}
}

// npm says the same of a version that is there when it lacks a dependency.
func TestNoSuchDependency(t *testing.T) {
	w := newWorld(t)
	w.registry.Fail = map[string]string{"install": "ETARGET"}
	_, err := w.install("2.0.0")
	if !errors.Is(err, ErrNPM) || errors.Is(err, ErrNoSuchVersion) || !strings.Contains(err.Error(), "depends on") || strings.Contains(err.Error(), "2.0.0,") {
		t.Errorf("%v; want what the package depends on, and other versions", err)
	}
}

func TestFailuresAreTyped(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(w *world)
		want   error
		advice string
	}{
		{"no npm", func(w *world) { os.Remove(filepath.Join(w.dir, "bin", "npm")) }, ErrNPMMissing, "install Node.js"},
		{"disk full", func(w *world) { w.registry.Fail = map[string]string{"install": "ENOSPC"} }, ErrDiskFull, "cache prune"},
		{"network", func(w *world) { w.registry.Fail = map[string]string{"install": "ENOTFOUND"} }, ErrNetwork, "cache list"},
		{"network later", func(w *world) { w.registry.Fail = map[string]string{"view": "ETIMEDOUT"} }, ErrNetwork, "cache list"},
		{"integrity", func(w *world) { w.registry.Fail = map[string]string{"install": "EINTEGRITY"} }, ErrIntegrity, "registry"},
		{"permission", func(w *world) { w.registry.Fail = map[string]string{"install": "EACCES"} }, ErrCache, "XDG_CACHE_HOME"},
		{"other", func(w *world) { w.registry.Fail = map[string]string{"install": "EWHAT"} }, ErrNPM, "EWHAT"},
		{"another hash", func(w *world) { w.registry.Published = map[string]string{"@x/demo@2.0.0": "sha512-other"} }, ErrIntegrity, "@x/demo@2.0.0"},
		{"another hash of the program", func(w *world) {
			w.registry.Published = map[string]string{"@x/demo-" + string(contract.HostPlatform()) + "@2.0.0": "sha512-other"}
		}, ErrIntegrity, "registry"},
		{"no program", func(w *world) {
			w.registry.Extra, w.agent.Install.NPM.Native[0].PlatformPackage = nil, ""
		}, ErrNoBinary, "--bin"},
		{"no hash", func(w *world) { w.registry.Published = map[string]string{"@x/demo@2.0.0": ""} }, ErrIntegrity, "no hash"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.spoil(w)
			_, err := w.install("2.0.0")
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.advice) || !strings.Contains(err.Error(), "demo@2.0.0") {
				t.Errorf("%v; want %v and a word about %q", err, tt.want, tt.advice)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Error("npm's output is in the error")
			}
			// Nothing half-made is taken for an installation.
			left, _ := filepath.Glob(filepath.Join(w.opts.Cache, "*", "*", "*", manifestName))
			temp, _ := filepath.Glob(filepath.Join(w.opts.Cache, "tmp", "*"))
			if len(left)+len(temp) > 0 {
				t.Errorf("left behind: %q %q", left, temp)
			}
		})
	}
}

func TestNewerNodeComesFromNPM(t *testing.T) {
	w := newWorld(t)
	w.agent.Install.NPM.Node = []contract.NodeRequirement{{Versions: "<2.0.0", Node: ">=22"}}
	got, err := w.install("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if got.NodeVersion != "v24.3.0" || !strings.HasPrefix(got.Path, w.opts.Cache) {
		t.Errorf("%+v; want the newest of the oldest even line", got)
	}
	if b, err := os.ReadFile(got.Path); err != nil || string(b) != "node" {
		t.Errorf("the node of the cache: %q, %v", b, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "bin", "npm")); err != nil {
		t.Fatal(err)
	}
	if again, err := w.install("1.0.0"); err != nil || again.Path != got.Path || !again.Cached {
		t.Errorf("offline: %+v, %v", again, err)
	}
	w.agent.Install.NPM.Node[0].Node = ">=99"
	w.script("npm", "exit 1")
	if _, err := w.install("1.0.0"); err == nil {
		t.Error("a release ran under a Node.js that it refuses")
	}
}

func TestCancelledInstallation(t *testing.T) {
	w := newWorld(t)
	w.registry.Block = filepath.Join(w.dir, "block")
	if err := os.WriteFile(w.registry.Block, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.publish()
	ctx, cancel := context.WithCancel(context.Background())
	w.opts.Progress = func(p Progress) {
		if p.Stage == StageDownloading {
			cancel()
		}
	}
	if _, err := Install(ctx, w.agent, "2.0.0", w.opts); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestTwoAtOnceShareOneInstallation(t *testing.T) {
	w := newWorld(t)
	w.registry.Block = filepath.Join(w.dir, "block")
	if err := os.WriteFile(w.registry.Block, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.publish()
	type result struct {
		got *Installed
		err error
	}
	results := make(chan result, 2)
	started := make(chan bool, 1)
	run := func(progress func(Progress)) {
		got, err := Install(context.Background(), w.agent, "2.0.0", Options{Cache: w.opts.Cache, Progress: progress})
		results <- result{got, err}
	}
	go run(func(p Progress) {
		if p.Stage == StageDownloading && p.Bytes == 0 {
			select {
			case started <- true:
			default:
			}
		}
	})
	<-started
	go run(func(p Progress) {
		if p.Stage == StageWaiting {
			os.Remove(w.registry.Block) // the first may finish
		}
	})
	cached := 0
	for range 2 {
		r := <-results
		if r.err != nil {
			t.Fatal(r.err)
		}
		if r.got.Cached {
			cached++
		}
	}
	if cached != 1 {
		t.Errorf("%d of two were served from the cache, want 1", cached)
	}
}

func TestBinary(t *testing.T) {
	w := newWorld(t)
	w.script("demo", "exit 0")
	path := filepath.Join(w.dir, "bin", "demo")
	got, err := Binary(w.agent, path)
	if err != nil || got.Path != path || got.Source != "binary:demo" || got.Launcher != LauncherNative || got.BinarySHA256 == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("#!/usr/bin/env node\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Binary(w.agent, path); err != nil || got.Launcher != LauncherNPMWrapper {
		t.Errorf("a JavaScript command: %+v, %v", got, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{path, w.dir, filepath.Join(w.dir, "missing")} {
		if _, err := Binary(w.agent, bad); !errors.Is(err, ErrNoBinary) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
