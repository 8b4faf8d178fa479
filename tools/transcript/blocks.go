package transcript

import (
	"io"
	"io/fs"
	"slices"
)

// blocks collects the records of an input: a slice that grows to a million
// records copies itself several times over. Of an input of known size the
// first records tell how many there will be; what exceeds that, or comes from
// an input of unknown size, goes into blocks that are joined in the end.
type blocks struct {
	size    int // of the input in bytes, 0 if it is not known
	read    int // bytes of the records so far
	n       int // records so far
	guessed bool
	full    [][]Record
	block   []Record
}

const (
	blockRecords = 1024
	sampleBytes  = 8 << 10 // of records, before their number is guessed
	// shortestLine bounds the guess: an input that begins with empty lines does
	// not reserve memory for as many records as it has bytes.
	shortestLine = 32
)

// expect makes room for so many records, within reason.
func (b *blocks) expect(records int) {
	b.guessed = true
	b.block = make([]Record, 0, min(records, b.size/shortestLine+1))
}

// add adds a record that took that many bytes of the input.
func (b *blocks) add(r Record, bytes int) {
	if len(b.block) == cap(b.block) {
		b.grow()
	}
	b.block = append(b.block, r)
	b.read += bytes
	b.n++
}

func (b *blocks) grow() {
	unsure := b.size > 0 && !b.guessed
	switch {
	case unsure && b.read >= sampleBytes:
		b.guessed = true
		guess := min(b.n*(b.size/b.read+1), b.size/shortestLine)
		b.block = slices.Grow(b.block, max(guess+guess/16-b.n, b.n))
	case unsure || len(b.block) < blockRecords:
		b.block = slices.Grow(b.block, len(b.block)+16)
	default:
		b.full = append(b.full, b.block)
		b.block = make([]Record, 0, blockRecords)
	}
}

// join returns all records.
func (b *blocks) join() []Record {
	if b.full == nil {
		return b.block
	}
	return slices.Concat(append(b.full, b.block)...)
}

// inputSize returns how many bytes an input has, or 0 if it does not say.
func inputSize(r io.Reader) int {
	switch in := r.(type) {
	case interface{ Len() int }:
		return in.Len()
	case fs.File:
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			return int(info.Size())
		}
	}
	return 0
}
