package contract

import (
	"testing"

	"pgregory.net/rapid"
)

// The signature has two encoders: they must agree wherever the fast one answers.
func TestSignatureEncodersAgree(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[a-z_.\[\]<>]{1,8}`), rapid.String())
	literal := rapid.OneOf(
		rapid.SampledFrom([]Literal{"true", "null", `"a"`, "0", "-7", "429", "1.5", "1e+30"}),
		rapid.Map(rapid.IntRange(-1000, 1000), func(n int) Literal { b, _ := Canonical(n); return Literal(b) }))
	path := rapid.Custom(func(t *rapid.T) PathShape {
		return PathShape{Path: text.Draw(t, "path"), Type: "string", Required: rapid.Bool().Draw(t, "required")}
	})
	frame := rapid.Custom(func(t *rapid.T) FrameShape {
		return FrameShape{
			Direction: "cli->server", Stream: "stdout", EventType: text.Draw(t, "event"),
			Paths: rapid.SliceOf(path).Draw(t, "paths"),
			Enums: rapid.MapOf(text, rapid.SliceOf(literal)).Draw(t, "enums"),
		}
	})
	fast := 0
	rapid.Check(t, func(t *rapid.T) {
		s := Shape{
			SchemaVersion: 1, ProtocolFamily: FamilyEvents, Transport: TransportJSONL, StderrClass: "none", Exit: ExitSuccess,
			EventTypes: rapid.SliceOf(text).Draw(t, "types"), FrameShapes: rapid.SliceOfN(frame, 0, 3).Draw(t, "frames"),
			Extensions: ShapeExtensions{Sequence: []SeqItem{{Index: 1}, {Mark: "overlap"}, {Repeat: []SeqItem{{Index: 2}}}, {Repeat: []SeqItem{}}}},
		}
		b, ok := s.appendIdentity(nil)
		if !ok {
			return
		}
		fast++
		want, err := Canonical(s.identity())
		if err != nil {
			t.Fatalf("the general encoder refuses what the fast one wrote: %v", err)
		}
		if string(want) != string(b) {
			t.Fatalf("fast %s\nslow %s", b, want)
		}
	})
	if fast == 0 {
		t.Error("the fast encoder never answered")
	}
}

// A literal that is taken as it is is the canonical one.
func TestLiteralsAreKeptInCanonicalSpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `"a b"`, `"<&>"`, `"\u007f"`, `"a\"b"`, `"a\/b"`, `"\u0041"`, `"é"`, `"\ud83c\udf89"`, `"\u2028"`, "\"\x7f\"",
		`0`, `-0`, `7`, `-12`, `1.0`, `1e2`, `007`, `123456789012345`, `1234567890123456`, `12345678901234567890`, `true`, `false`, `null`, `nul`, `"`, `"a`, ``, ` 1`,
	} {
		var l Literal
		err := l.UnmarshalJSON([]byte(text))
		want, wantErr := CanonicalBytes([]byte(text))
		if (err == nil) != (wantErr == nil) || string(l) != string(want) {
			t.Errorf("%s is kept as %s (%v), want %s (%v)", text, l, err, want, wantErr)
		}
	}
}
