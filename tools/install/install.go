// Package install gets real agent CLIs at exact versions from npm into a cache
// that runs and registries share: isolated from the user's HOME, without
// install scripts, checked against the registry's own hashes, usable offline.
//
// Rules: DESIGN D1 and D2; recipes in registry/agents.json.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The launchers: which program is started.
const (
	LauncherNative     = "native"      // the agent's own executable
	LauncherNPMWrapper = "npm-wrapper" // the package's JavaScript command under Node.js
)

// Installed is a program that is ready to run.
type Installed struct {
	Agent string `json:"agent"`
	// Version is the release that was asked for, as the package registry
	// names it; what the binary says is for the version probe. "" for --bin.
	Version string `json:"version"`
	// Dir is the installation's folder. Path is the program to start and Args
	// come before an agent's own arguments.
	Dir  string   `json:"-"`
	Path string   `json:"-"`
	Args []string `json:"-"`
	// Launcher is native or npm-wrapper.
	Launcher string `json:"launcher"`
	// Source is "npm:<package>@<version>" or "binary:<file name>".
	Source string `json:"source"`
	// BinarySHA256 is the hash of the agent's executable or, under a wrapper,
	// of its JavaScript entry point.
	BinarySHA256 contract.Digest `json:"binary_sha256"`
	// NodeVersion is the Node.js that runs a wrapper, as "v20.20.2", else "".
	NodeVersion string `json:"node_version,omitempty"`
	// Cached says that nothing had to be downloaded.
	Cached bool `json:"-"`
}

// Stage is a step of an installation.
type Stage string

// The stages, in order. An installation in the cache has none but StageWaiting.
const (
	StageWaiting     Stage = "waiting"     // for another process that installs the same version
	StageResolving   Stage = "resolving"   // asking the registry for versions and hashes
	StageDownloading Stage = "downloading" // Bytes are on disk so far
	StageVerifying   Stage = "verifying"   // comparing and computing hashes
)

// Progress is one report of what an installation is doing.
type Progress struct {
	Agent, Version string
	Stage          Stage
	Bytes          int64
}

// Options change how Install works. The zero value is the default.
type Options struct {
	// Cache is the cache folder; "" is DefaultCache.
	Cache string
	// Progress is called from another goroutine, never twice at once.
	Progress func(Progress)
}

// Cache is a folder of installed releases.
//
//	agents/<agent>/<version>/    installed.json, node_modules/
//	node/<version>/              a Node.js that an agent needs
//	npm/, home/                  npm's cache and the HOME it sees
//	locks/, tmp/
type Cache struct{ root string }

// OpenCache makes the folder, if need be readable for everybody: children run
// as an unprivileged user where we are root. "" is DefaultCache.
func OpenCache(root string) (*Cache, error) {
	if root == "" {
		root = DefaultCache()
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("opening the cache: %w", err)
	}
	for _, sub := range []string{"agents", "node", "npm", "home", "locks", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, sub), 0o755); err != nil {
			return nil, fileError("opening the cache "+root, err)
		}
	}
	if os.Geteuid() == 0 {
		if bad := blockedFolder(root); bad != "" {
			return nil, fmt.Errorf("opening the cache %s: an unprivileged child cannot enter %s; set XDG_CACHE_HOME to a folder that everybody may enter: %w", root, bad, ErrCache)
		}
	}
	return &Cache{root: root}, nil
}

// DefaultCache returns $XDG_CACHE_HOME/agent-contracts, or the same below
// /var/cache for root, whose own cache no unprivileged child may enter, or
// below the user's cache folder.
func DefaultCache() string {
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" && os.Geteuid() == 0 {
		base = "/var/cache"
	}
	if base == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			base = dir
		} else {
			base = os.TempDir()
		}
	}
	return filepath.Join(base, "agent-contracts")
}

// Install returns the agent's release for a version specification: an exact
// version, a range (">=0.100 <0.140", "~2.1"), or a dist-tag such as "latest",
// which "" stands for. Exact versions in the cache need neither npm nor a
// network; anything else asks the registry.
func Install(ctx context.Context, agent *contract.Agent, spec string, opts Options) (*Installed, error) {
	j, err := newJob(agent, opts)
	if err != nil {
		return nil, err
	}
	version, err := j.resolve(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("installing %s: %w", agent.ID, err)
	}
	got, err := j.install(ctx, version)
	if err != nil {
		err = j.explainMissing(ctx, version, err)
		return nil, fmt.Errorf("installing %s@%s: %w", agent.ID, version, err)
	}
	return got, nil
}

// Resolve returns the exact version that a specification means now: a range,
// or a dist-tag such as "latest". An exact version is not looked up.
func Resolve(ctx context.Context, agent *contract.Agent, spec string, opts Options) (string, error) {
	j, err := newJob(agent, opts)
	if err != nil {
		return "", err
	}
	version, err := j.resolve(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("looking up %s@%s: %w", agent.ID, spec, err)
	}
	return version, nil
}

// job is one call of Install or Resolve.
type job struct {
	cache    *Cache
	agent    *contract.Agent
	npm      *contract.NPMInstall
	progress func(Progress)
	version  string
}

func newJob(agent *contract.Agent, opts Options) (*job, error) {
	if agent.Install == nil {
		return nil, fmt.Errorf("agent %q cannot be installed by this program; name its program with --bin: %w", agent.ID, ErrNoBinary)
	}
	c, err := OpenCache(opts.Cache)
	if err != nil {
		return nil, err
	}
	return &job{cache: c, agent: agent, npm: &agent.Install.NPM, progress: opts.Progress}, nil
}

func (j *job) report(s Stage, bytes int64) {
	if j.progress != nil {
		j.progress(Progress{Agent: j.agent.ID, Version: j.version, Stage: s, Bytes: bytes})
	}
}

// install returns the version from the cache, or puts it there.
func (j *job) install(ctx context.Context, version string) (*Installed, error) {
	j.version, j.npm = version, packageFor(j.npm, version)
	dir := j.cache.agentDir(j.agent.ID, version)
	unlock, err := j.cache.lock(ctx, j.agent.ID+"@"+version, func() { j.report(StageWaiting, 0) })
	if err != nil {
		return nil, err
	}
	defer unlock()
	if got, err := j.fromCache(dir); err == nil {
		if err := j.prepareNode(ctx, got, dir); err != nil {
			return nil, err
		}
		got.Cached = true
		return got, nil
	} else if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrIntegrity) {
		return nil, err
	}
	tmp, err := j.cache.tempDir(j.agent.ID + "@" + version)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if _, err := j.fill(ctx, tmp); err != nil {
		return nil, err
	}
	if err := publish(tmp, dir); err != nil {
		return nil, fileError("storing the release in the cache", err)
	}
	got, err := j.fromCache(dir)
	if err != nil {
		return nil, err
	}
	return got, j.prepareNode(ctx, got, dir)
}

// fromCache reads and checks a finished installation. The error is
// os.ErrNotExist without one, ErrIntegrity when its program has changed since.
func (j *job) fromCache(dir string) (*Installed, error) {
	got, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	p, err := findProgram(j.npm, j.version, filepath.Join(dir, "node_modules"))
	if err != nil {
		return nil, err
	}
	sum, err := hashFile(p.file)
	if err != nil {
		return nil, fileError("hashing the program", err)
	}
	if sum != got.BinarySHA256 {
		return nil, fmt.Errorf("the program in the cache has changed since it was installed: %w", ErrIntegrity)
	}
	got.Dir, got.Launcher = dir, p.launcher
	if got.Launcher == LauncherNative {
		got.Path = p.file
	} else {
		got.Args = []string{p.file}
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, manifestName), now, now) // last use, for Prune; not worth failing for
	return got, nil
}

// fill installs the version into an empty folder.
func (j *job) fill(ctx context.Context, dir string) (*Installed, error) {
	modules := filepath.Join(dir, "node_modules")
	done, err := j.cache.keepDownloads(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	stop := j.watch(dir)
	err = j.npmInstall(ctx, dir, j.npm.Package+"@"+j.version)
	var p program
	if err == nil {
		p, err = findProgram(j.npm, j.version, modules)
		if native := nativeFor(j.npm, j.version); errors.Is(err, ErrNoBinary) && native != nil && native.PlatformPackage != "" {
			if err = j.npmInstall(ctx, dir, expand(j.npm, native.PlatformPackage, j.version)); err == nil {
				p, err = findProgram(j.npm, j.version, modules)
			}
		}
	}
	stop()
	if err != nil {
		return nil, err
	}
	j.report(StageVerifying, 0)
	if err := j.verify(ctx, dir, p); err != nil {
		return nil, err
	}
	if err := shareWithAll(dir); err != nil {
		return nil, fileError("making the release readable", err)
	}
	sum, err := hashFile(p.file)
	if err != nil {
		return nil, fileError("hashing the program", err)
	}
	got := &Installed{
		Agent: j.agent.ID, Version: j.version, Launcher: p.launcher,
		Source: "npm:" + j.npm.Package + "@" + j.version, BinarySHA256: sum,
	}
	return got, fileError("writing the manifest", writeManifest(dir, got))
}
