package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Walk lists the files below a folder of the registry whose names end in
// suffix, sorted part by part of their places. A missing folder has none.
func (r *Registry) Walk(folder, suffix string) ([]string, error) {
	w := walk{fsys: r.fsys, suffix: suffix}
	w.group.SetLimit(runtime.GOMAXPROCS(0))
	top, err := fs.Stat(r.fsys, folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	case !top.IsDir():
		if w.takes(path.Base(folder)) {
			return []string{folder}, nil
		}
		return nil, nil
	}
	l := &listed{place: folder}
	err = w.list(l)
	if err := errors.Join(err, w.group.Wait()); err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	return l.add(make([]string, 0, l.size())), nil
}

// walk lists folders, several at once.
type walk struct {
	fsys   fs.FS
	suffix string
	group  errgroup.Group
}

// listed is a folder that was listed: its files, and each folder below it with
// the number of files before it.
type listed struct {
	place string
	files []string
	below []*listed
	at    []int
}

func (w *walk) takes(name string) bool {
	return strings.HasSuffix(name, w.suffix) && !strings.HasPrefix(name, ".")
}

func (w *walk) list(l *listed) error {
	entries, err := fs.ReadDir(w.fsys, l.place)
	if err != nil {
		return err
	}
	inside := path.Clean(l.place) + "/"
	if inside == "./" {
		inside = ""
	}
	l.files = make([]string, 0, len(entries))
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir():
			l.below, l.at = append(l.below, &listed{place: inside + name}), append(l.at, len(l.files))
		case w.takes(name):
			l.files = append(l.files, inside+name)
		}
	}
	for _, b := range l.below {
		if !w.group.TryGo(func() error { return w.list(b) }) {
			if err := w.list(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *listed) size() int {
	n := len(l.files)
	for _, b := range l.below {
		n += b.size()
	}
	return n
}

func (l *listed) add(out []string) []string {
	from := 0
	for i, b := range l.below {
		out = b.add(append(out, l.files[from:l.at[i]]...))
		from = l.at[i]
	}
	return append(out, l.files[from:]...)
}

// unitFiles bounds what one processor reads before it looks for more.
const unitFiles = 64

// ReadEach reads files and hands each to do, on all processors. Files of one
// folder should follow one another: the folder is opened once for them. text is
// do's until it returns. The error is that of the first file that has one.
func (r *Registry) ReadEach(files []string, do func(i int, text []byte) error) error {
	errs := make([]error, len(files))
	var next atomic.Int64
	var readers sync.WaitGroup
	units := unitsOf(files)
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			buffer := make([]byte, 0, 64<<10)
			for u := next.Add(1) - 1; u < int64(len(units)); u = next.Add(1) - 1 {
				from, to := units[u][0], units[u][1]
				buffer = r.readUnit(files[from:to], buffer, func(i int, text []byte, err error) {
					if err == nil {
						err = do(from+i, text)
					}
					errs[from+i] = err
				})
			}
		})
	}
	readers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadInto is ReadFile for whoever has room for the content, which it returns.
func (r *Registry) ReadInto(rel string, room []byte) ([]byte, error) {
	if r.dir != "" && here != nil && fs.ValidPath(rel) {
		if content, ok := here.read(filepath.Join(r.dir, filepath.FromSlash(rel)), room[:0]); ok {
			return content, nil
		}
	}
	return r.ReadFile(rel)
}

// unitsOf cuts a list of files where another folder begins, and where there are
// many.
func unitsOf(files []string) (units [][2]int) {
	from := 0
	for i := 1; i <= len(files); i++ {
		if i == len(files) || i-from == unitFiles || folderOf(files[i]) != folderOf(files[from]) {
			units = append(units, [2]int{from, i})
			from = i
		}
	}
	return units
}

// folderOf is path.Dir for a place, without the slash that files of the whole
// registry do not have.
func folderOf(place string) string { return place[:max(0, strings.LastIndexByte(place, '/'))] }

// readUnit reads files of one folder into the buffer, in turn, and returns it.
// Whatever goes wrong in the short way is tried again in the long one, which
// knows what to say.
func (r *Registry) readUnit(files []string, buffer []byte, do func(i int, text []byte, err error)) []byte {
	var f *folder
	if r.dir != "" && fs.ValidPath(files[0]) {
		f = openFolder(filepath.Join(r.dir, filepath.FromSlash(folderOf(files[0]))))
	}
	defer f.close()
	for i, place := range files {
		if ok := false; f != nil && fs.ValidPath(place) {
			if buffer, ok = f.read(path.Base(place), buffer[:0]); ok {
				do(i, buffer, nil)
				continue
			}
		}
		text, err := r.ReadFile(place)
		do(i, text, err)
	}
	return buffer
}
