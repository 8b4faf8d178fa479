package private

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"filippo.io/age"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// maxBackground bounds the first line of a sealed bundle.
const maxBackground = 64 << 20

// Open fetches a bundle, decrypts it and returns it in clear, after it has put
// its background into v (nil to leave that out). Reading to the end fails when
// the bytes are not those of the hash. Errors: one that wraps fs.ErrNotExist,
// *ExpiredError, *LockedError.
func (s *Store) Open(ctx context.Context, d contract.Digest, v any) (io.ReadCloser, error) {
	m, err := s.Stat(ctx, d)
	if err != nil {
		return nil, err
	}
	if m.ExpiredAt != nil {
		return nil, &ExpiredError{m}
	}
	sealed, err := s.bucket.Get(ctx, sealedName(d))
	if err != nil {
		return nil, fmt.Errorf("fetching raw bundle %s: %w", d.Short(), err)
	}
	clear, err := s.unseal(sealed, d, v)
	if err != nil {
		return nil, errors.Join(err, sealed.Close())
	}
	return clear, nil
}

func (s *Store) unseal(sealed io.ReadCloser, d contract.Digest, v any) (io.ReadCloser, error) {
	o := &opened{sealed: sealed, sum: sha256.New(), want: d}
	r, err := age.Decrypt(fetched{o}, s.identities...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, &LockedError{d}
	}
	if err != nil {
		return nil, o.failed()
	}
	br := bufio.NewReader(r)
	head, err := firstLine(br)
	if err == nil && v != nil {
		err = json.Unmarshal(head, v)
	}
	if err != nil {
		return nil, o.failed()
	}
	o.clear = br
	return o, nil
}

func firstLine(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		part, err := r.ReadSlice('\n')
		head = append(head, part...)
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return head, err
		}
		if len(head) > maxBackground {
			return nil, bufio.ErrTooLong
		}
	}
}

// opened is a bundle in clear that holds its bytes against its hash.
type opened struct {
	clear  io.Reader
	sealed io.ReadCloser
	broken error // what kept the ciphertext from coming
	sum    hash.Hash
	want   contract.Digest
}

// fetched reads the ciphertext of a bundle, and keeps its error: one of the
// network is no damage.
type fetched struct{ *opened }

// Read implements io.Reader.
func (f fetched) Read(b []byte) (int, error) {
	n, err := f.sealed.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		f.broken = err
	}
	return n, err
}

// failed is the error of decrypting, without the text of its cause, which may
// quote what is raw.
func (o *opened) failed() error {
	if o.broken != nil {
		return fmt.Errorf("fetching raw bundle %s: %w", o.want.Short(), o.broken)
	}
	return &DamagedError{sealedName(o.want)}
}

// Read implements io.Reader.
func (o *opened) Read(b []byte) (int, error) {
	n, err := o.clear.Read(b)
	o.sum.Write(b[:n])
	if err != nil && (!errors.Is(err, io.EOF) || digestOf(o.sum) != o.want) {
		return n, o.failed()
	}
	return n, err
}

// Close implements io.Closer.
func (o *opened) Close() error { return o.sealed.Close() }

// DamagedError says that a blob of the private store is not what was kept. Its
// text quotes nothing of it.
type DamagedError struct{ Name string }

// Error implements error.
func (e *DamagedError) Error() string {
	return "the private store is damaged: " + e.Name + " is not what was kept"
}

// ExpiredError says that a bundle was removed when its time was over.
type ExpiredError struct{ Meta Meta }

// Error implements error.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("raw bundle %s expired and was removed at %s", e.Meta.SHA256.Short(), e.Meta.ExpiredAt.UTC().Format(time.RFC3339))
}

// LockedError says that no key that is at hand opens a bundle.
type LockedError struct{ SHA256 contract.Digest }

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("no key on this machine opens raw bundle %s", e.SHA256.Short())
}

// NoRecipientError says that nobody but this machine could read a shared
// bucket.
type NoRecipientError struct{}

// Error implements error.
func (*NoRecipientError) Error() string {
	return "no maintainer has a key: what only this machine can read must not go to a shared private store"
}
