package leakgate

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// maxUnpacked is how much of a gzip file is read, so that a bomb ends.
const maxUnpacked = 4 << 30

// packed reads what a gzip file holds. Anything that keeps it from being read to
// its end makes it unread, not an error: what was packed may hold anything.
type packed struct {
	io.Reader
	left int64
	bad  bool
}

// unpacked returns the bytes to look at: those of r, or what it holds if it is
// gzip; then p is not nil.
func unpacked(r io.Reader) (to io.Reader, p *packed) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(3); len(magic) < 3 || magic[0] != 0x1f || magic[1] != 0x8b || magic[2] != 8 {
		return b, nil
	}
	p = &packed{left: maxUnpacked}
	z, err := gzip.NewReader(b)
	if err != nil {
		p.bad = true
		return strings.NewReader(""), p
	}
	p.Reader = z
	return io.MultiReader(strings.NewReader(z.Name+"\n"+z.Comment+"\n"+string(z.Extra)+"\n"), p), p
}

// Read implements io.Reader.
func (p *packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.left -= int64(n); p.left < 0 {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		p.bad, err = true, io.EOF
	}
	return n, err
}

// findings are those of the file itself, which has no places of its content.
func (p *packed) findings(name string, inside []Finding) []Finding {
	for i := range inside {
		inside[i].Line, inside[i].Start, inside[i].End = 1, 0, 0
		inside[i].View = viewGzip + ", " + inside[i].View
	}
	if p.bad {
		inside = append(inside, Finding{Engine: EngineLeak, Rule: leak.Unread, File: name, Line: 1, View: viewGzip})
	}
	return inside
}
