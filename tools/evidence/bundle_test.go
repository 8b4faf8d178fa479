package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// submitted is the bundle of an observation, and a registry that has its agent
// and probes and no record.
func submitted(t testing.TB, probe string) (b *Bundle, empty *store.Registry) {
	t.Helper()
	reg := sampled(t)
	o := one(t, reg, probe)
	b, err := Submit(reg, o.Path)
	must(t, err)
	dir := t.TempDir() + "/registry"
	must(t, store.Create(dir, reg))
	empty, err = store.Open(dir)
	must(t, err)
	return b, empty
}

func acceptor(t testing.TB, reg *store.Registry, approved bool) (*Acceptor, *int) {
	p, asked := promoter(t, reg, "jo", approved)
	return &Acceptor{Registry: reg, Requests: p.Requests, Inline: p.Inline, By: "jo", Now: p.Now}, asked
}

func TestSubmitAndAccept(t *testing.T) {
	for _, probe := range []string{"chat-tool-success", "auth-failure"} { // one with an error case
		b, reg := submitted(t, probe)
		one, err := b.Encode()
		must(t, err)
		two, err := b.Encode()
		must(t, err)
		if !bytes.Equal(one, two) {
			t.Error("two bundles of one observation differ")
		}
		read, err := ReadBundle(bytes.NewReader(one))
		must(t, err)
		a, asked := acceptor(t, reg, true)
		out, err := a.Accept(t.Context(), read, Contributor{})
		if err != nil || !out.IsNew || out.Observation != b.Manifest.Observation {
			t.Fatal(out, err)
		}
		submitted, published := contents(b.Files), everything(t, reg)
		for f, content := range published { // another registry may name a fixture otherwise
			if strings.HasPrefix(f, "fixtures/") || strings.HasPrefix(f, "goldens/") || strings.HasPrefix(f, "shapes/") {
				if !submitted[content] {
					t.Errorf("%s is not what was submitted", f)
				}
			}
		}
		if _, ok := b.Files[errorCaseOf(out.Observation)]; ok != reg.Exists(errorCaseOf(out.Observation)) {
			t.Error("the error case did not come along")
		}
		valid(t, reg)
		if again, err := a.Accept(t.Context(), read, Contributor{}); err != nil || again.IsNew || *asked != 1 {
			t.Errorf("again: %+v %v, asked %d times", again, err, *asked)
		}
	}
}

func contents(files map[string][]byte) map[string]bool {
	out := map[string]bool{}
	for _, b := range files {
		out[string(b)] = true
	}
	return out
}

// Before a maintainer says yes, and after one says no, nothing is published.
func TestAcceptAsks(t *testing.T) {
	b, reg := submitted(t, "chat-text-success")
	a, _ := acceptor(t, reg, false)
	a.Inline = nil
	before := everything(t, reg)
	var waits *requests.SuspendedError
	if _, err := a.Accept(t.Context(), b, Contributor{}); !errors.As(err, &waits) {
		t.Fatal(err)
	}
	if added := onlyAdded(t, before, everything(t, reg)); len(added) != 1 || !strings.HasSuffix(added[0], ".request.json") {
		t.Errorf("new are %q", added)
	}
	r := waits.Pending[0]
	if r.Subject == nil || *r.Subject != b.Manifest.Observation {
		t.Errorf("it is about %v", r.Subject)
	}
	answer, err := requests.AnswerApproval(&r, requests.Approval{Approved: false, Comment: "no"}, requests.By{Name: "jo", At: later})
	must(t, err)
	must(t, a.Requests.Answer(t.Context(), *answer))
	var refused *RefusedError
	if _, err := a.Accept(t.Context(), b, Contributor{}); !errors.As(err, &refused) {
		t.Errorf("after a no: %v", err)
	}
	if reg.Exists(b.Manifest.Observation) {
		t.Error("it is published")
	}
}

// The yes of somebody who is no maintainer publishes nothing: the question stays
// open. Where nobody is named it is for whoever keeps the registry.
func TestStrangersDoNotAccept(t *testing.T) {
	b, reg := submitted(t, "chat-text-success")
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"lee"}],"agents":[]}`)
	a, asked := acceptor(t, reg, true) // jo answers
	inline := a.Inline
	a.Inline = func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
		if *asked == 2 {
			return nil, requests.ErrLater
		}
		return inline(ctx, pending)
	}
	var waits *requests.SuspendedError
	if _, err := a.Accept(t.Context(), b, Contributor{}); !errors.As(err, &waits) || *asked != 2 {
		t.Fatalf("asked %d times: %v", *asked, err)
	}
	if reg.Exists(b.Manifest.Observation) {
		t.Error("a stranger's yes published it")
	}
	answer, err := requests.AnswerApproval(&waits.Pending[0], requests.Approval{Approved: true}, requests.By{Name: "lee", At: later})
	must(t, err)
	must(t, a.Requests.Answer(t.Context(), *answer))
	if out, err := a.Accept(t.Context(), b, Contributor{}); err != nil || !out.IsNew {
		t.Errorf("a maintainer's yes: %+v, %v", out, err)
	}
}

// A contributor's observation of ours is a reproduction, and can be promoted.
func TestAcceptedReproduction(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	b, err := Submit(reg, o.Path)
	must(t, err)
	who := Contributor{"sam", "https://example.org/run/1"}
	a, _ := acceptor(t, reg, true)
	if out, err := a.Accept(t.Context(), b, who); err != nil || out.IsNew || out.Reproduction != "" {
		t.Errorf("the very same observation: %+v %v", out, err)
	}
	b = changed(t, b, func(o *contract.Observation) {
		o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte("other run"))
		o.Capture.Runner = "sams-laptop"
	})
	out, err := a.Accept(t.Context(), b, who)
	if err != nil || !out.IsNew || out.Reproduction == "" {
		t.Fatal(out, err)
	}
	if out.Observation == o.Path {
		t.Error("it took the place of another observation")
	}
	p, _ := promoter(t, reg, "jo", true)
	if _, _, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}); err != nil {
		t.Error(err)
	}
	if l := levelOf(t, reg, &o); l != contract.LevelCommunityConfirmed {
		t.Errorf("the shape is %s", l)
	}
	valid(t, reg)
}

// packed makes a gzipped tar of headers and contents.
func packed(t testing.TB, write func(*tar.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	write(w)
	must(t, w.Close())
	must(t, z.Close())
	return out.Bytes()
}

func file(t testing.TB, w *tar.Writer, h tar.Header, content string) {
	t.Helper()
	h.Size = int64(len(content))
	if h.Mode == 0 {
		h.Mode = 0o644
	}
	must(t, w.WriteHeader(&h))
	_, err := io.WriteString(w, content)
	must(t, err)
}

func TestHostileBundles(t *testing.T) {
	small := newBundle("observations/a", map[string][]byte{"observations/a": []byte("x")})
	manifest, err := contract.Encode(small.Manifest)
	must(t, err)
	good, err := small.Encode()
	must(t, err)
	if _, err := ReadBundle(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	m := string(manifest)
	tarOf := func(manifest string, more ...func(*tar.Writer)) []byte {
		return packed(t, func(w *tar.Writer) {
			file(t, w, tar.Header{Name: "manifest.json"}, manifest)
			for _, f := range more {
				f(w)
			}
		})
	}
	x := func(w *tar.Writer) { file(t, w, tar.Header{Name: "0"}, "x") }
	claiming := func(path string, bytes string) string {
		return strings.Replace(strings.Replace(m, `"path": "observations/a"`, `"path": "`+path+`"`, 1), `"bytes": 1`, `"bytes": `+bytes, 1)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut off": good[:len(good)-9], "cut off early": good[:20], "trailing bytes": append(slices.Clone(good), 'x'),
		"two members":      append(slices.Clone(good), good...),
		"a bomb in a file": tarOf(claiming("observations/a", "170000000"), x),
		"a path":           tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "../../etc/cron.d/x"}, "x") }),
		"an absolute path": tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "/etc/passwd"}, "x") }),
		"a symbolic link": tarOf(m, func(w *tar.Writer) {
			file(t, w, tar.Header{Name: "0", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, "")
		}),
		"a hard link": tarOf(m, func(w *tar.Writer) {
			file(t, w, tar.Header{Name: "0", Typeflag: tar.TypeLink, Linkname: "manifest.json"}, "")
		}),
		"a device": tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0", Typeflag: tar.TypeChar}, "") }),
		"a folder": tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0/", Typeflag: tar.TypeDir}, "") }, x),
		"set-uid":  tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0", Mode: 0o4755}, "x") }),
		"an owner": tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0", Uname: "root"}, "x") }),
		"a time":   tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0", ModTime: time.Unix(1, 0)}, "x") }),
		"pax records": tarOf(m, func(w *tar.Writer) {
			file(t, w, tar.Header{Name: "0", Format: tar.FormatPAX, PAXRecords: map[string]string{"A.b": "c"}}, "x")
		}),
		"wrong content":                 tarOf(m, func(w *tar.Writer) { file(t, w, tar.Header{Name: "0"}, "y") }),
		"a file more":                   tarOf(m, x, func(w *tar.Writer) { file(t, w, tar.Header{Name: "1"}, "x") }),
		"a file twice":                  tarOf(m, x, x),
		"a file less":                   tarOf(m),
		"no manifest":                   packed(t, x),
		"a manifest of spaces":          tarOf(m+strings.Repeat(" ", 10), x),
		"an unknown member":             tarOf(strings.Replace(m, "{", `{"admin": true,`, 1), x),
		"two manifests":                 tarOf(m+m, x),
		"another version":               tarOf(strings.Replace(m, `"schema_version": 1`, `"schema_version": 2`, 1), x),
		"a place outside":               tarOf(claiming("../../x", "1"), x),
		"an absolute place":             tarOf(claiming("/etc/passwd", "1"), x),
		"a Windows place":               tarOf(claiming(`C:\\x`, "1"), x),
		"a device of Windows":           tarOf(claiming("observations/NUL.observation.json", "1"), x),
		"a device as a folder":          tarOf(claiming("observations/com1/x.json", "1"), x),
		"a dot at the end":              tarOf(claiming("observations./a", "1"), x),
		"a space at the end":            tarOf(claiming("observations/a ", "1"), x),
		"a stream of NTFS":              tarOf(claiming("observations/a:b", "1"), x),
		"a control character":           tarOf(claiming(`observations/a\nb`, "1"), x),
		"a wildcard":                    tarOf(claiming("observations/a?", "1"), x),
		"two names in one but for case": packedAs(t, map[string][]byte{"observations/a": []byte("x"), "observations/A": []byte("y")}),
		"a negative size":               tarOf(claiming("observations/a", "-1"), x),
		"a huge size":                   tarOf(claiming("observations/a", "9223372036854775807"), x),
		"a wrong size":                  tarOf(claiming("observations/a", "2"), x),
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			_, err := ReadBundle(bytes.NewReader(b))
			var none *BundleError
			if !errors.As(err, &none) {
				t.Errorf("got %v", err)
			}
		})
	}
	named := gzipped(t, good)
	if _, err := ReadBundle(bytes.NewReader(named)); err == nil {
		t.Error("a gzip header with a name was taken")
	}
}

// What unpacks to more than a bundle may hold is given up there. The limit is
// lowered: the real one takes the race detector a minute to reach.
func TestBomb(t *testing.T) {
	most := maxUnpacked
	t.Cleanup(func() { maxUnpacked = most })
	maxUnpacked = 2 << 20
	const size = 4 << 20
	bomb := packed(t, func(w *tar.Writer) {
		must(t, w.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o644, Size: size}))
		_, err := io.CopyN(w, zeros{}, size)
		must(t, err)
	})
	_, err := ReadBundle(bytes.NewReader(bomb))
	var none *BundleError
	if !errors.As(err, &none) || !strings.HasSuffix(none.What, "more than 2 MiB") {
		t.Errorf("%d KiB: got %v", len(bomb)>>10, err)
	}
}

// A bundle that was cut anywhere, packed or unpacked, is none.
func TestTruncatedBundles(t *testing.T) {
	b, _ := submitted(t, "chat-text-success")
	packed, err := b.Encode()
	must(t, err)
	unpacked, err := b.tar()
	must(t, err)
	refused := func(what string, cut []byte) {
		_, err := ReadBundle(bytes.NewReader(cut))
		var none *BundleError
		if !errors.As(err, &none) {
			t.Errorf("%s cut at %d: %v", what, len(cut), err)
		}
	}
	for n := 0; n < len(packed); n += 1 << 10 {
		refused("a bundle", packed[:n])
	}
	for n := 0; n < len(unpacked); n += 512 { // a block of tar
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, err := w.Write(unpacked[:n])
		must(t, errors.Join(err, w.Close()))
		refused("its tar", z.Bytes())
	}
}

// gzipped packs a bundle's tar again, with a name in the gzip header.
func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	must(t, err)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Name = "x"
	_, err = io.Copy(w, z)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// packedAs packs files as submit would.
func packedAs(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	b, err := newBundle("observations/a", files).Encode()
	must(t, err)
	return b
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Whatever the reader takes is what submit packs: the same files give the same
// tar, and every file is the one that the manifest names.
func FuzzReadBundle(f *testing.F) {
	b := newBundle("observations/a", map[string][]byte{"observations/a": []byte("x"), "shapes/b": []byte("{}")})
	plain, err := b.tar()
	must(f, err)
	f.Add(plain)
	f.Add(plain[:1024])
	f.Add(bytes.Replace(plain, []byte("observations/a"), []byte("observations/."), 1))
	f.Fuzz(func(t *testing.T, unpacked []byte) {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, err := w.Write(unpacked)
		must(t, err)
		must(t, w.Close())
		read, err := ReadBundle(&z)
		if err != nil {
			var none *BundleError
			if !errors.As(err, &none) {
				t.Fatalf("%T", err)
			}
			return
		}
		again, err := read.tar()
		if err != nil || !bytes.Equal(again, unpacked) {
			t.Fatalf("what was taken is packed otherwise: %v", err)
		}
		for _, f := range read.Manifest.Files {
			if contract.Sum(read.Files[f.Path]) != f.SHA256 || strings.Contains(f.Path, "..") {
				t.Fatalf("%q", f.Path)
			}
		}
	})
}

// FuzzUnzip feeds the reader bytes as they come.
func FuzzUnzip(f *testing.F) {
	b, err := newBundle("observations/a", map[string][]byte{"observations/a": []byte("x")}).Encode()
	must(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := ReadBundle(bytes.NewReader(b))
		var none *BundleError
		if err != nil && !errors.As(err, &none) {
			t.Fatalf("%T", err)
		}
	})
}
