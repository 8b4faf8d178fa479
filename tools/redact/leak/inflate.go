package leak

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
)

// compressed scans what the base64 in a run holds if it is compressed.
func (x *scan) compressed(l *layer, i, j int) {
	s := l.s[i:j]
	if n := strings.Index(s, "H4sI"); n >= 0 {
		x.inflate(l, i+n, j, base64)
		return
	}
	if i > 0 && l.s[i-1] == '\\' && strings.IndexByte("nrtbf", s[0]) >= 0 { // the letter of an escape
		i, s = i+1, s[1:]
	}
	switch {
	case s[0] == 'e' && (s[1] == 'J' || s[1] == 'N' || s[1] == 'A' || s[1] == 'F'):
		x.inflate(l, i, j, base64)
	case len(s) >= minDeflated:
		x.deflated(l, i, j)
	}
}

// maxInflated is how much one compressed run may hold.
const maxInflated = 16 << 20

// inflate scans what gzip or zlib data, encoded, holds. What is cut is read as
// far as it goes.
func (x *scan) inflate(l *layer, i, j int, d decoder) {
	b, _ := d(l.s[i:j], false)
	var r io.Reader
	var err error
	if strings.HasPrefix(b, "\x1f\x8b") {
		r, err = gzip.NewReader(strings.NewReader(b))
	} else {
		r, err = zlib.NewReader(strings.NewReader(b))
	}
	if err != nil {
		return
	}
	x.inflated(l, i, j, r)
}

// inflated scans what a reader of compressed data gives.
func (x *scan) inflated(l *layer, i, j int, r io.Reader) {
	text, _ := io.ReadAll(io.LimitReader(r, maxInflated)) // an error is the end of what can be read
	c := &layer{s: string(text), name: "gzip", parent: l, at: i, src: l.s[i:j], depth: l.depth + 1}
	if len(text) == maxInflated {
		x.report(&rule{id: Unread}, c, 0, len(text))
		return
	}
	x.view(c)
}

// minDeflated is how many letters of base64 a secret gives that was compressed: it
// is random, and does not become shorter.
const minDeflated = 40

// deflated scans base64 of compressed data without any header, which nothing but
// its success gives away: that it begins with readable text.
func (x *scan) deflated(l *layer, i, j int) {
	if hexAt(l.s, i, minDeflated) {
		return
	}
	if kind := (sixBits[l.s[i]]<<2 | sixBits[l.s[i+1]]>>4) & 7; kind < 2 || kind > 5 { // of the first block: neither stored nor none
		return
	}
	src, _ := base64(l.s[i:j], false)
	if x.flate == nil {
		x.flate = flate.NewReader(strings.NewReader(src))
	} else if x.flate.(flate.Resetter).Reset(strings.NewReader(src), nil) != nil {
		return
	}
	var head [2 * minReadable]byte
	n, err := io.ReadFull(x.flate, head[:])
	if n < minReadable || err != nil && err != io.ErrUnexpectedEOF {
		return
	}
	for _, c := range head[:n] {
		if !textByte[c] {
			return
		}
	}
	x.inflated(l, i, j, io.MultiReader(strings.NewReader(string(head[:n])), x.flate))
}
