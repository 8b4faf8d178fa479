package record

import (
	"os"

	"golang.org/x/term"
)

// streams are the three pipes to the CLI: our ends and the CLI's. An end of
// ours is nil where the CLI has the host's stream itself: a terminal, or the
// null device as stdin, could not be imitated by a pipe.
type streams struct {
	stdin, stdout, stderr *os.File
	child                 [3]*os.File
	inherited             [3]bool
}

func (s *streams) open(o Options) (err error) {
	if keeps(o.Stdin) || isNull(o.Stdin) {
		s.child[0], s.inherited[0] = o.Stdin, true
	} else if s.child[0], s.stdin, err = pipeLike(o.Stdin, true); err != nil {
		return err
	}
	for i, out := range []struct {
		host *os.File
		ours **os.File
	}{{o.Stdout, &s.stdout}, {o.Stderr, &s.stderr}} {
		if keeps(out.host) {
			s.child[i+1], s.inherited[i+1] = out.host, true
			continue
		}
		if s.child[i+1], *out.ours, err = pipeLike(out.host, false); err != nil {
			s.close()
			return err
		}
	}
	return nil
}

// closeChild closes the CLI's ends, which the CLI has as its own by now.
func (s *streams) closeChild() {
	for i, f := range s.child {
		if f != nil && !s.inherited[i] {
			_ = f.Close()
		}
	}
}

func (s *streams) close() {
	s.closeChild()
	for _, f := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// keeps reports whether the CLI must have the host's stream itself.
func keeps(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && term.IsTerminal(int(f.Fd()))
}

// isNull reports whether a stream is the null device.
func isNull(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(have, null)
}
