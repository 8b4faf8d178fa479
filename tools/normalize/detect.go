package normalize

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// DetectDialect guesses the dialect of a transcript: the first one in the
// file with a tell-tale condition that the first telling stdout line meets. A
// single JSON array is of the dialect with transport json of the same family
// as its first telling element; a transcript without any JSON object is plain,
// unless it is binary or has lines that begin as JSON and are none, as a cut
// stream does: of these a plain reading would tell nothing true. The error says
// that nothing matches; a caller then asks for --family or --kind.
func DetectDialect(f *contract.Families, t *transcript.Transcript) (*contract.Dialect, error) {
	d, err := newDetector(f)
	if err != nil {
		return nil, err
	}
	var seen untold
	var doc rawjson.Doc
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Stream != transcript.Stdout {
			continue
		}
		line := rec.Frame
		if line == nil {
			line = bytes.TrimSpace(rec.Data)
		}
		if len(line) == 0 {
			continue
		}
		seen.text = true
		if doc.Parse(line) != nil {
			seen.noJSON(line)
			continue
		}
		switch v := doc.Root(); v.Kind() {
		case rawjson.Object:
			seen.objects++
			if found := d.match(v); found != nil {
				return found, nil
			}
		case rawjson.Array:
			if found := d.document(v); found != nil {
				return found, nil
			}
		}
	}
	return seen.guess(f)
}

// untold is what was seen on a stdout where no line tells the dialect.
type untold struct {
	text    bool // a line that is not empty
	objects int  // lines that are JSON objects
	cut     int  // lines that begin as JSON and are none
	binary  bool // a zero byte
}

func (u *untold) noJSON(line []byte) {
	u.binary = u.binary || bytes.IndexByte(line, 0) >= 0
	if bytes.HasPrefix(line, []byte(`{"`)) || bytes.HasPrefix(line, []byte(`[{`)) {
		u.cut++
	}
}

func (u *untold) guess(f *contract.Families) (*contract.Dialect, error) {
	plain := f.Dialect("plain")
	switch {
	case !u.text:
		return nil, errors.New("guessing the dialect: stdout is empty; name the dialect")
	case u.objects > 0 || plain == nil:
		return nil, fmt.Errorf("guessing the dialect: none of the %d JSON lines on stdout tells; name the dialect", u.objects)
	case u.binary:
		return nil, errors.New("guessing the dialect: stdout has zero bytes, so it is no text; name the dialect")
	case u.cut > 0:
		return nil, fmt.Errorf("guessing the dialect: lines on stdout that begin as JSON and are none: %d; name the dialect", u.cut)
	}
	return plain, nil
}

type detector struct {
	families *contract.Families
	tells    []matchers // by dialect
}

func newDetector(f *contract.Families) (*detector, error) {
	d := &detector{families: f}
	for i := range f.Dialects {
		var ms matchers
		for _, m := range f.Dialects[i].Detect {
			x, err := paths.CompileMatch(m)
			if err != nil {
				return nil, fmt.Errorf("reading what tells dialect %q: %w", f.Dialects[i].ID, err)
			}
			ms = append(ms, x)
		}
		d.tells = append(d.tells, ms)
	}
	return d, nil
}

func (d *detector) match(v rawjson.Value) *contract.Dialect {
	for i := range d.tells {
		if d.tells[i].match(v) {
			return &d.families.Dialects[i]
		}
	}
	return nil
}

// document finds the dialect of an array of frames.
func (d *detector) document(v rawjson.Value) *contract.Dialect {
	for x := range v.Children() {
		line := d.match(x)
		if line == nil {
			continue
		}
		for i := range d.families.Dialects {
			if c := &d.families.Dialects[i]; c.Transport == contract.TransportJSON && c.ProtocolFamily == line.ProtocolFamily {
				return c
			}
		}
	}
	return nil
}
