package transcript

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// However the bytes of three streams are cut into records, the lines are the same;
// process events stay where they stood, and lines are left alone.
func TestRelined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		streams := []Stream{Stdin, Stdout, Stderr}
		dirs := []Dir{ServerToCLI, CLIToServer, CLIToServer}
		want := [3][]byte{}
		var cut Transcript
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			n := rapid.IntRange(0, 2).Draw(t, "stream")
			data := []byte(rapid.StringMatching(`[ab\n]{1,6}`).Draw(t, "data"))
			want[n] = append(want[n], data...)
			cut.Records = append(cut.Records, Record{Dir: dirs[n], Stream: streams[n], Data: data})
		}
		cut.Records = append(cut.Records, Record{Dir: Process, Event: EventExit})
		got := cut.Relined()
		if !got.ofLines() || got.Relined() != got {
			t.Fatalf("not lines: %v", got.Records)
		}
		for n, s := range streams {
			if b := got.Bytes(dirs[n], s); !bytes.Equal(b, want[n]) {
				t.Fatalf("%s is %q, want %q", s, b, want[n])
			}
		}
		if last := got.Records[len(got.Records)-1]; last.Event != EventExit {
			t.Fatalf("the last record is %v", last)
		}
	})
}

// A frame is a line of its own, and the end of a stream that was cut stays one.
func TestRelinedFrames(t *testing.T) {
	in := &Transcript{Records: []Record{
		{Dir: CLIToServer, Stream: Stdout, Data: []byte("a\nb")},
		{Dir: CLIToServer, Stream: Stdout, Frame: []byte("{}")},
		{Dir: CLIToServer, Stream: Stdout, Data: []byte("c"), Deviations: []string{DeviationTruncatedTail}},
	}}
	got := in.Relined().Records
	if len(got) != 4 || string(got[0].Data) != "a\n" || string(got[1].Data) != "b" || string(got[2].Frame) != "{}" || string(got[3].Data) != "c" || len(got[3].Deviations) != 1 {
		t.Errorf("records %+v", got)
	}
}
