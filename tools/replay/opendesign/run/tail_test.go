package run

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
)

// A tail gives the end of everything that came, however it was cut into chunks.
func TestTheTailIsTheEndOfTheStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SampledFrom([]string{"a", "é", "余", "🎉", "\n", "\xff", "\xed\xa0\x80"})
		chunk := rapid.Custom(func(t *rapid.T) []byte {
			var b []byte
			for unit, n := units.Draw(t, "unit"), rapid.IntRange(0, 5000).Draw(t, "times"); n > 0; n-- {
				b = append(b, unit...)
			}
			return b[:max(0, len(b)-rapid.IntRange(0, 2).Draw(t, "cut"))]
		})
		var stream, taken []byte
		var got tail
		for _, c := range rapid.SliceOfN(chunk, 0, 8).Draw(t, "chunks") {
			stream = append(stream, c...)
			taken = append(taken, got.add(c)...)
		}
		taken = append(taken, got.end()...)
		whole := jstext.Decode(stream)
		if string(taken) != whole {
			t.Fatal("the chunks are decoded to another text than the stream")
		}
		if got.text() != jstext.Tail(whole, tailUnits) || got.seen != (whole != "") {
			t.Fatal("the tail is not the end of the stream")
		}
	})
}
