package sourcescan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a scan: the largest program in a package has some 260 MB.
const (
	maxFile  = 512 << 20
	maxTotal = 2 << 30
	// A file above this size is a program or a bundle: it is searched for words,
	// not read as source.
	maxSource = 4 << 20
)

// Folder reads the sources below a folder. Tests, dependencies and other
// platforms' parts are left out; links are not followed.
func Folder(dir string) (*Surface, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading sources: %w", err)
	}
	defer root.Close()
	s, total := newSurface(), int64(0)
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skipped(d.Name()) && p != "." {
			return fs.SkipDir
		}
		read := reader(p, d)
		if read == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); info.Size() > maxFile || total > maxTotal {
			return fmt.Errorf("reading %s: the sources are larger than we read (%d MB a file, %d MB together)", p, maxFile>>20, maxTotal>>20)
		}
		b, err := fs.ReadFile(root.FS(), p)
		if err != nil {
			return err
		}
		s.Files++
		if len(b) > maxSource {
			read = (*Surface).bundle
		}
		read(s, p, b)
		return nil
	})
	var p *fs.PathError
	if errors.As(err, &p) {
		err = fmt.Errorf("reading sources below %s: %w", filepath.Base(dir), err)
	}
	return s, err
}

func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"test", "tests", "__tests__", "testdata", "fixtures", "target", "vendor_modules"}, name)
}

// reader returns how a file is read, nil for one that says nothing.
func reader(p string, d fs.DirEntry) func(*Surface, string, []byte) {
	if !d.Type().IsRegular() {
		return nil
	}
	base := path.Base(p)
	switch path.Ext(p) {
	case ".ts", ".mts", ".cts", ".tsx":
		if strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") {
			return nil
		}
		return (*Surface).typeScript
	case ".rs":
		return (*Surface).rust
	case ".go":
		if strings.HasSuffix(base, "_test.go") {
			return nil
		}
		return (*Surface).golang
	case ".json":
		return (*Surface).jsonSchema
	case ".js", ".mjs", ".cjs":
		return (*Surface).bundle
	case "", ".exe": // a program; bundled JavaScript stands in it as text
		if base == "claude" || base == "claude.exe" || slices.Contains(strings.Split(p, "/"), "bin") || slices.Contains(strings.Split(p, "/"), "vendor") {
			return (*Surface).bundle
		}
	}
	return nil
}
