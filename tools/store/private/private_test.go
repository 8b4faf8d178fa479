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
	"testing"
	"time"

	"filippo.io/age"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private/privatetest"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type background struct{ Home string }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, c private.Config) *private.Store {
	t.Helper()
	s, err := private.Open(c)
	must(t, err)
	return s
}

// keep puts content into a store, until a day after now.
func keep(t *testing.T, s *private.Store, content string) contract.Digest {
	t.Helper()
	place := s.Begin()
	must(t, os.WriteFile(place, []byte(content), 0o600))
	d := contract.Sum([]byte(content))
	must(t, s.Keep(t.Context(), place, private.Meta{SHA256: d, StoredAt: now, RetainUntil: now.Add(24 * time.Hour), Agent: "codex"}, background{"/home/" + content}))
	if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the bundle in clear is still there: %v", err)
	}
	return d
}

func read(s *private.Store, d contract.Digest) (content string, b background, err error) {
	r, err := s.Open(context.Background(), d, &b)
	if err != nil {
		return "", b, err
	}
	all, err := io.ReadAll(r)
	return string(all), b, errors.Join(err, r.Close())
}

func TestFolder(t *testing.T) {
	privatetest.Run(t, func(t *testing.T) private.Bucket {
		f, err := private.NewFolder(filepath.Join(t.TempDir(), "raw"))
		must(t, err)
		return f
	})
}

// files returns every file below a folder.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = b
		return err
	}))
	return out
}

func TestKeepAndOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	content := strings.Repeat(rand.Text(), 10_000)
	d := keep(t, s, content)
	for name, b := range files(t, dir) {
		if bytes.Contains(b, []byte(content[:26])) {
			t.Errorf("%s holds raw bytes in clear", name)
		}
	}
	for _, s := range []*private.Store{s, open(t, private.Config{StateDir: dir})} { // also another process
		got, b, err := read(s, d)
		if err != nil || got != content || b.Home != "/home/"+content {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	m, err := s.Stat(t.Context(), d)
	if err != nil || m.Bytes != int64(len(content)) || m.Agent != "codex" {
		t.Errorf("%+v, %v", m, err)
	}
	place := s.Begin()
	must(t, os.WriteFile(place, []byte(content), 0o600))
	must(t, s.Keep(t.Context(), place, private.Meta{SHA256: d, RetainUntil: now}, nil))
	if again, err := s.Stat(t.Context(), d); err != nil || !again.RetainUntil.Equal(m.RetainUntil) {
		t.Errorf("%+v, %v: the later retention date must stay", again, err)
	}
}

func TestKeepRefusesOtherBytes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	place := s.Begin()
	must(t, os.WriteFile(place, []byte("x"), 0o600))
	d := contract.Sum([]byte("y"))
	if err := s.Keep(t.Context(), place, private.Meta{SHA256: d}, nil); err == nil {
		t.Fatal("a bundle with another hash was stored")
	}
	if _, err := s.Stat(t.Context(), d); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
	if _, err := os.Stat(place); err != nil {
		t.Errorf("the recording is lost: %v", err)
	}
	for name := range files(t, filepath.Join(dir, "begun")) {
		if strings.HasSuffix(name, ".age") {
			t.Errorf("%s is left", name)
		}
	}
}

// Maintainers read what any machine kept; other machines do not.
func TestRecipients(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	must(t, err)
	bucket, err := private.NewFolder(t.TempDir())
	must(t, err)
	writer := open(t, private.Config{StateDir: t.TempDir(), Bucket: bucket, Recipients: []string{id.Recipient().String()}})
	d := keep(t, writer, "raw")
	other := private.Config{StateDir: t.TempDir(), Bucket: bucket, Recipients: []string{id.Recipient().String()}}
	var locked *private.LockedError
	if _, _, err := read(open(t, other), d); !errors.As(err, &locked) {
		t.Errorf("another machine: %v", err)
	}
	file := filepath.Join(t.TempDir(), "key.txt")
	must(t, os.WriteFile(file, []byte("# comment\n"+id.String()+"\n"), 0o600))
	other.Identities, err = private.ReadIdentities(file)
	must(t, err)
	if got, _, err := read(open(t, other), d); err != nil || got != "raw" {
		t.Errorf("a maintainer: %q, %v", got, err)
	}
	var none *private.NoRecipientError
	if _, err := private.Open(private.Config{StateDir: t.TempDir(), Bucket: bucket}); !errors.As(err, &none) {
		t.Errorf("a shared bucket without a maintainer's key: %v", err)
	}
	if _, err := private.Open(private.Config{StateDir: t.TempDir(), Recipients: []string{"age1x"}}); err == nil {
		t.Error("a key that is none was taken")
	}
}

func TestExpire(t *testing.T) {
	dir := t.TempDir()
	s := open(t, private.Config{StateDir: dir})
	d := keep(t, s, "raw")
	begun := s.Begin()
	must(t, os.WriteFile(begun, []byte("cut"), 0o600))
	for _, c := range []struct {
		at   time.Time
		dry  bool
		want int
	}{{now, false, 0}, {now.Add(25 * time.Hour), true, 1}, {now.Add(25 * time.Hour), false, 1}, {now.Add(26 * time.Hour), false, 0}} {
		gone, err := s.Expire(t.Context(), c.at, c.dry)
		if err != nil || len(gone) != c.want {
			t.Fatalf("%v: %+v, %v", c.at, gone, err)
		}
		if _, _, err := read(s, d); c.want == 0 && c.at.Equal(now) && err != nil || c.dry && err != nil {
			t.Fatalf("at %v it is gone: %v", c.at, err)
		}
	}
	var expired *private.ExpiredError
	if _, _, err := read(s, d); !errors.As(err, &expired) || expired.Meta.SHA256 != d {
		t.Errorf("Open: %v", err)
	}
	m, err := s.Stat(t.Context(), d)
	if err != nil || m.ExpiredAt == nil || m.SHA256 != d || m.Bytes != 3 {
		t.Errorf("the hash is not kept: %+v, %v", m, err)
	}
	if _, err := os.Stat(begun); err != nil {
		t.Errorf("a recording under way is gone: %v", err)
	}
	if _, err := s.Expire(t.Context(), time.Now().Add(private.Retention+time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(begun); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a recording that nobody ended is still there: %v", err)
	}
	if got := keep(t, s, "raw"); got != d { // captured once more
		t.Fatal(got)
	}
	if got, _, err := read(s, d); err != nil || got != "raw" {
		t.Errorf("kept again: %q, %v", got, err)
	}
}

// The key of a machine is made once, whoever comes first.
func TestMachineKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	done := make(chan *private.Store, 8)
	for range cap(done) {
		go func() {
			s, err := private.Open(private.Config{StateDir: dir})
			if err != nil {
				t.Error(err)
			}
			done <- s
		}()
	}
	var all []*private.Store
	for range cap(done) {
		all = append(all, <-done)
	}
	d := keep(t, all[0], "raw")
	for _, s := range all {
		if got, _, err := read(s, d); err != nil || got != "raw" {
			t.Errorf("%q, %v", got, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "identity.txt"), []byte("AGE-SECRET-KEY-BROKEN"), 0o600))
	if _, err := private.Open(private.Config{StateDir: dir}); err == nil || strings.Contains(err.Error(), "BROKEN") {
		t.Errorf("a broken key: %v", err)
	}
}

// A bundle that a former version left in clear is encrypted when the store is
// opened, with its retention date; one with other bytes is told with its file.
func TestOldBundlesAreSealed(t *testing.T) {
	dir := t.TempDir()
	content := []byte("what a CLI printed")
	d := contract.Sum(content)
	file := filepath.Join(dir, "raw", d.Hex()[:2], d.Hex()+".bundle")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, content, 0o600))
	until := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	b, err := contract.Encode(private.Meta{SHA256: d, Bytes: int64(len(content)), StoredAt: until, RetainUntil: until, Agent: "codex"})
	must(t, err)
	must(t, os.WriteFile(strings.TrimSuffix(file, ".bundle")+".json", b, 0o600))
	for range 2 {
		s, err := private.Open(private.Config{StateDir: dir})
		must(t, err)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal("it is still there in clear")
		}
		r, err := s.Open(t.Context(), d, nil)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		m, err := s.Stat(t.Context(), d)
		must(t, err)
		if !bytes.Equal(got, content) || !m.RetainUntil.Equal(until) || m.Agent != "codex" {
			t.Errorf("%q, %+v", got, m)
		}
	}
	must(t, os.WriteFile(file, []byte("other bytes"), 0o600))
	if _, err := private.Open(private.Config{StateDir: dir}); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "other bytes") {
		t.Errorf("got %v", err)
	}
}
