// Package privatetest says what every private.Bucket must do.
package privatetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// Run holds a kind of bucket against the rules. open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) private.Bucket) {
	for _, c := range []struct {
		name string
		test func(*testing.T, private.Bucket)
	}{
		{"what was put is got", putAndGet},
		{"what is not there", absent},
		{"a failed write changes nothing", failedPut},
		{"names are listed in order", list},
		{"deleting twice", deleteTwice},
		{"no name leaves the bucket", badNames},
		{"writers at once", concurrent},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) { c.test(t, open(t)) })
	}
}

func put(t *testing.T, b private.Bucket, name, content string) {
	t.Helper()
	if err := b.Put(t.Context(), name, strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, b private.Bucket, name string) string {
	t.Helper()
	r, err := b.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func putAndGet(t *testing.T, b private.Bucket) {
	large := string(bytes.Repeat([]byte("\x00\xff\r\n"), 1<<20))
	for name, content := range map[string]string{"a": "", "a1/b.age": "x", "a1/c.json": "{}", "large": large} {
		put(t, b, name, content)
		if got := get(t, b, name); got != content {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(content))
		}
	}
	put(t, b, "a1/c.json", "new")
	if got := get(t, b, "a1/c.json"); got != "new" {
		t.Errorf("put again: %q", got)
	}
}

func absent(t *testing.T, b private.Bucket) {
	put(t, b, "ab/c.age", "x")
	for _, name := range []string{"none", "ab/none", "ab", "ab/c"} {
		if r, err := b.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				_, err = io.ReadAll(r) // a folder opens, and does not read
				_ = r.Close()
			}
			if err == nil {
				t.Errorf("%s is there", name)
			}
		}
	}
}

func failedPut(t *testing.T, b private.Bucket) {
	put(t, b, "x", "old")
	boom := errors.New("boom")
	broken := io.MultiReader(strings.NewReader("ne"), failing{boom})
	for what, err := range map[string]error{
		"a reader that fails": b.Put(t.Context(), "x", broken, 3),
		"too few bytes":       b.Put(t.Context(), "x", strings.NewReader("ne"), 3),
		"a reader that fails at once, under a new name": b.Put(t.Context(), "y", failing{boom}, 3),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if got := get(t, b, "x"); got != "old" {
		t.Errorf("x became %q", got)
	}
	if names, err := b.List(t.Context(), ""); err != nil || !slices.Equal(names, []string{"x"}) {
		t.Errorf("it holds %q, %v", names, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func list(t *testing.T, b private.Bucket) {
	if names, err := b.List(t.Context(), ""); err != nil || len(names) != 0 {
		t.Errorf("an empty bucket holds %q, %v", names, err)
	}
	for _, name := range []string{"b/2", "a/1", "b/10", "c"} {
		put(t, b, name, name)
	}
	var many []string // more than a service may list at once
	for i := range 7 {
		many = append(many, fmt.Sprintf("many/%d", i))
		put(t, b, many[i], "x")
	}
	for prefix, want := range map[string][]string{"": append([]string{"a/1", "b/10", "b/2", "c"}, many...), "b/": {"b/10", "b/2"}, "many/": many, "d": nil} {
		if names, err := b.List(t.Context(), prefix); err != nil || !slices.Equal(names, want) {
			t.Errorf("%q: %q, %v, want %q", prefix, names, err, want)
		}
	}
}

func deleteTwice(t *testing.T, b private.Bucket) {
	put(t, b, "a/x", "x")
	for range 2 {
		if err := b.Delete(t.Context(), "a/x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Get(t.Context(), "a/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func badNames(t *testing.T, b private.Bucket) {
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../x", "a//b", ".hidden", "a/.hidden"} {
		if err := b.Put(t.Context(), name, strings.NewReader("x"), 1); err == nil {
			t.Errorf("Put %q", name)
		}
		if _, err := b.Get(t.Context(), name); err == nil {
			t.Errorf("Get %q", name)
		}
		if err := b.Delete(t.Context(), name); err == nil {
			t.Errorf("Delete %q", name)
		}
	}
}

// concurrent writers of one name leave the content of one of them.
func concurrent(t *testing.T, b private.Bucket) {
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	want := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 100_000)}
	for _, content := range want {
		for range 4 {
			group.Go(func() {
				if err := b.Put(ctx, "a/x", strings.NewReader(content), int64(len(content))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	if got := get(t, b, "a/x"); !slices.Contains(want, got) {
		t.Errorf("x has %d bytes of several writers", len(got))
	}
}
