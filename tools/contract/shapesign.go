package contract

import (
	"slices"
	"strconv"
)

// appendIdentity appends the RFC 8785 form of what ComputeSignature hashes.
// It is not ok if the shape holds something that needs the general encoder: a
// text that is not printable ASCII or needs an escape, a long number, a nil
// list. Shapes that this program makes hardly ever do.
func (s *Shape) appendIdentity(out []byte) (_ []byte, ok bool) {
	w := identityWriter{out: append(out, `{"event_types":`...)}
	w.fail(s.EventTypes == nil || s.FrameShapes == nil || s.Extensions.Sequence == nil)
	w.list(len(s.EventTypes), func(i int) { w.text(s.EventTypes[i]) })
	w.raw(`,"exit":`)
	w.text(string(s.Exit))
	w.raw(`,"extensions":{"sequence":`)
	w.sequence(s.Extensions.Sequence)
	w.raw(`},"frame_count":`)
	w.number(s.FrameCount)
	w.raw(`,"frame_shapes":`)
	w.list(len(s.FrameShapes), func(i int) { w.frame(&s.FrameShapes[i]) })
	w.raw(`,"protocol_family":`)
	w.text(string(s.ProtocolFamily))
	w.raw(`,"schema_version":`)
	w.number(s.SchemaVersion)
	w.raw(`,"stderr_class":`)
	w.text(string(s.StderrClass))
	w.raw(`,"transport":`)
	w.text(string(s.Transport))
	w.raw(`}`)
	return w.out, !w.failed
}

// Canonical returns the RFC 8785 form of a frame's shape. It orders floating
// kinds, and says whether two frames have one shape.
func (f *FrameShape) Canonical() ([]byte, error) {
	var w identityWriter
	if w.frame(f); !w.failed {
		return w.out, nil
	}
	return Canonical(f)
}

type identityWriter struct {
	out    []byte
	failed bool
}

func (w *identityWriter) raw(s string)   { w.out = append(w.out, s...) }
func (w *identityWriter) number(n int)   { w.out = strconv.AppendInt(w.out, int64(n), 10) }
func (w *identityWriter) fail(cond bool) { w.failed = w.failed || cond }
func (w *identityWriter) boolean(b bool) { w.out = strconv.AppendBool(w.out, b) }

func (w *identityWriter) text(s string) {
	for i := range len(s) {
		w.fail(s[i] < 0x20 || s[i] > 0x7e || s[i] == '"' || s[i] == '\\')
	}
	w.out = append(append(append(w.out, '"'), s...), '"')
}

func (w *identityWriter) list(n int, item func(int)) {
	w.raw(`[`)
	for i := range n {
		if i > 0 {
			w.raw(`,`)
		}
		item(i)
	}
	w.raw(`]`)
}

func (w *identityWriter) sequence(seq []SeqItem) {
	w.list(len(seq), func(i int) {
		switch s := seq[i]; {
		case s.Repeat != nil:
			w.sequence(s.Repeat)
		case s.Mark != "":
			w.text(s.Mark)
		default:
			w.number(s.Index)
		}
	})
}

func (w *identityWriter) frame(f *FrameShape) {
	w.fail(f.Paths == nil || f.Enums == nil)
	w.raw(`{"direction":`)
	w.text(f.Direction)
	w.raw(`,"enums":{`)
	keys := make([]string, 0, len(f.Enums))
	for k := range f.Enums {
		keys = append(keys, k)
	}
	slices.Sort(keys) // bytes and UTF-16 units order ASCII alike
	for i, k := range keys {
		if i > 0 {
			w.raw(`,`)
		}
		w.text(k)
		w.raw(`:`)
		values := f.Enums[k]
		w.fail(values == nil)
		w.list(len(values), func(i int) { w.literal(values[i]) })
	}
	w.raw(`},"event_type":`)
	w.text(f.EventType)
	w.raw(`,"paths":`)
	w.list(len(f.Paths), func(i int) {
		p := &f.Paths[i]
		w.raw(`{"path":`)
		w.text(p.Path)
		w.raw(`,"required":`)
		w.boolean(p.Required)
		w.raw(`,"type":`)
		w.text(p.Type)
		w.raw(`}`)
	})
	w.raw(`,"stream":`)
	w.text(f.Stream)
	w.raw(`}`)
}

// plain says that the literal is canonical as it is, as most are.
func (l Literal) plain() bool {
	var short [64]byte // stays on the stack
	w := identityWriter{out: short[:0]}
	w.literal(l)
	return !w.failed
}

// literal writes a JSON scalar that is canonical already: a plain string, a
// short integer, true, false or null.
func (w *identityWriter) literal(l Literal) {
	s := string(l)
	if n := len(s); n >= 2 && s[0] == '"' && s[n-1] == '"' {
		w.text(s[1 : n-1])
		return
	}
	if n, err := strconv.Atoi(s); err == nil && len(s) < 16 && strconv.Itoa(n) == s {
		w.raw(s)
		return
	}
	w.fail(s != "true" && s != "false" && s != "null")
	w.raw(s)
}
