package transcript

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAssembleOrderAndDeviations(t *testing.T) {
	w, path := newBundle(t)
	must(t, w.Process(0, ProcessEvent{Event: EventSpawn}))
	must(t, w.Chunk(ServerToCLI, Stdin, 1, []byte("prompt without end")))
	must(t, w.End(ServerToCLI, Stdin, 2, "closed"))
	must(t, w.Chunk(CLIToServer, Stdout, 3, []byte("first ")))
	must(t, w.Chunk(CLIToServer, Stderr, 4, []byte("\x1b[31mred\r\n\xff\x00\n")))
	must(t, w.Chunk(CLIToServer, Stdout, 5, []byte("line\n\nsecond\rline\u2028still")))
	must(t, w.End(CLIToServer, Stdout, 6, "eof"))
	must(t, w.Chunk(CLIToServer, Stderr, 7, []byte("cut he")))
	code := 0
	must(t, w.Process(8, ProcessEvent{Event: EventExit, ExitCode: &code}))
	must(t, w.Chunk(CLIToFile, Session, 9, []byte("{}\nhalf a li")))
	must(t, w.End(CLIToFile, Session, 9, "eof"))
	_, err := w.Close()
	must(t, err)

	type line struct {
		stream Stream
		data   string
		event  string
		devs   []string
	}
	want := []line{
		{event: EventSpawn},
		{stream: Stdin, data: "prompt without end"},
		{stream: Stderr, data: "\x1b[31mred\r\n", devs: []string{DeviationANSI, DeviationCRLF}},
		{stream: Stderr, data: "\xff\x00\n", devs: []string{DeviationInvalidUTF8, DeviationNUL}},
		{stream: Stdout, data: "first line\n"},
		{stream: Stdout, data: "\n"},
		{stream: Stdout, data: "second\rline\u2028still"},
		{event: EventExit},
		{stream: Session, data: "{}\n"},
		{stream: Session, data: "half a li"},
		{stream: Stderr, data: "cut he", devs: []string{DeviationTruncatedTail}},
	}
	r, err := OpenBundle(path)
	must(t, err)
	defer r.Close()
	tr, err := Assemble(r)
	must(t, err)
	if len(tr.Records) != len(want) {
		t.Fatalf("%d records, want %d", len(tr.Records), len(want))
	}
	for i, rec := range tr.Records {
		if rec.Piped() != slices.Contains([]Stream{Stdin, Stdout, Stderr}, rec.Stream) {
			t.Errorf("record %d from %s counts as piped: %v", i, rec.Dir, rec.Piped())
		}
		if w := want[i]; rec.Stream != w.stream || string(rec.Data) != w.data || rec.Event != w.event || !slices.Equal(rec.Deviations, w.devs) {
			t.Errorf("record %d: stream %q, event %q, deviations %v, %d bytes; want %+v", i, rec.Stream, rec.Event, rec.Deviations, len(rec.Data), w)
		}
	}
}

// However a stream was cut into chunks, its lines are the same, and joined
// they are the stream.
func TestAssembleDoesNotSeeChunkBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		streams := map[Stream][]byte{}
		left := map[Stream][]byte{}
		for _, s := range []Stream{Stdout, Stderr} {
			streams[s] = rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n\r\xff\x00é")), 0, 40).Draw(t, string(s))
			left[s] = streams[s]
		}
		var raw bundleBytes
		for len(left[Stdout])+len(left[Stderr]) > 0 {
			s := rapid.SampledFrom([]Stream{Stdout, Stderr}).Draw(t, "stream")
			n := rapid.IntRange(0, len(left[s])).Draw(t, "length")
			raw.chunk(s, left[s][:n])
			left[s] = left[s][n:]
		}
		tr, err := Assemble(raw.reader())
		if err != nil {
			t.Fatal(err)
		}
		for s, b := range streams {
			if !bytes.Equal(tr.Bytes(CLIToServer, s), b) {
				t.Errorf("%s changed", s)
			}
			var lines [][]byte
			for l := range tr.Lines(CLIToServer, s) {
				lines = append(lines, l)
			}
			want := slices.Collect(bytes.Lines(b))
			if !slices.EqualFunc(lines, want, bytes.Equal) {
				t.Errorf("%s has %d lines, want %d", s, len(lines), len(want))
			}
		}
	})
}

// bundleBytes builds a bundle in memory through the format's own rules.
type bundleBytes struct{ b []byte }

func (b *bundleBytes) chunk(s Stream, data []byte) {
	b.b = append(b.b, byte(kindOf(CLIToServer, s)), 0, byte(len(data)))
	b.b = append(b.b, data...)
}

func (b *bundleBytes) reader() *BundleReader {
	head := append([]byte(bundleMagic), bundleVersion)
	r, err := ReadBundle(bytes.NewReader(append(append(head, b.b...), byte(kindEnd), 0, 0)))
	if err != nil {
		panic(err)
	}
	return r
}

func FuzzAssemble(f *testing.F) {
	raw, _ := sample(f)
	f.Add(raw)
	f.Add(raw[:len(raw)-3])
	f.Add([]byte(bundleMagic + "\x01\x02\x00\x01a\x05\x00\x03eof"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ReadBundle(bytes.NewReader(raw))
		if err != nil {
			return
		}
		tr, err := Assemble(r)
		if err != nil {
			return
		}
		for i := range tr.Records {
			if d := tr.Records[i].Data; bytes.IndexByte(d, '\n') >= 0 && bytes.IndexByte(d, '\n') != len(d)-1 {
				t.Error("a record holds more than one line")
			}
		}
		tr.ExitClass()
	})
}

func BenchmarkAssemble(b *testing.B) {
	w, path := newBundle(b)
	line := append(bytes.Repeat([]byte("x"), 300), '\n')
	for range 50_000 {
		must(b, w.Chunk(CLIToServer, Stdout, 1, line))
	}
	_, err := w.Close()
	must(b, err)
	info, err := os.Stat(path)
	must(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		r, err := OpenBundle(path)
		must(b, err)
		_, err = Assemble(r)
		must(b, err)
		must(b, r.Close())
	}
}
