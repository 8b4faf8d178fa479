package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func newBundle(t testing.TB) (*BundleWriter, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw")
	w, err := CreateBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

// must fails the test on an error of a write.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func entries(t testing.TB, r *BundleReader) []Entry {
	t.Helper()
	var list []Entry
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		must(t, err)
		e.Data = bytes.Clone(e.Data)
		list = append(list, e)
	}
}

// sample writes a small complete bundle and returns its bytes and its hash.
func sample(t testing.TB) ([]byte, contract.Digest) {
	w, path := newBundle(t)
	code := 3
	must(t, w.Process(0, ProcessEvent{Event: EventSpawn}))
	must(t, w.Chunk(ServerToCLI, Stdin, 1, []byte("prompt")))
	must(t, w.End(ServerToCLI, Stdin, 2, "closed"))
	must(t, w.Chunk(CLIToServer, Stdout, 300, []byte("one\ntw")))
	must(t, w.Chunk(CLIToServer, Stderr, 400, []byte{0, 0xff, '\n'}))
	must(t, w.Chunk(CLIToServer, Stdout, 500, []byte("o\nrest")))
	must(t, w.End(CLIToServer, Stdout, 600, "eof"))
	must(t, w.Process(1<<40, ProcessEvent{Event: EventExit, ExitCode: &code}))
	sum, err := w.Close()
	must(t, err)
	b, err := os.ReadFile(path)
	must(t, err)
	return b, sum
}

func TestBundleKeepsBytesOffsetsAndEvents(t *testing.T) {
	raw, sum := sample(t)
	if sum != contract.Sum(raw) {
		t.Errorf("Close says %s, the file has %s", sum, contract.Sum(raw))
	}
	r, err := ReadBundle(bytes.NewReader(raw))
	must(t, err)
	list := entries(t, r)
	if len(list) != 8 || r.Truncated() {
		t.Fatalf("%d entries, truncated %v; want 8 of a whole bundle", len(list), r.Truncated())
	}
	if e := list[4]; e.Dir != CLIToServer || e.Stream != Stderr || e.At != 400 || !bytes.Equal(e.Data, []byte{0, 0xff, '\n'}) {
		t.Errorf("stderr entry has stream %s, offset %d, %d bytes", e.Stream, e.At, len(e.Data))
	}
	if e := list[2]; e.Dir != ServerToCLI || e.Stream != Stdin || e.End != "closed" {
		t.Errorf("stdin end: %s %s %q", e.Dir, e.Stream, e.End)
	}
	if e := list[7]; e.Event == nil || e.Event.Event != EventExit || *e.Event.ExitCode != 3 || e.At != 1<<40 {
		t.Errorf("exit entry %+v", e)
	}
}

// A bundle that was cut anywhere, as kill -9 or a full disk cuts it, gives
// everything before the cut and says that it was cut.
func TestBundleCutAtEveryByte(t *testing.T) {
	raw, _ := sample(t)
	whole := stdoutOf(t, raw)
	for n := len(bundleMagic) + 1; n < len(raw); n++ {
		r, err := ReadBundle(bytes.NewReader(raw[:n]))
		must(t, err)
		var got []byte
		for _, e := range entries(t, r) {
			if e.Stream == Stdout {
				got = append(got, e.Data...)
			}
		}
		if !r.Truncated() {
			t.Fatalf("cut at byte %d is not noticed", n)
		}
		if !bytes.HasPrefix(whole, got) {
			t.Fatalf("cut at byte %d gives other bytes", n)
		}
	}
	for n := range len(bundleMagic) + 1 {
		if _, err := ReadBundle(bytes.NewReader(raw[:n])); err == nil {
			t.Fatalf("%d bytes pass as a bundle", n)
		}
	}
}

func stdoutOf(t testing.TB, raw []byte) []byte {
	r, err := ReadBundle(bytes.NewReader(raw))
	must(t, err)
	tr, err := Assemble(r)
	must(t, err)
	return tr.Bytes(CLIToServer, Stdout)
}

func TestBundleRefusesDamage(t *testing.T) {
	raw, _ := sample(t)
	head := raw[:len(bundleMagic)+1]
	for name, b := range map[string][]byte{
		"bytes after the end": append(bytes.Clone(raw), 1),
		"unknown kind":        append(bytes.Clone(head), 99, 0, 0),
		"huge length":         append(bytes.Clone(head), 2, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"offset goes back":    append(bytes.Clone(head), 2, 9, 1, 'x', 2, 8, 1, 'x'),
		"process not json":    append(bytes.Clone(head), 7, 0, 1, 'x'),
		"endless number":      append(bytes.Clone(head), 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		r, err := ReadBundle(bytes.NewReader(b))
		must(t, err)
		for err == nil {
			_, err = r.Next()
		}
		if errors.Is(err, io.EOF) {
			t.Errorf("%s: no error", name)
		}
	}
	newer := append(bytes.Clone(raw[:len(bundleMagic)]), bundleVersion+1)
	if _, err := ReadBundle(bytes.NewReader(newer)); err == nil {
		t.Error("a newer version is read")
	}
}

func TestBundleFile(t *testing.T) {
	w, path := newBundle(t)
	if _, err := CreateBundle(path); err == nil {
		t.Error("an existing bundle is overwritten")
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if err := w.Chunk(ServerToCLI, Stdout, 0, []byte("x")); err == nil {
		t.Error("a chunk on stdout towards the CLI is accepted")
	}
	if err := w.End(Process, "", 0, "eof"); err == nil {
		t.Error("the end of no stream is accepted")
	}
	_, err := w.Close()
	must(t, err)
	if err := w.Chunk(CLIToServer, Stdout, 0, []byte("x")); err == nil {
		t.Error("a closed bundle takes chunks")
	}
	if _, err := w.Close(); err == nil {
		t.Error("a second Close gives a hash")
	}
	if _, err := OpenBundle(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file opens")
	}
	r, err := OpenBundle(path)
	must(t, err)
	must(t, r.Close())
}

// Output of a chatty child and of a child that then falls silent is on disk
// soon, without another call.
func TestBundleFlushesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, path := newBundle(t)
		must(t, w.Chunk(CLIToServer, Stdout, 1, []byte("last words\n")))
		time.Sleep(flushAfter)
		synctest.Wait()
		raw, err := os.ReadFile(path)
		must(t, err)
		if got := stdoutOf(t, raw); string(got) != "last words\n" {
			t.Errorf("on disk after the flush time: %d bytes", len(got))
		}
		must(t, w.Process(2, ProcessEvent{Event: EventKill}))
		raw, err = os.ReadFile(path)
		must(t, err)
		r, err := ReadBundle(bytes.NewReader(raw))
		must(t, err)
		if n := len(entries(t, r)); n != 2 {
			t.Errorf("%d entries on disk after a process event, want 2", n)
		}
		_, err = w.Close()
		must(t, err)
	})
}

func TestBundleLargeChunksAndManyWriters(t *testing.T) {
	w, path := newBundle(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 3*maxEntry/16)
	must(t, w.Chunk(CLIToServer, Stdout, 5, large))
	var wg sync.WaitGroup
	for _, s := range []Stream{Stdout, Stderr} {
		wg.Go(func() {
			for i := range 1000 {
				if err := w.Chunk(CLIToServer, s, time.Duration(i), []byte("line\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sum, err := w.Close()
	must(t, err)
	raw, err := os.ReadFile(path)
	must(t, err)
	if sum != contract.Sum(raw) {
		t.Error("hash differs from the file's")
	}
	if got := len(stdoutOf(t, raw)); got != len(large)+5000 {
		t.Errorf("stdout has %d bytes", got)
	}
}

func TestBundleReportsAFailedWrite(t *testing.T) {
	w, _ := newBundle(t)
	must(t, w.f.Close())
	if err := w.Process(0, ProcessEvent{Event: EventSpawn}); err == nil {
		t.Error("a failed write is not reported")
	}
	if err := w.Chunk(CLIToServer, Stdout, 0, []byte("x")); err == nil {
		t.Error("the writer goes on after a failed write")
	}
	if _, err := w.Close(); err == nil {
		t.Error("Close gives a hash for a broken bundle")
	}
}

func BenchmarkBundle(b *testing.B) {
	for _, size := range []int{128, 4 << 10, 64 << 10} {
		b.Run(byteSize(size), func(b *testing.B) {
			w, _ := newBundle(b)
			chunk := bytes.Repeat([]byte("x"), size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				must(b, w.Chunk(CLIToServer, Stdout, 1, chunk))
			}
			_, err := w.Close()
			must(b, err)
		})
	}
}

func byteSize(n int) string {
	return map[int]string{128: "128B", 4 << 10: "4KiB", 64 << 10: "64KiB"}[n]
}
