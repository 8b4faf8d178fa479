package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// nodeTimeout bounds `node --version`.
const nodeTimeout = 10 * time.Second

// prepareNode gives a JavaScript program the Node.js that it needs: the host's
// if it fits and children may run it, else one from npm.
func (j *job) prepareNode(ctx context.Context, got *Installed, dir string) error {
	if got.Launcher != LauncherNPMWrapper {
		return nil
	}
	need, err := j.nodeRange(dir)
	if err != nil {
		return err
	}
	path, version := hostNode(ctx)
	if path == "" || !need.Check(version) {
		if path, version, err = j.cachedNode(ctx, need); err != nil {
			return err
		}
	}
	got.Path, got.NodeVersion = path, "v"+version.String()
	return nil
}

// nodeRange returns what the definition demands, else what the package does.
func (j *job) nodeRange(dir string) (*semver.Constraints, error) {
	v, err := agents.ParseToken(j.agent, j.version)
	if err != nil {
		return nil, err
	}
	for _, r := range j.npm.Node {
		if in, err := v.In(r.Versions); err == nil && in {
			return semver.NewConstraint(r.Node)
		}
	}
	p, err := readPackageJSON(filepath.Join(dir, "node_modules", filepath.FromSlash(j.npm.Package)))
	if err != nil {
		return nil, err
	}
	c, err := semver.NewConstraint(p.Engines.Node)
	if err != nil { // absent, or in a notation that only npm understands
		return semver.NewConstraint("*")
	}
	return c, nil
}

// hostNode returns the node on PATH and its version, or "" if there is none
// that an unprivileged child could run.
func hostNode(ctx context.Context) (string, *semver.Version) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", nil
	}
	if os.Geteuid() == 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || blockedFolder(real) != "" || blockedFolder(filepath.Dir(path)) != "" {
			return "", nil
		}
	}
	v, err := nodeVersion(ctx, path)
	if err != nil {
		return "", nil
	}
	return path, v
}

func nodeVersion(ctx context.Context, path string) (*semver.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = npmGrace
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", filepath.Base(path), err)
	}
	return semver.NewVersion(strings.TrimSpace(string(out)))
}

// cachedNode returns a Node.js in the range from the cache, or installs one.
func (j *job) cachedNode(ctx context.Context, need *semver.Constraints) (string, *semver.Version, error) {
	pkg := "node-" + string(contract.HostPlatform())
	place := func(version string) string {
		return filepath.Join(j.cache.root, "node", version, "node_modules", pkg, "bin", "node")
	}
	manifests, _ := filepath.Glob(filepath.Join(j.cache.root, "node", "*", manifestName))
	for _, m := range manifests {
		if v, err := semver.NewVersion(filepath.Base(filepath.Dir(m))); err == nil && need.Check(v) {
			return place(v.String()), v, nil
		}
	}
	versions, _, err := j.cache.versions(ctx, pkg)
	if errors.Is(err, ErrNoSuchVersion) || err == nil && pickNode(versions, need) == nil {
		return "", nil, fmt.Errorf("%s@%s needs Node.js %s and npm has none for %s; install it: %w", j.agent.ID, j.version, need, contract.HostPlatform(), ErrNoBinary)
	}
	if err != nil {
		return "", nil, err
	}
	v := pickNode(versions, need)
	return place(v.String()), v, j.installNode(ctx, pkg, v.String())
}

// pickNode returns the newest release of the oldest long-term line (even
// major) in the range, else the newest in the range, else nil.
func pickNode(versions []string, need *semver.Constraints) *semver.Version {
	var line, newest *semver.Version
	for _, s := range versions { // ascending
		v, err := semver.NewVersion(s)
		if err != nil || !need.Check(v) {
			continue
		}
		newest = v
		if v.Major()%2 == 0 && (line == nil || line.Major() == v.Major()) {
			line = v
		}
	}
	if line != nil {
		return line
	}
	return newest
}

func (j *job) installNode(ctx context.Context, pkg, version string) error {
	unlock, err := j.cache.lock(ctx, "node@"+version, func() { j.report(StageWaiting, 0) })
	if err != nil {
		return err
	}
	defer unlock()
	dir := filepath.Join(j.cache.root, "node", version)
	if _, err := readManifest(dir); err == nil {
		return nil
	}
	// The same steps as for an agent whose program is this node.
	node := &job{cache: j.cache, version: version, progress: j.progress, agent: &contract.Agent{ID: "node"}, npm: &contract.NPMInstall{
		Package: pkg, Bin: "node", Native: []contract.NativeBinary{{Versions: "*", Path: pkg + "/bin/node{exe}"}},
	}}
	tmp, err := j.cache.tempDir("node@" + version)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if _, err := node.fill(ctx, tmp); err != nil {
		return err
	}
	return fileError("storing Node.js in the cache", publish(tmp, dir))
}
