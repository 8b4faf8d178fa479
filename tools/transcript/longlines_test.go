package transcript

import (
	"bytes"
	"strings"
	"testing"
)

// TestReadSanitizedLines: lines of any length come back as they were, and the
// records of one transcript, which share storage, do not touch each other.
func TestReadSanitizedLines(t *testing.T) {
	var in Transcript
	for i := range 3000 {
		size := []int{0, 1, 40, 700, 8190, 8200}[i%6]
		if i%1000 == 999 {
			size = 200 << 10 // longer than the reader's buffer
		}
		piece := []string{`"`, "é", "x"}[i%3]
		in.Records = append(in.Records, Record{Dir: CLIToServer, Stream: Stdout, Data: []byte(strings.Repeat(piece, size/len(piece)))})
	}
	var text bytes.Buffer
	if err := in.WriteSanitized(&text); err != nil {
		t.Fatal(err)
	}
	out, err := ReadSanitized(&text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Records {
		if r := &out.Records[i]; i%2 == 1 {
			r.Data = append(r.Data, "more"...)
		}
	}
	for i := range in.Records {
		want := in.Records[i].Data
		if i%2 == 1 {
			want = append(want, "more"...)
		}
		if got := out.Records[i].Data; got == nil || !bytes.Equal(got, want) {
			t.Fatalf("record %d has %d bytes, want the %d that were written", i, len(got), len(want))
		}
	}
}
