package provider

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestChunkingKeepsTextAndRunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringN(1, 20, -1)).Draw(t, "pieces")
		n := rapid.IntRange(-1, 9).Draw(t, "n")
		got := chunked(pieces, n)
		if strings.Join(got, "") != strings.Join(pieces, "") {
			t.Fatal("the joined text changed")
		}
		for i, p := range got {
			switch {
			case !utf8.ValidString(p):
				t.Fatalf("piece %d splits a rune", i)
			case n > 0 && utf8.RuneCountInString(p) > n:
				t.Fatalf("piece %d is longer than %d runes", i, n)
			case n > 0 && i < len(got)-1 && utf8.RuneCountInString(p) < n:
				t.Fatalf("piece %d is shorter than %d runes", i, n)
			}
		}
		if n == wholeText && len(got) > 1 {
			t.Fatal("more than one piece")
		}
	})
}

func TestChunkSizeOptionWins(t *testing.T) {
	for _, tt := range []struct{ option, scenario, want int }{{0, 0, 0}, {0, 7, 7}, {3, 7, 3}, {-1, 7, wholeText}, {-5, 0, wholeText}} {
		if got := chunkRunes(tt.option, tt.scenario); got != tt.want {
			t.Errorf("chunkRunes(%d, %d) = %d, want %d", tt.option, tt.scenario, got, tt.want)
		}
	}
}

// Delivery never changes what is said: any chunk size and any write size give
// the same text, and the write size gives the same bytes.
func TestDeliveryKeepsTheAnswer(t *testing.T) {
	text := []string{"Grüße ", "an alle: ", "✅ 你好"}
	for _, w := range wires {
		var whole string
		for _, o := range []Options{{}, {WriteBytes: 1}, {WriteBytes: 7}, {TextChunk: 1}, {TextChunk: 2, WriteBytes: 3}, {TextChunk: -1}} {
			s := start(t, scenario(textReply(text...)), o)
			_, body, err := post(t, s, w.path, w.ask)
			if err != nil {
				t.Fatal(err)
			}
			events := parseEvents(t, body)
			if got := streamedText(w.dialect, events); got != strings.Join(text, "") {
				t.Errorf("%s %+v: text = %q", w.dialect, o, got)
			}
			if o.TextChunk != 0 {
				continue
			}
			if whole == "" {
				whole = body
			}
			if body != whole {
				t.Errorf("%s: writes of %d bytes change the stream", w.dialect, o.WriteBytes)
			}
		}
	}
}

func TestScenarioPiecesAreDeltas(t *testing.T) {
	s := start(t, scenario(textReply("a", "bc", "d")), Options{})
	_, body, _ := post(t, s, "/v1/responses", responsesAsk)
	var got []string
	for _, ev := range parseEvents(t, body) {
		if d, ok := at(ev.data, "delta").(string); ok {
			got = append(got, d)
		}
	}
	if !slices.Equal(got, []string{"a", "bc", "d"}) {
		t.Errorf("deltas = %q", got)
	}
}
