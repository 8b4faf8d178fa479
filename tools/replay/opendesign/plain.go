package opendesign

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
)

// runMessage is the message id under which text without one is guarded.
const runMessage = "run"

// plain shows stdout as it comes: without terminal control sequences and
// guarded against role markers. There is one stdout event for each chunk, so
// the events depend on where chunks are cut.
type plain struct {
	partial []byte // an unfinished UTF-8 sequence
	pending string // an unfinished control sequence
	guard   *RoleGuard
	warned  bool
}

func newPlain() *plain { return &plain{guard: NewRoleGuard(runMessage)} }

// Feed implements Parser.
func (p *plain) Feed(chunk []byte) []event.Event {
	bytes := append(p.partial, chunk...)
	n := len(bytes) - jstext.Incomplete(bytes)
	text := jstext.Decode(bytes[:n])
	p.partial = append([]byte(nil), bytes[n:]...)
	if text == "" {
		return nil
	}
	return p.show(text)
}

// Flush implements Parser. An unfinished control sequence is dropped.
func (p *plain) Flush() []event.Event {
	if len(p.partial) == 0 {
		return nil
	}
	text := jstext.Decode(p.partial)
	p.partial = nil
	return p.show(text)
}

func (p *plain) show(text string) []event.Event {
	var events []event.Event
	var ready string
	ready, p.pending = splitControl(p.pending + text)
	if safe := p.guard.Feed(StripControl(ready)); safe != "" {
		events = append(events, event.New("stdout", str("chunk", safe)))
	}
	if warning, ok := p.guard.Warning(); ok && !p.warned {
		p.warned = true
		events = append(events, warning)
	}
	return events
}

const (
	esc = "\x1b"
	bel = "\a"
	csi = "\u009b" // the one-character form of ESC [
)

// splitControl cuts an unfinished control sequence off the end of the text.
func splitControl(s string) (ready, pending string) {
	i := max(strings.LastIndex(s, esc), strings.LastIndex(s, csi))
	if i < 0 {
		return s, ""
	}
	finished := true
	switch tail := s[i:]; {
	case tail == esc || tail == csi:
		finished = false
	case strings.HasPrefix(tail, esc+"]"):
		finished = strings.Contains(tail, bel) || strings.Contains(tail, esc+`\`)
	case strings.HasPrefix(tail, esc+"["):
		finished = hasFinal(tail[2:])
	case strings.HasPrefix(tail, csi):
		finished = hasFinal(tail[len(csi):])
	}
	if finished {
		return s, ""
	}
	return s[:i], s[i:]
}

func hasFinal(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= '@' && r <= '~' }) >= 0
}

// StripControl removes complete OSC, CSI and two-character sequences.
func StripControl(s string) string {
	if !strings.Contains(s, esc) && !strings.Contains(s, csi) {
		return s
	}
	var out strings.Builder
	for s != "" {
		n := controlLen(s)
		if n == 0 {
			next := min(until(s[1:], esc), until(s[1:], csi)) + 1
			out.WriteString(s[:next])
			s = s[next:]
			continue
		}
		s = s[n:]
	}
	return out.String()
}

// until returns where the mark is, or the end.
func until(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i
	}
	return len(s)
}

// controlLen returns the length of the control sequence that s starts with,
// or 0.
func controlLen(s string) int {
	switch {
	case strings.HasPrefix(s, esc+"]"):
		end := min(until(s[2:], bel)+len(bel), until(s[2:], esc+`\`)+2)
		if end += 2; end <= len(s) {
			return end
		}
		return 2
	case strings.HasPrefix(s, esc+"["):
		return csiLen(s, 2)
	case strings.HasPrefix(s, csi):
		return csiLen(s, len(csi))
	case len(s) > 1 && s[0] == esc[0] && s[1] >= '@' && s[1] <= '_':
		return 2
	}
	return 0
}

// csiLen returns the length of a CSI sequence whose parameters begin at i.
func csiLen(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '?' {
		i++
	}
	for i < len(s) && s[i] >= ' ' && s[i] <= '/' {
		i++
	}
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		return i + 1
	}
	return 0
}
