package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// manyFiles are two folders of more files than one processor reads at once, one
// inside the other, with names that sort otherwise as whole texts.
func manyFiles() fstest.MapFS {
	out := fstest.MapFS{
		AgentsFile:               {Data: []byte("{}")},
		"observations/a-b/x":     {Data: []byte("x")},
		"observations/a/.hidden": {Data: []byte("not listed")},
		"observations/a/large":   {Data: bytes.Repeat([]byte("0123456789"), 50_000)},
		"observations/a/none":    {},
		"observations/b.x":       {Data: []byte("b")},
	}
	for i, size := range []int{1, 4 << 10, 64<<10 - 2, 64 << 10, 64<<10 + 2, 1 << 20} { // around a buffer's size, each line a possible end
		out[fmt.Sprintf("observations/a/lines-%d", i)] = &fstest.MapFile{Data: bytes.Repeat([]byte("\n"), size)}
	}
	for i := range 150 {
		out[fmt.Sprintf("observations/a/m/%03d.x", i)] = &fstest.MapFile{Data: fmt.Append(nil, i)}
		out[fmt.Sprintf("observations/a/%03d.x", i)] = &fstest.MapFile{Data: fmt.Append(nil, -i)}
	}
	return out
}

// registries are the same files in a folder and in the binary.
func registries(t *testing.T, files fstest.MapFS) map[string]*Registry {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	onDisk, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Registry{"embedded": Embedded(files), "on disk": onDisk}
}

func TestWalkListsAsWalkDirDoes(t *testing.T) {
	t.Parallel()
	files := manyFiles()
	for name, r := range registries(t, files) {
		for _, folder := range []string{".", "observations", "observations/a/m", "observations/b.x", "observations/a/.hidden", "missing"} {
			for _, suffix := range []string{"", ".x"} {
				var want []string
				_ = fs.WalkDir(files, folder, func(p string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() && strings.HasSuffix(p, suffix) && !strings.HasPrefix(d.Name(), ".") {
						want = append(want, p)
					}
					return nil
				})
				if got, err := r.Walk(folder, suffix); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: the files of %s in %q are %q, want %q (%v)", name, folder, suffix, got, want, err)
				}
			}
		}
	}
}

func TestReadEachReadsWhatReadFileReads(t *testing.T) {
	t.Parallel()
	for name, r := range registries(t, manyFiles()) {
		files, err := r.Walk("observations", "")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, AgentsFile)
		var mu sync.Mutex
		got := map[string]string{}
		err = r.ReadEach(files, func(i int, text []byte) error {
			mu.Lock()
			defer mu.Unlock()
			got[files[i]] += string(text)
			return nil
		})
		if err != nil || len(got) != len(files) {
			t.Fatalf("%s: %d of %d files: %v", name, len(got), len(files), err)
		}
		for _, f := range files {
			if want, err := r.ReadFile(f); err != nil || got[f] != string(want) {
				t.Errorf("%s: %s is read otherwise: %v", name, f, err)
			}
		}
	}
}

func TestReadEachGivesTheFirstError(t *testing.T) {
	t.Parallel()
	for name, r := range registries(t, manyFiles()) {
		dir := filepath.Join("observations", "a")
		for _, bad := range []string{"observations/a/missing", "missing/file", filepath.ToSlash(dir), "../outside"} {
			_, want := r.ReadFile(bad)
			err := r.ReadEach([]string{"observations/a/000.x", bad, "also/missing"}, func(int, []byte) error { return nil })
			if err == nil || want == nil || err.Error() != want.Error() {
				t.Errorf("%s: reading %s: %v, want %v", name, bad, err, want)
			}
		}
		mine := errors.New("mine")
		if err := r.ReadEach([]string{"observations/b.x", "missing"}, func(int, []byte) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("%s: the first error is %v", name, err)
		}
	}
}

func TestReadIntoReadsWhatReadFileReads(t *testing.T) {
	t.Parallel()
	for name, r := range registries(t, manyFiles()) {
		files, err := r.Walk("observations", "")
		if err != nil {
			t.Fatal(err)
		}
		room := make([]byte, 0, 16)
		for _, f := range append(files, AgentsFile) {
			want, err := r.ReadFile(f)
			got, err2 := r.ReadInto(f, room)
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s is read otherwise: %v, %v", name, f, err, err2)
			}
			room = got[:0]
		}
		for _, f := range []string{"observations", "missing", "../x", ""} {
			_, err := r.ReadFile(f)
			if _, err2 := r.ReadInto(f, room); err == nil || fmt.Sprint(err) != fmt.Sprint(err2) {
				t.Errorf("%s: %q gives %v, want %v", name, f, err2, err)
			}
		}
	}
}
