package matrix

import (
	"bytes"
	"errors"
	"io"
)

// errNotListed says that a text is not one of which parts can be left out.
var errNotListed = errors.New("no JSON object with a list of objects")

// listed returns the JSON text of r without those objects of its list called
// agents whose member key is another text than want. It decodes nothing and keeps
// nothing of the others, so that a question about one agent does not wait for the
// memory that all of them take. What it cannot tell apart it keeps: the text means
// the same to a reader who looks for want alone. Of what it leaves out it checks
// only that brackets and strings end.
func listed(r io.Reader, key, want string) ([]byte, error) {
	// Room that is never written to costs nothing, and growing into it does.
	s := &sieve{key: []byte(key), want: []byte(want), out: make([]byte, 0, 256<<10)}
	chunk := make([]byte, 16<<10)
	for {
		n, err := r.Read(chunk)
		if bad := s.write(chunk[:n]); bad != nil {
			return nil, bad
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if s.depth != 0 || s.inString || !s.listed {
		return nil, errNotListed
	}
	return s.out, nil
}

// Depths in such a text: the members of the whole, the objects of the list, and
// their members.
const (
	topDepth = iota + 1
	listDepth
	memberDepth
)

// maxWord bounds the texts that are looked at; none that decides is as long.
const maxWord = 200

// sieve is a text on its way through listed.
type sieve struct {
	key, want []byte
	out       []byte

	depth             int
	inString, escaped bool
	word              []byte // the last string, as it is spelled
	name              []byte // of the member whose value comes, if named
	named             bool
	inList, listed    bool // inside the list; it was there
	commas            int  // since the last object of the list

	from int  // where in out the object of the list begins
	skip bool // it is another one: nothing of it is kept
}

func (s *sieve) write(b []byte) error {
	for len(b) > 0 {
		if n := s.dull(b); n > 0 {
			s.keep(b[:n])
			if s.inString && len(s.word) < maxWord {
				s.word = append(s.word, b[:min(n, maxWord)]...)
			}
			b = b[n:]
			continue
		}
		if err := s.next(b[0]); err != nil {
			return err
		}
		b = b[1:]
	}
	return nil
}

// dull is how many bytes come that only have to be kept: most of a string, and
// white space.
func (s *sieve) dull(b []byte) (n int) {
	if s.inString && !s.escaped {
		for n < len(b) && b[n] != '"' && b[n] != '\\' {
			n++
		}
	} else if !s.inString {
		for n < len(b) && b[n] <= ' ' {
			n++
		}
	}
	return n
}

func (s *sieve) keep(b []byte) {
	if !s.skip {
		s.out = append(s.out, b...)
	}
}

// next takes one byte that may mean something.
func (s *sieve) next(c byte) error {
	if s.inList && s.depth == listDepth {
		if err := s.between(c); err != nil || c == ',' {
			return err
		}
	}
	if !s.skip {
		s.out = append(s.out, c)
	}
	switch {
	case s.inString:
		s.inText(c)
	case c == '"':
		s.inString, s.word = true, s.word[:0]
	case c == ':':
		s.name, s.named = append(s.name[:0], s.word...), true
	case c == ',':
		s.named = false
	case c == '{' || c == '[':
		s.depth++
		if c == '[' && s.depth == listDepth && s.named && string(s.name) == "agents" {
			s.inList, s.listed, s.from, s.commas = true, true, 0, 0
		}
		s.named = false
	case c == '}' || c == ']':
		s.depth--
		s.named = false
		if s.depth == listDepth {
			s.skip = false
		}
		s.inList = s.inList && s.depth >= listDepth
		if s.depth < 0 {
			return errNotListed
		}
	}
	return nil
}

// between takes one byte between the objects of the list. A comma is written when
// an object comes behind another that was kept.
func (s *sieve) between(c byte) error {
	first := s.from == 0
	switch {
	case c == ',' && !first && s.commas == 0:
		s.commas++
	case c == '{' && (first || s.commas == 1):
		s.from, s.commas = len(s.out), 0
		if last := bytes.TrimRight(s.out, " \t\r\n"); last[len(last)-1] != '[' {
			s.out = append(s.out, ',')
		}
	case c == ']' && s.commas == 0:
	default:
		return errNotListed
	}
	return nil
}

// inText takes a quote or a backslash in a string, and what follows the latter.
func (s *sieve) inText(c byte) {
	switch {
	case c == '"' && !s.escaped:
		s.inString = false
		// A text that is spelled with escapes may be any.
		if s.inList && s.depth == memberDepth && s.named && !s.skip && bytes.Equal(s.name, s.key) &&
			!bytes.Equal(s.word, s.want) && bytes.IndexByte(s.word, '\\') < 0 {
			s.skip, s.out = true, s.out[:s.from]
		}
		return
	case s.escaped:
		s.escaped = false
	default:
		s.escaped = true
	}
	s.word = append(s.word, c)
}
