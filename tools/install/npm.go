package install

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// hostVariables are those that npm may need from the host: to be found, to
// reach a registry through a proxy or a mirror, and to run on Windows. The
// user's HOME and npmrc stay out of sight.
var hostVariables = []string{
	"PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NPM_CONFIG_REGISTRY",
}

// maxNPMOutput bounds what is kept of npm's output; a version list has some
// 100 kB.
const maxNPMOutput = 16 << 20

// npmGrace is how long npm has to go after it was told to.
const npmGrace = 5 * time.Second

// runNPM runs npm and returns its stdout. what says in an error what npm was
// asked to do.
func (c *Cache) runNPM(ctx context.Context, what, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("npm")
	if err != nil {
		return nil, &npmError{what: what, reason: ErrNPMMissing, advice: "install Node.js, which brings npm, or use an installed program with --bin", cause: err}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, c.npmEnv(), npmGrace
	killGroup(cmd)
	stdout, stderr := &limited{max: maxNPMOutput}, &limited{max: maxNPMOutput}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// A parent-death signal belongs to the thread that starts the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	if err != nil {
		return nil, classifyNPM(what, stderr.String(), err)
	}
	return stdout.Bytes(), nil
}

func (c *Cache) npmEnv() []string {
	home := filepath.Join(c.root, "home")
	env := []string{
		"HOME=" + home, "USERPROFILE=" + home,
		"npm_config_userconfig=" + filepath.Join(home, ".npmrc"),
		"npm_config_cache=" + filepath.Join(c.root, "npm"),
		"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_progress=false", "npm_config_loglevel=error", "npm_config_logs_max=0", "NO_COLOR=1",
		// npm's own waits of 10 and 60 s make a missing network look like a hang.
		"npm_config_fetch_retries=2", "npm_config_fetch_retry_mintimeout=1000", "npm_config_fetch_retry_maxtimeout=4000",
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(hostVariables, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return env
}

// limited keeps the first max bytes and takes the rest without keeping it.
type limited struct {
	bytes.Buffer
	max int
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	l.Buffer.Write(b[:min(len(b), max(0, l.max-l.Len()))])
	return len(b), nil
}

// npmInstall installs one package into dir. Install scripts run only where the
// agent's definition allows them.
func (j *job) npmInstall(ctx context.Context, dir, spec string) error {
	args := []string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--include=optional", "--no-update-notifier"}
	if !j.npm.AllowScripts {
		args = append(args, "--ignore-scripts")
	}
	_, err := j.cache.runNPM(ctx, "npm install "+spec, dir, append(args, spec)...)
	return err
}

// published is what the registry says about one release.
type published struct {
	Integrity string `json:"integrity"`
	Shasum    string `json:"shasum"`
}

func (c *Cache) published(ctx context.Context, spec string) (string, error) {
	out, err := c.runNPM(ctx, "asking the registry for the hash of "+spec, c.root, "view", spec, "dist", "--json")
	if err != nil {
		return "", err
	}
	var p published
	if err := json.Unmarshal(out, &p); err != nil {
		return "", fmt.Errorf("reading the registry's answer about %s: %w: %w", spec, err, ErrIntegrity)
	}
	if p.Integrity != "" {
		return p.Integrity, nil
	}
	sum, err := hex.DecodeString(p.Shasum)
	if err != nil || len(sum) == 0 {
		return "", fmt.Errorf("the registry names no hash for %s: %w", spec, ErrIntegrity)
	}
	return "sha1-" + base64.StdEncoding.EncodeToString(sum), nil
}

// lockedPackage is an entry of npm's own record of what it unpacked.
type lockedPackage struct {
	Name      string `json:"name"` // when it differs from the folder's
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// verify compares the hashes of what npm unpacked, of the agent's package and
// of the one that holds its program, with those that the registry publishes.
func (j *job) verify(ctx context.Context, dir string, p program) error {
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err != nil {
		return fmt.Errorf("reading npm's record of the installation: %w: %w", err, ErrIntegrity)
	}
	var lock struct {
		Packages map[string]lockedPackage `json:"packages"`
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return fmt.Errorf("reading npm's record of the installation: %w: %w", err, ErrIntegrity)
	}
	keys := []string{"node_modules/" + j.npm.Package}
	if p.module != keys[0] {
		keys = append(keys, p.module)
	}
	for _, key := range keys {
		entry, ok := lock.Packages[key]
		if !ok {
			return fmt.Errorf("npm's record of the installation lacks %s: %w", strings.TrimPrefix(key, "node_modules/"), ErrIntegrity)
		}
		spec := strings.TrimPrefix(key, "node_modules/")
		if entry.Name != "" {
			spec = entry.Name
		}
		spec += "@" + entry.Version
		want, err := j.cache.published(ctx, spec)
		if err != nil {
			return err
		}
		if want != entry.Integrity {
			return &npmError{what: "checking " + spec, reason: ErrIntegrity, advice: adviceIntegrity, cause: errors.New("hashes differ")}
		}
	}
	return nil
}
