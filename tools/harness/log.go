package harness

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// recordLog records the child's session file and returns why it did not. The
// child chose what is there, so nothing but a plain file below the root is
// opened: no link, whether it leaves the root or not, and no pipe that would
// never end.
func (r *run) recordLog() (problem string) {
	l := r.spec.Log
	if l == nil || r.spec.Bundle == nil {
		return ""
	}
	root, err := os.OpenRoot(l.Root)
	if err != nil {
		return "its folder cannot be opened"
	}
	defer root.Close()
	found, err := fs.Glob(root.FS(), l.Pattern)
	if err != nil || len(found) != 1 {
		return fmt.Sprintf("%d files fit its pattern", len(found))
	}
	if info, err := root.Lstat(found[0]); err != nil || !info.Mode().IsRegular() {
		return "it is no regular file"
	}
	f, err := root.Open(found[0])
	if err != nil {
		return "it cannot be opened"
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, l.Limit+1))
	switch {
	case err != nil:
		return "it cannot be read"
	case int64(len(b)) > l.Limit:
		return fmt.Sprintf("it is larger than %d bytes", l.Limit)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed(r.spec.Bundle.Chunk(transcript.CLIToFile, transcript.Session, r.now(), b))
	r.failed(r.spec.Bundle.End(transcript.CLIToFile, transcript.Session, r.now(), "eof"))
	return ""
}
