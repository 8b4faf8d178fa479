package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// manifestName is written last: a folder without it is no installation. Its
// time is the last use.
const manifestName = "installed.json"

func (c *Cache) agentDir(agent, version string) string {
	return filepath.Join(c.root, "agents", agent, version)
}

// cachedVersions lists the agent's finished installations, in ascending order.
func (c *Cache) cachedVersions(agent string) []string {
	manifests, _ := filepath.Glob(filepath.Join(c.root, "agents", agent, "*", manifestName))
	var out []string
	for _, m := range manifests {
		out = append(out, filepath.Base(filepath.Dir(m)))
	}
	slices.SortFunc(out, func(a, b string) int {
		n, err := agents.CompareVersions(&contract.Agent{}, a, b)
		if err != nil {
			return cmp.Compare(a, b)
		}
		return n
	})
	return out
}

// lock takes the lock of one installation. waiting is called once if another
// process holds it.
func (c *Cache) lock(ctx context.Context, key string, waiting func()) (unlock func(), err error) {
	const retry = 200 * time.Millisecond
	l := flock.New(filepath.Join(c.root, "locks", key+".lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		waiting()
		ok, err = l.TryLockContext(ctx, retry)
	}
	if err != nil || !ok {
		return nil, fileError("locking "+key+" in the cache", cmp.Or(err, context.Cause(ctx)))
	}
	return func() { _ = l.Close() }, nil
}

// keepDownloads keeps Prune from removing npm's cache while npm works in it.
func (c *Cache) keepDownloads(ctx context.Context) (done func(), err error) {
	const retry = 200 * time.Millisecond
	l := flock.New(filepath.Join(c.root, "locks", npmDownloads+".lock"))
	if ok, err := l.TryRLockContext(ctx, retry); err != nil || !ok {
		return nil, fileError("locking npm's downloads in the cache", cmp.Or(err, context.Cause(ctx)))
	}
	return func() { _ = l.Close() }, nil
}

// tempDir makes an empty folder for one installation, whose lock is held, and
// removes what killed ones left.
func (c *Cache) tempDir(key string) (string, error) {
	left, _ := filepath.Glob(filepath.Join(c.root, "tmp", key+"-*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir) // a later installation tries again
	}
	dir, err := os.MkdirTemp(filepath.Join(c.root, "tmp"), key+"-")
	return dir, fileError("making a folder in the cache", err)
}

// publish moves a finished installation to its place.
func publish(tmp, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

func writeManifest(dir string, i *Installed) error {
	b, err := contract.Encode(i)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), b, 0o644)
}

// readManifest returns os.ErrNotExist without one and ErrIntegrity for a
// damaged one.
func readManifest(dir string) (*Installed, error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, fileError("reading the cache", err)
	}
	var i Installed
	if err := json.Unmarshal(b, &i); err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", manifestName, err, ErrIntegrity)
	}
	return &i, nil
}

// shareWithAll makes a tree readable, and its programs executable, for every
// user of the machine.
func shareWithAll(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := info.Mode().Perm() | 0o444
		if d.IsDir() || want&0o100 != 0 {
			want |= 0o111
		}
		if want == info.Mode().Perm() {
			return nil
		}
		return os.Chmod(path, want)
	})
}

// blockedFolder returns the first folder on the way to path that others may
// not enter, or "".
func blockedFolder(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// watch reports the growing size of a folder until stop is called.
func (j *job) watch(dir string) (stop func()) {
	j.report(StageDownloading, 0)
	if j.progress == nil {
		return func() {}
	}
	const interval = 500 * time.Millisecond
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				j.report(StageDownloading, size(dir))
			}
		}
	}()
	return func() { close(done); <-ended }
}

// size returns the bytes of a tree's files. Files that vanish meanwhile do not
// count.
func size(root string) (n int64) {
	_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// Entry is a part of the cache that can be removed.
type Entry struct {
	// Name is "<agent>@<version>", "node@<version>" or "npm downloads".
	Name     string    `json:"name"`
	Dir      string    `json:"dir"`
	Bytes    int64     `json:"bytes"`
	LastUsed time.Time `json:"last_used"`
}

const npmDownloads = "npm downloads"

// List returns what is in the cache, by name.
func (c *Cache) List() ([]Entry, error) {
	var out []Entry
	for _, pattern := range []string{"agents/*/*", "node/*"} {
		manifests, err := filepath.Glob(filepath.Join(c.root, pattern, manifestName))
		if err != nil {
			return nil, fmt.Errorf("listing the cache: %w", err)
		}
		for _, m := range manifests {
			info, err := os.Stat(m)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				return nil, fileError("listing the cache", err)
			}
			dir := filepath.Dir(m)
			out = append(out, Entry{Name: filepath.Base(filepath.Dir(dir)) + "@" + filepath.Base(dir), Dir: dir, Bytes: size(dir), LastUsed: info.ModTime()})
		}
	}
	if n := size(filepath.Join(c.root, "npm")); n > 0 {
		out = append(out, Entry{Name: npmDownloads, Dir: filepath.Join(c.root, "npm"), Bytes: n})
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Keep says what Prune leaves. A negative number sets no limit.
type Keep struct {
	Bytes    int64 // at most this many bytes in the whole cache
	Versions int   // at most this many releases of each agent
}

// Prune removes npm's downloads and the least recently used releases until the
// limits hold, and returns what it removed. Releases that are being installed
// stay; one that is running goes on running.
func (c *Cache) Prune(ctx context.Context, keep Keep) ([]Entry, error) {
	return c.prune(ctx, keep, c.remove)
}

// Prunable returns what Prune would remove now, and removes nothing.
func (c *Cache) Prunable(ctx context.Context, keep Keep) ([]Entry, error) {
	return c.prune(ctx, keep, func(Entry) (bool, error) { return true, nil })
}

func (c *Cache) prune(ctx context.Context, keep Keep, remove func(Entry) (bool, error)) ([]Entry, error) {
	entries, err := c.List()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.LastUsed.Compare(b.LastUsed) })
	var total int64
	releases := map[string]int{}
	for _, e := range entries {
		total += e.Bytes
		releases[agentOf(e.Name)]++
	}
	var removed []Entry
	for _, e := range entries {
		tooMany := keep.Versions >= 0 && e.Name != npmDownloads && releases[agentOf(e.Name)] > keep.Versions
		if !tooMany && (keep.Bytes < 0 || total <= keep.Bytes) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return removed, fmt.Errorf("pruning the cache: %w", err)
		}
		ok, err := remove(e)
		if err != nil {
			return removed, err
		}
		if ok {
			removed = append(removed, e)
			total -= e.Bytes
			releases[agentOf(e.Name)]--
		}
	}
	return removed, nil
}

func agentOf(name string) string {
	agent, _, _ := strings.Cut(name, "@")
	return agent
}

// remove deletes an entry unless it is being installed right now. The
// manifest goes first, so that a killed Prune leaves no half installation.
func (c *Cache) remove(e Entry) (bool, error) {
	l := flock.New(filepath.Join(c.root, "locks", e.Name+".lock"))
	ok, err := l.TryLock()
	if err != nil {
		return false, fileError("locking "+e.Name+" in the cache", err)
	}
	if !ok {
		return false, nil
	}
	defer l.Close()
	if err := os.Remove(filepath.Join(e.Dir, manifestName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fileError("removing "+e.Name+" from the cache", err)
	}
	if err := os.RemoveAll(e.Dir); err != nil {
		return false, fileError("removing "+e.Name+" from the cache", err)
	}
	return true, nil
}

// Releases lists the agent's finished installations, in ascending order.
func (c *Cache) Releases(agent string) []string { return c.cachedVersions(agent) }

// maxDownloads is how much of npm's own downloads Evict leaves.
const maxDownloads = 4 << 30

// Evict removes one release, and npm's downloads where they have become many. A
// release that is being installed stays.
func (c *Cache) Evict(agent, version string) error {
	if _, err := c.remove(Entry{Name: agent + "@" + version, Dir: c.agentDir(agent, version)}); err != nil {
		return err
	}
	downloads := filepath.Join(c.root, "npm")
	if size(downloads) <= maxDownloads {
		return nil
	}
	_, err := c.remove(Entry{Name: npmDownloads, Dir: downloads})
	return err
}
