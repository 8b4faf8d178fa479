package normalize_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
	"pgregory.net/rapid"
)

// stream is a sample as frames that a test may change.
type stream struct {
	sample
	frames [][]byte
	base   contract.Digest
}

func streams(t *testing.T) []stream {
	t.Helper()
	var out []stream
	for _, s := range samples(t) {
		x := stream{sample: s, base: signature(t, s.text, s.d)}
		for line := range strings.SplitSeq(strings.TrimSuffix(s.text, "\n"), "\n") {
			x.frames = append(x.frames, []byte(line))
		}
		out = append(out, x)
	}
	return out
}

func (s *stream) signature(t *rapid.T, frames [][]byte) contract.Digest {
	var b strings.Builder
	for _, f := range frames {
		b.Write(f)
		b.WriteByte('\n')
	}
	x, _, err := normalize.Shape(stdout(b.String()), s.d, contract.LevelSyntheticMock)
	if err != nil {
		t.Fatal(err)
	}
	return x.Signature
}

// respell writes a value again with members in another order, other white
// space, other spellings of numbers, and other texts where no enum can stand.
func respell(t *rapid.T, v rawjson.Value, out []byte) []byte {
	space := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "space")
	switch v.Kind() {
	case rawjson.Object:
		members := rapid.Permutation(v.Members()).Draw(t, "order")
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(rawjson.AppendQuote(append(out, space...), m.Key()), ':')
			out = respell(t, m, out)
		}
		return append(append(out, space...), '}')
	case rawjson.Array:
		out = append(out, '[')
		i := 0
		for e := range v.Children() {
			if i > 0 {
				out = append(append(out, ','), space...)
			}
			out = respell(t, e, out)
			i++
		}
		return append(out, ']')
	case rawjson.Number:
		if raw := string(v.Raw()); !strings.ContainsAny(raw, ".eE") {
			return append(append(out, raw...), rapid.SampledFrom([]string{"", ".0", "e0", "E+0"}).Draw(t, "number")...)
		}
	case rawjson.String:
		if s := v.Str(); !contract.IsEnumLiteral(s) && !strings.HasPrefix(s, "{") && s != "" {
			return rawjson.AppendQuote(out, s+rapid.SampledFrom([]string{"", " more", "\u2028", `"`}).Draw(t, "text"))
		}
	}
	return append(out, v.Raw()...)
}

func TestSpellingNeverChangesTheShape(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &all[rapid.IntRange(0, len(all)-1).Draw(t, "stream")]
		frames := slices.Clone(s.frames)
		for range 3 {
			i := rapid.IntRange(0, len(frames)-1).Draw(t, "frame")
			v, err := rawjson.Parse(frames[i])
			if err != nil {
				t.Fatal(err)
			}
			frames[i] = respell(t, v, nil)
		}
		if s.signature(t, frames) != s.base {
			t.Fatalf("%s: the shape changed", s.name)
		}
	})
}

// How lines end is not in the shape.
func TestLineEndsNeverChangeTheShape(t *testing.T) {
	for _, s := range streams(t) {
		crlf := signature(t, strings.ReplaceAll(s.text, "\n", "\r\n"), s.d)
		open := signature(t, strings.TrimSuffix(s.text, "\n"), s.d)
		if crlf != s.base || open != s.base {
			t.Errorf("%s: line ends changed the shape", s.name)
		}
	}
}

func TestNormalizingTwiceIsTheSame(t *testing.T) {
	for _, s := range streams(t) {
		n, err := normalize.New(s.d)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			x, _, err := n.Shape(stdout(s.text), contract.LevelConfirmed)
			if err != nil {
				t.Fatal(err)
			}
			if x.Signature != s.base {
				t.Errorf("%s: another signature", s.name)
			}
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			var back contract.Shape
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			if sig, err := back.ComputeSignature(); err != nil || sig != s.base {
				t.Errorf("%s: read back, the shape has signature %s (%v)", s.name, sig, err)
			}
		}
	}
}

// declared reports whether the dialect says that the frame is streamed,
// floating or optional.
func (s *stream) declared(t *testing.T, i int) bool {
	v, err := rawjson.Parse(s.frames[i])
	if err != nil {
		t.Fatal(err)
	}
	for _, ms := range [][]contract.Match{s.d.Stream, s.d.Floating, s.d.Optional} {
		for _, m := range ms {
			if matches(v, m) {
				return true
			}
		}
	}
	return false
}

func matches(v rawjson.Value, m contract.Match) bool {
	for path, wants := range m {
		got := v.At(strings.Split(path, ".")...)
		if !slices.ContainsFunc(wants, func(w string) bool {
			p, star := strings.CutSuffix(w, "*")
			q, suffix := strings.CutPrefix(w, "*")
			return got.IsStr(w) || star && got.Kind() == rawjson.String && strings.HasPrefix(got.Str(), p) ||
				suffix && got.Kind() == rawjson.String && strings.HasSuffix(got.Str(), q)
		}) {
			return false
		}
	}
	return true
}

// Every structural change of a run gives another signature, save those that a
// family declares to be by chance.
func TestEveryFrameCounts(t *testing.T) {
	for _, s := range streams(t) {
		last := -1
		for i := range s.frames {
			if v, _ := rawjson.Parse(s.frames[i]); slices.ContainsFunc(s.d.Terminal, func(m contract.Match) bool { return matches(v, m) }) {
				last = i
			}
		}
		if last < 0 {
			last = len(s.frames) - 1
		}
		for i := range last + 1 {
			alone := !equalKind(t, &s, i, i-1) && !equalKind(t, &s, i, i+1)
			if s.declared(t, i) || !alone {
				continue
			}
			dropped := slices.Delete(slices.Clone(s.frames), i, i+1)
			doubled := slices.Insert(slices.Clone(s.frames), i, s.frames[i])
			if i == last {
				doubled = slices.Insert(slices.Clone(s.frames), 0, s.frames[i])
			}
			for what, frames := range map[string][][]byte{"dropping": dropped, "doubling": doubled} {
				if repeats(&s, frames) {
					continue
				}
				if got := signature(t, string(joined(frames)), s.d); got == s.base {
					t.Errorf("%s: %s frame %d is not seen", s.name, what, i)
				}
			}
		}
	}
}

// repeats reports whether the stream has a block twice in a row, where one
// time more or less is declared to be the same.
func repeats(s *stream, frames [][]byte) bool {
	tr := stdout(string(joined(frames)))
	a, _, errA := normalize.Shape(tr, s.d, contract.LevelSyntheticMock)
	b, _, errB := normalize.Shape(stdout(s.text), s.d, contract.LevelSyntheticMock)
	nested := func(x *contract.Shape) bool {
		return slices.ContainsFunc(x.Extensions.Sequence, func(i contract.SeqItem) bool { return i.Repeat != nil })
	}
	return errA != nil || errB != nil || nested(a) && nested(b)
}

func joined(frames [][]byte) []byte {
	var b []byte
	for _, f := range frames {
		b = append(append(b, f...), '\n')
	}
	return b
}

func equalKind(t *testing.T, s *stream, i, j int) bool {
	if j < 0 || j >= len(s.frames) {
		return false
	}
	x, _ := shape(t, stdout(string(s.frames[i])+"\n"+string(s.frames[j])+"\n"), s.d)
	return x.FrameCount == 1
}

// Members: a path that is dropped, renamed, retyped or added is seen.
func TestEveryMemberCounts(t *testing.T) {
	changes := map[string]func(o map[string]any, k string){
		"dropping": func(o map[string]any, k string) { delete(o, k) },
		"renaming": func(o map[string]any, k string) { o[k+"X"] = o[k]; delete(o, k) },
		"adding":   func(o map[string]any, k string) { o["newField"] = "x" },
		"retyping": func(o map[string]any, k string) {
			if _, ok := o[k].(string); ok {
				o[k] = 7
			} else {
				o[k] = "x"
			}
		},
	}
	for _, s := range streams(t) {
		seen := map[string]bool{}
		for i, f := range s.frames {
			if s.declared(t, i) {
				continue
			}
			var frame map[string]any
			if err := json.Unmarshal(f, &frame); err != nil {
				t.Fatal(err)
			}
			for _, k := range slices.Sorted(maps.Keys(frame)) {
				if seen[fmt.Sprint(frame["type"], k)] {
					continue
				}
				seen[fmt.Sprint(frame["type"], k)] = true
				for what, change := range changes {
					var mutated map[string]any
					if err := json.Unmarshal(f, &mutated); err != nil {
						t.Fatal(err)
					}
					change(mutated, k)
					b, err := json.Marshal(mutated)
					if err != nil {
						t.Fatal(err)
					}
					frames := slices.Clone(s.frames)
					frames[i] = b
					if signature(t, string(joined(frames)), s.d) == s.base {
						t.Errorf("%s: %s %s of frame %d is not seen", s.name, what, k, i)
					}
				}
			}
		}
	}
}

func TestExitAndStderrCount(t *testing.T) {
	for _, s := range streams(t) {
		failed := stdout(s.text)
		code := 1
		failed.Records[len(failed.Records)-1].ExitCode = &code
		noisy := stdout(s.text)
		add(noisy, transcript.CLIToServer, transcript.Stderr, "429 Too Many Requests\n")
		chatty := stdout(s.text)
		add(chatty, transcript.CLIToServer, transcript.Stderr, "Reading prompt from stdin...\n")
		if x, _ := shape(t, failed, s.d); x.Signature == s.base {
			t.Errorf("%s: the exit class is not in the shape", s.name)
		}
		if x, _ := shape(t, noisy, s.d); x.Signature == s.base {
			t.Errorf("%s: the stderr class is not in the shape", s.name)
		}
		if x, _ := shape(t, chatty, s.d); x.Signature != s.base {
			t.Errorf("%s: chatter on stderr is in the shape", s.name)
		}
	}
}
