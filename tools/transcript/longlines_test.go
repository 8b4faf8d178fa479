package transcript

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestReadSanitizedLines: lines of any length come back as they were, however
// little the first ones tell of the others, and the records of one transcript,
// which share storage, do not touch each other.
func TestReadSanitizedLines(t *testing.T) {
	for name, size := range map[string]func(i int) int{
		"mixed":            func(i int) int { return []int{0, 1, 40, 700, 8190, 8200}[i%6] },
		"long, then short": func(i int) int { return max(0, 20000-500*i) },
		"short, then long": func(i int) int { return i / 10 },
		"longest":          func(i int) int { return max(0, i-2995) * 200 << 10 }, // longer than any buffer
	} {
		var in Transcript
		for i := range 3000 {
			piece := []string{`"`, "é", "x"}[i%3]
			in.Records = append(in.Records, Record{Dir: CLIToServer, Stream: Stdout, Data: []byte(strings.Repeat(piece, size(i)/len(piece)))})
		}
		var text bytes.Buffer
		if err := in.WriteSanitized(&text); err != nil {
			t.Fatal(err)
		}
		sized, unsized := bytes.NewReader(text.Bytes()), io.MultiReader(bytes.NewReader(text.Bytes()))
		for of, r := range map[string]io.Reader{"known": sized, "unknown": unsized} {
			out, err := ReadSanitized(r)
			if err != nil {
				t.Fatal(err)
			}
			sameData(t, name+", of "+of+" size", &in, out)
		}
	}
}

// sameData appends to every other record, which no other may notice.
func sameData(t *testing.T, name string, in, out *Transcript) {
	t.Helper()
	if len(out.Records) != len(in.Records) {
		t.Fatalf("%s: %d records, want %d", name, len(out.Records), len(in.Records))
	}
	for i := range out.Records {
		if r := &out.Records[i]; i%2 == 1 {
			r.Data = append(r.Data, "more"...)
		}
	}
	for i := range in.Records {
		want := bytes.Clone(in.Records[i].Data)
		if i%2 == 1 {
			want = append(want, "more"...)
		}
		if got := out.Records[i].Data; got == nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: record %d has %d bytes, want the %d that were written", name, i, len(got), len(want))
		}
	}
}

// TestOddBytesInOneChunk: what is odd about a line is known of that line only,
// also when a chunk has many.
func TestOddBytesInOneChunk(t *testing.T) {
	a := assembler{open: map[Stream][]byte{}}
	a.chunk(Entry{Dir: CLIToServer, Stream: Stdout, Data: []byte("plain\nwindows\r\nred\x1b[0m\nbad\xff\nplain\n\x00\n")})
	var got []string
	for _, r := range a.records.join() {
		got = append(got, strings.Join(r.Deviations, "+"))
	}
	if want := ",crlf,ansi,invalid_utf8,,nul"; strings.Join(got, ",") != want {
		t.Errorf("deviations %s, want %s", strings.Join(got, ","), want)
	}
}
