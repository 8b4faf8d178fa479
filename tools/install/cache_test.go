package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// filled returns a cache with three releases, used at one-hour distances in
// the order 1.0.0, 2.0.0, 1.1.0, and 500 bytes of npm's downloads.
func filled(t *testing.T) *Cache {
	t.Helper()
	c, err := OpenCache(newWorld(t).opts.Cache)
	if err != nil {
		t.Fatal(err)
	}
	put := func(file string, bytes int, used time.Time) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, make([]byte, bytes), 0o644), os.Chtimes(file, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range []string{"1.0.0", "2.0.0", "1.1.0"} {
		used := time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC)
		put(filepath.Join(c.agentDir("demo", v), "node_modules", "cli.js"), 1000, used)
		put(filepath.Join(c.agentDir("demo", v), manifestName), 10, used)
	}
	put(filepath.Join(c.root, "npm", "tarball"), 500, time.Now())
	return c
}

func names(entries []Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}

func TestList(t *testing.T) {
	c := filled(t)
	got, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"demo@1.0.0", "demo@1.1.0", "demo@2.0.0", npmDownloads}; !slices.Equal(names(got), want) {
		t.Errorf("%q, want %q", names(got), want)
	}
	for _, e := range got {
		if e.Bytes < 500 {
			t.Errorf("%s has %d bytes", e.Name, e.Bytes)
		}
	}
}

func TestPruneRemovesTheLeastUsed(t *testing.T) {
	tests := []struct {
		name string
		keep func(total int64) Keep
		want []string
	}{
		{"nothing to do", func(total int64) Keep { return Keep{Bytes: total, Versions: 3} }, nil},
		{"no limit", func(int64) Keep { return Keep{Bytes: -1, Versions: -1} }, nil},
		{"downloads first", func(total int64) Keep { return Keep{Bytes: total - 1, Versions: -1} }, []string{npmDownloads}},
		{"then the oldest", func(total int64) Keep { return Keep{Bytes: total - 600, Versions: -1} }, []string{npmDownloads, "demo@1.0.0"}},
		{"by number", func(int64) Keep { return Keep{Bytes: -1, Versions: 1} }, []string{"demo@1.0.0", "demo@2.0.0"}},
		{"everything", func(int64) Keep { return Keep{} }, []string{npmDownloads, "demo@1.0.0", "demo@2.0.0", "demo@1.1.0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := filled(t)
			before, err := c.List()
			if err != nil {
				t.Fatal(err)
			}
			var total int64
			for _, e := range before {
				total += e.Bytes
			}
			removed, err := c.Prune(context.Background(), tt.keep(total))
			if err != nil || !slices.Equal(names(removed), tt.want) {
				t.Errorf("removed %q, %v; want %q", names(removed), err, tt.want)
			}
			after, err := c.List()
			if err != nil || len(after) != len(before)-len(removed) {
				t.Errorf("%d entries of %d are left, %v", len(after), len(before), err)
			}
		})
	}
}

func TestPruneLeavesWhatIsBeingInstalled(t *testing.T) {
	c := filled(t)
	unlock, err := c.lock(context.Background(), "demo@1.0.0", func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	removed, err := c.Prune(context.Background(), Keep{Versions: 0})
	if err != nil || slices.Contains(names(removed), "demo@1.0.0") || len(removed) != 3 {
		t.Errorf("removed %q, %v", names(removed), err)
	}
}

func TestEvict(t *testing.T) {
	c := filled(t)
	unlock, err := c.lock(context.Background(), "demo@2.0.0", func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, v := range []string{"1.0.0", "2.0.0", "9.9.9"} {
		if err := c.Evict("demo", v); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.List()
	// One is being installed, and few downloads are worth keeping.
	if want := []string{"demo@1.1.0", "demo@2.0.0", npmDownloads}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("left are %q, %v; want %q", names(got), err, want)
	}
}

// The history has each release under the package name that it is installed by.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	w.registry.Versions["@old/demo"] = []string{"0.10.0", "0.9.0", "1.0.0", "1.0.1"}
	w.agent.Install.NPM.Earlier = []contract.EarlierPackage{{Versions: "<1.0.0", Package: "@old/demo", Bin: "old-demo"}}
	w.publish()
	got, err := History(context.Background(), w.agent, w.opts)
	if want := []string{"0.9.0", "0.10.0", "1.0.0", "1.1.0", "2.0.0", "2.1.0", "2.2.0-beta.1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// A killed installation leaves a folder in tmp/, which is no installation and
// goes away with the next one.
func TestKilledInstallationLeavesNothing(t *testing.T) {
	w := newWorld(t)
	c, err := OpenCache(w.opts.Cache)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := c.tempDir("demo@2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.install("2.0.0"); err != nil || got.Cached {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder of the killed installation is still there")
	}
}

func TestVersionsAreReleases(t *testing.T) {
	w := newWorld(t)
	w.publish()
	got, tags, err := Versions(context.Background(), w.agent, w.opts)
	if want := []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0", "2.2.0-beta.1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if tags["latest"] != "2.1.0" {
		t.Errorf("dist-tags %v", tags)
	}
	w.registry.Versions["@x/demo"] = []string{"1.0.0"}
	w.publish()
	if got, _, err := Versions(context.Background(), w.agent, w.opts); err != nil || len(got) != 1 {
		t.Errorf("a package with one release: %q, %v", got, err)
	}
}

func TestCacheFolderThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(filepath.Join(file, "cache")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a cache below a file: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root starts children as another user")
	}
	private := filepath.Join(w.dir, "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(filepath.Join(private, "cache")); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), private) {
		t.Errorf("a cache that children cannot enter: %v", err)
	}
}

func TestDefaultCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/x")
	if got := DefaultCache(); got != filepath.Join("/x", "agent-contracts") {
		t.Errorf("%q", got)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	if got := DefaultCache(); os.Geteuid() == 0 && got != "/var/cache/agent-contracts" {
		t.Errorf("root's cache is %q, which no unprivileged child may enter", got)
	}
}

// Our own writes fail for the same reasons as npm's.
func TestFileErrorsHaveReasons(t *testing.T) {
	for _, tt := range []struct {
		err, want error
		advice    string
	}{
		{syscall.ENOSPC, ErrDiskFull, "cache prune"},
		{syscall.EROFS, ErrCache, "XDG_CACHE_HOME"},
		{syscall.EACCES, ErrCache, "XDG_CACHE_HOME"},
		{context.Canceled, context.Canceled, "writing"},
		{fs.ErrNotExist, fs.ErrNotExist, "writing"},
	} {
		got := fileError("writing", &fs.PathError{Op: "open", Path: "x", Err: tt.err})
		if !errors.Is(got, tt.want) || !errors.Is(got, tt.err) || !strings.Contains(got.Error(), tt.advice) {
			t.Errorf("%v gave %v", tt.err, got)
		}
	}
	if fileError("writing", nil) != nil {
		t.Error("no error became one")
	}
}
