package private_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// What is not what was kept is refused as damaged, without a word of its content.
func TestDamage(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[(len(b)+at)%len(b)] ^= 1; return b }
	}
	for _, c := range []struct {
		name   string
		age    func(sealed []byte) []byte
		meta   func(meta []byte) []byte
		locked bool // what names another key is not damaged
	}{
		{name: "the first byte", age: flip(0)},
		{name: "a byte of the header", age: flip(170)},
		{name: "a key that is another one", age: anotherKey, locked: true},
		{name: "a byte of the content", age: flip(-20)},
		{name: "the last byte", age: flip(-1)},
		{name: "cut in the header", age: func(b []byte) []byte { return b[:100] }},
		{name: "cut off", age: func(b []byte) []byte { return b[:300] }},
		{name: "cut by a byte", age: func(b []byte) []byte { return b[:len(b)-1] }},
		{name: "twice", age: func(b []byte) []byte { return append(b, b...) }},
		{name: "empty", age: func([]byte) []byte { return nil }},
		{name: "in clear", age: func([]byte) []byte { return []byte("age-secret of the CLI\nmore") }},
		{name: "no JSON", meta: func([]byte) []byte { return []byte("{") }},
		{name: "no hash", meta: func([]byte) []byte { return []byte("{}") }},
		{name: "of another bundle", meta: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("sha256:"), []byte("sha256:0"))[:len(b)] }},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, private.Config{StateDir: dir})
			content := strings.Repeat(rand.Text(), 10_000)
			d := keep(t, s, content)
			change := func(ending string, to func([]byte) []byte) {
				file := filepath.Join(dir, "raw", d.Hex()[:2], d.Hex()+ending)
				b, err := os.ReadFile(file)
				must(t, err)
				must(t, os.WriteFile(file, to(b), 0o600))
			}
			if c.age != nil {
				change(".age", c.age)
			} else {
				change(".json", c.meta)
			}
			_, _, err := read(s, d)
			var damaged *private.DamagedError
			var locked *private.LockedError
			if errors.As(err, &damaged) == c.locked || errors.As(err, &locked) != c.locked || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), content[:10]) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// anotherKey changes one letter of the key share into another letter of its alphabet.
func anotherKey(b []byte) []byte {
	if b[40] == 'A' {
		b[40] = 'B'
	} else {
		b[40] = 'A'
	}
	return b
}

// Another bundle in the place of one is told when its end is reached, a bundle
// that is missing at once.
func TestExchangedBundle(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	d, other := keep(t, s, "raw"), keep(t, s, "other")
	at := func(d contract.Digest) string { return filepath.Join(dir, "raw", d.Hex()[:2], d.Hex()+".age") }
	must(t, os.Rename(at(other), at(d)))
	var damaged *private.DamagedError
	if _, _, err := read(s, d); !errors.As(err, &damaged) {
		t.Errorf("exchanged: %v", err)
	}
	if _, _, err := read(s, other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// A fetch that breaks off is no damage of what was kept.
func TestBrokenFetch(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	must(t, err)
	folder, err := private.NewFolder(t.TempDir())
	must(t, err)
	config := private.Config{StateDir: t.TempDir(), Bucket: folder, Recipients: []string{id.Recipient().String()}}
	d := keep(t, open(t, config), strings.Repeat("raw", 100_000))
	for _, after := range []int64{0, 10, 300, 100_000, 299_000} {
		config.Bucket = breaking{folder, after}
		_, _, err := read(open(t, config), d)
		var damaged *private.DamagedError
		if !errors.Is(err, syscall.ECONNRESET) || errors.As(err, &damaged) {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
}

// breaking is a bucket whose ciphertexts break off.
type breaking struct {
	private.Bucket
	after int64
}

func (b breaking) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := b.Bucket.Get(ctx, name)
	if err != nil || !strings.HasSuffix(name, ".age") {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(r, b.after), iotest.ErrReader(syscall.ECONNRESET)), r}, nil
}

// Every bundle has its date, whenever its writer is killed: what has none would
// stay for ever.
func TestEveryBundleHasADate(t *testing.T) {
	folder, err := private.NewFolder(t.TempDir())
	must(t, err)
	id, err := age.GenerateX25519Identity()
	must(t, err)
	killed := &dying{Bucket: folder}
	s := open(t, private.Config{StateDir: t.TempDir(), Bucket: killed, Recipients: []string{id.Recipient().String()}})
	place := s.Begin()
	must(t, os.WriteFile(place, []byte("raw"), 0o600))
	d := contract.Sum([]byte("raw"))
	if err := s.Keep(t.Context(), place, private.Meta{SHA256: d, RetainUntil: now}, nil); err == nil {
		t.Fatal("it did not fail")
	}
	names, err := folder.List(t.Context(), "")
	must(t, err)
	if len(names) != 1 || !strings.HasSuffix(names[0], ".json") {
		t.Errorf("after the first write there are %q", names)
	}
	if _, err := os.Stat(place); err != nil {
		t.Errorf("the recording is lost: %v", err)
	}
	if _, _, err := read(s, d); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading it: %v", err)
	}
}

// dying is a bucket that takes one write.
type dying struct {
	private.Bucket
	writes int
}

func (d *dying) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	if d.writes++; d.writes > 1 {
		return syscall.ECONNRESET
	}
	return d.Bucket.Put(ctx, name, r, size)
}

// A damaged entry does not keep the others for ever, and what is open is read
// to its end.
func TestExpireGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	large := strings.Repeat("raw", 100_000)
	d, bad := keep(t, s, large), keep(t, s, "bad")
	must(t, os.WriteFile(filepath.Join(dir, "raw", bad.Hex()[:2], bad.Hex()+".json"), []byte("{"), 0o600))
	audit, err := s.Open(t.Context(), d, nil)
	must(t, err)
	gone, err := s.Expire(t.Context(), now.Add(25*time.Hour), false)
	var damaged *private.DamagedError
	if !errors.As(err, &damaged) || !strings.Contains(err.Error(), bad.Hex()) || len(gone) != 1 || gone[0].SHA256 != d {
		t.Errorf("%+v, %v", gone, err)
	}
	all, err := io.ReadAll(audit)
	if err = errors.Join(err, audit.Close()); err != nil || string(all) != large {
		t.Errorf("what was open when it expired: %d bytes, %v", len(all), err)
	}
}

// A bundle whose record is gone would stay for ever: it is named. One that a
// record calls expired is removed.
func TestExpireFindsWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	stray, back := keep(t, s, "stray"), keep(t, s, "back")
	file := func(d contract.Digest, ending string) string {
		return filepath.Join(dir, "raw", d.Hex()[:2], d.Hex()+ending)
	}
	must(t, os.Remove(file(stray, ".json")))
	sealed, err := os.ReadFile(file(back, ".age"))
	must(t, err)
	for range 2 {
		_, err := s.Expire(t.Context(), now.Add(25*time.Hour), false)
		var left *private.StrayError
		if !errors.As(err, &left) || !strings.Contains(err.Error(), stray.Hex()) || strings.Contains(err.Error(), back.Hex()) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(file(back, ".age")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("what expired is still there")
		}
		must(t, os.WriteFile(file(back, ".age"), sealed, 0o600)) // as from a copy of the store
	}
}
