package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// read refuses a place that leaves the registry: records are foreign data.
func (r *resolver) read(place string) ([]byte, error) {
	if !fs.ValidPath(place) {
		return nil, fmt.Errorf("%q is not a place in a registry", place)
	}
	return r.reg.ReadFile(place)
}

func (r *resolver) findDigest(place string) (digest contract.Digest, err error) {
	err = r.use(place, func(text []byte) error {
		digest = contract.Sum(text)
		return nil
	})
	return digest, err
}

// rooms are what files are read into whose text nobody keeps.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// use reads a file for do, whose the text is until it returns.
func (r *resolver) use(place string, do func(text []byte) error) error {
	if !fs.ValidPath(place) {
		_, err := r.read(place)
		return err
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	text, err := r.reg.ReadInto(place, *room)
	if err != nil {
		return err
	}
	*room = text[:0]
	return do(text)
}

// transcript reads a fixture and insists on its canonical form. It notes what
// the CLI printed on.
func (r *resolver) transcript(place string) (*transcript.Transcript, error) {
	var t *transcript.Transcript
	err := r.use(place, func(text []byte) (err error) {
		r.digests.put(place, contract.Sum(text)) // so that it is read once
		var canonical bool
		if t, canonical, err = transcript.ReadCanonical(text); err == nil && !canonical {
			err = errors.New("the transcript is not in canonical form")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.printed.Store(place, streams{t.Prints(transcript.CLIToServer, transcript.Stdout), t.Prints(transcript.CLIToServer, transcript.Stderr)})
	return t, nil
}

// unlike returns where a file differs first from a text, nil where it does not. It
// reads no file again whose hash is known to be the text's.
func (r *resolver) unlike(place string, want []byte) (*string, error) {
	if got, err := r.digests.get(place); err != nil || got == contract.Sum(want) {
		return nil, err
	}
	have, err := r.read(place)
	if err != nil {
		return nil, err
	}
	at := firstDifference(have, want)
	return &at, nil
}
