// Package private owns the private store: the raw bundles of captures, by the
// hash of their bytes, each encrypted with age to the maintainers' keys and to
// the key of the machine that made it (DESIGN D13). The ciphertexts lie in a
// Bucket: a folder, or S3-compatible storage (package s3). A bundle is in clear
// only inside the private state folder, while it is being recorded.
package private

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Retention is how long a raw bundle is kept at least.
const Retention = 180 * 24 * time.Hour

// Meta says what a raw bundle is and how long it is kept. It holds nothing raw
// and outlives the bundle.
type Meta struct {
	SHA256      contract.Digest `json:"sha256"` // of the bundle in clear
	Bytes       int64           `json:"bytes"`
	StoredAt    time.Time       `json:"stored_at"`
	RetainUntil time.Time       `json:"retain_until"`
	Agent       string          `json:"agent"`
	CLIVersion  string          `json:"cli_version"`
	Probe       string          `json:"probe"`
	// ExpiredAt is when the bundle was removed; nil while it is there.
	ExpiredAt *time.Time `json:"expired_at,omitempty"`
}

// Config says where a private store is and who reads it.
type Config struct {
	// StateDir is the private state folder (store.StateDir).
	StateDir string
	// Bucket has the ciphertexts; nil is the folder raw in StateDir.
	Bucket Bucket
	// Recipients are the maintainers' public keys. A bucket of the caller's needs
	// one: with the machine alone its content would be lost.
	Recipients []string
	// Identities read what the key of this machine does not.
	Identities []age.Identity
}

// Store is a private store. It is safe for use by several processes.
type Store struct {
	bucket     Bucket
	folder     *Folder // nil unless it is the default bucket
	begun      string
	recipients []age.Recipient
	identities []age.Identity
}

// Open opens a private store and makes what it needs on first use.
func Open(c Config) (*Store, error) {
	if err := store.MakeStateDir(c.StateDir); err != nil {
		return nil, fmt.Errorf("opening the private store: %w", err)
	}
	s := &Store{bucket: c.Bucket, begun: filepath.Join(c.StateDir, "begun")}
	if s.bucket == nil {
		f, err := NewFolder(filepath.Join(c.StateDir, "raw"))
		if err != nil {
			return nil, err
		}
		s.bucket, s.folder = f, f
	} else if len(c.Recipients) == 0 {
		return nil, &NoRecipientError{}
	}
	if err := errors.Join(os.MkdirAll(s.begun, 0o700), os.Chmod(s.begun, 0o700)); err != nil {
		return nil, fmt.Errorf("opening the private store: %w", err)
	}
	own, err := machineIdentity(c.StateDir)
	if err != nil {
		return nil, err
	}
	if s.recipients, err = recipients(c.Recipients); err != nil {
		return nil, err
	}
	s.recipients = append(s.recipients, own.Recipient())
	s.identities = append(slices.Clone(c.Identities), own)
	return s, s.sealOld(context.Background(), c.StateDir)
}

func sealedName(d contract.Digest) string { return d.Hex()[:2] + "/" + d.Hex() + ".age" }
func metaName(d contract.Digest) string   { return d.Hex()[:2] + "/" + d.Hex() + ".json" }

// Begin returns the place of a new bundle for a recording that ends with Keep.
// One that never does stays there, readable up to where it was cut, until it is
// as old as a bundle may become.
func (s *Store) Begin() string { return filepath.Join(s.begun, rand.Text()+".bundle") }

// Keep encrypts the finished bundle file into the store and removes the file.
// Its bytes must hash to meta.SHA256. background is what whoever derives the
// sanitized transcript again must know beside the bundle; it is encrypted with
// it. A bundle that is there already keeps the later retention date.
func (s *Store) Keep(ctx context.Context, bundle string, meta Meta, background any) error {
	err := s.keep(ctx, bundle, meta, background)
	if err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	return os.Remove(bundle)
}

func (s *Store) keep(ctx context.Context, bundle string, meta Meta, background any) error {
	info, err := os.Stat(bundle)
	if err != nil {
		return err
	}
	meta.Bytes, meta.ExpiredAt = info.Size(), nil
	old, err := s.Stat(ctx, meta.SHA256)
	switch {
	case err == nil && old.RetainUntil.After(meta.RetainUntil):
		meta.RetainUntil = old.RetainUntil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	sealed := filepath.Join(s.begun, rand.Text()+".age")
	defer func() { _ = os.Remove(sealed) }()
	if err := s.seal(bundle, sealed, meta.SHA256, background); err != nil {
		return err
	}
	if err := s.putMeta(ctx, meta); err != nil { // first: without it the bundle would never expire
		return err
	}
	return s.putFile(ctx, sealedName(meta.SHA256), sealed)
}

// seal encrypts a bundle: one line of JSON, the background, then its bytes.
func (s *Store) seal(bundle, to string, want contract.Digest, background any) error {
	head, err := json.Marshal(background)
	if err != nil {
		return err
	}
	in, err := os.Open(bundle)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	w, err := age.Encrypt(out, s.recipients...)
	if err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	sum := sha256.New()
	if _, err = w.Write(append(head, '\n')); err == nil {
		_, err = io.Copy(w, io.TeeReader(in, sum))
	}
	if err = errors.Join(err, w.Close(), out.Close()); err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	if digestOf(sum) != want {
		return errors.New("its bytes are not those that were recorded")
	}
	return nil
}

func digestOf(h hash.Hash) contract.Digest {
	return contract.Digest(fmt.Sprintf("sha256:%x", h.Sum(nil)))
}

func (s *Store) putFile(ctx context.Context, name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return s.bucket.Put(ctx, name, f, info.Size())
}

func (s *Store) putMeta(ctx context.Context, meta Meta) error {
	b, err := contract.Encode(meta)
	if err != nil {
		return err
	}
	return s.bucket.Put(ctx, metaName(meta.SHA256), bytes.NewReader(b), int64(len(b)))
}

// Stat returns what is known of a bundle, or an error that wraps
// fs.ErrNotExist, or a *DamagedError. A bundle that expired is known still.
func (s *Store) Stat(ctx context.Context, d contract.Digest) (Meta, error) {
	m, err := s.meta(ctx, metaName(d))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("raw bundle %s is not in the private store: %w", d.Short(), fs.ErrNotExist)
	}
	return m, err
}

func (s *Store) meta(ctx context.Context, name string) (Meta, error) {
	var m Meta
	r, err := s.bucket.Get(ctx, name)
	if err != nil {
		return m, err
	}
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err = errors.Join(err, r.Close()); err != nil {
		return m, fmt.Errorf("reading the private store: %w", err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, &DamagedError{name}
	}
	if d, err := contract.ParseDigest(string(m.SHA256)); err != nil || metaName(d) != name { // about another bundle
		return m, &DamagedError{name}
	}
	return m, nil
}

// List returns what is known of every bundle, expired ones too, by hash. What is
// damaged is an error beside the others, one *DamagedError for each.
func (s *Store) List(ctx context.Context) ([]Meta, error) {
	all, _, err := s.list(ctx)
	return all, err
}

// list is List, with the names of the ciphertexts that are there.
func (s *Store) list(ctx context.Context) (all []Meta, sealed map[string]bool, damaged error) {
	names, err := s.bucket.List(ctx, "")
	if err != nil {
		return nil, nil, fmt.Errorf("listing the private store: %w", err)
	}
	sealed = map[string]bool{}
	for _, n := range names {
		if strings.HasSuffix(n, ".age") {
			sealed[n] = true
		}
		if !strings.HasSuffix(n, ".json") {
			continue
		}
		m, err := s.meta(ctx, n)
		var bad *DamagedError
		switch {
		case err == nil:
			all = append(all, m)
		case errors.As(err, &bad):
			damaged = errors.Join(damaged, err)
		case !errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return nil, nil, err
		}
	}
	slices.SortFunc(all, func(a, b Meta) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return all, sealed, damaged
}
