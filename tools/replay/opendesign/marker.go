package opendesign

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// guardTail is how much emitted text, in UTF-16 units, the guard looks back
// on for a marker that began in an earlier chunk.
const guardTail = 64

// RoleGuard looks for a role marker at the start of a line ("## user") in the
// text of one message. Text before the marker passes, all later text of the
// message is dropped. Two faults are OpenDesign's: a marker cut inside its
// keyword leaks its first part, and a keyword at the very end of the stream
// is withheld for ever.
type RoleGuard struct {
	messageID    string
	tail         string // the last guardTail units that were emitted
	pending      string // received, but withheld: may be a marker
	sliced       bool   // tail is no longer all that was emitted
	contaminated bool
	marker       string
}

// NewRoleGuard returns a guard for the message.
func NewRoleGuard(messageID string) *RoleGuard { return &RoleGuard{messageID: messageID} }

// Contaminated reports whether a marker was found.
func (g *RoleGuard) Contaminated() bool { return g.contaminated }

// Feed takes the next text of the message and returns what may be shown.
func (g *RoleGuard) Feed(text string) string {
	if g.contaminated || text == "" {
		return ""
	}
	// Halves of a surrogate pair stay apart here: what was shown is cut off
	// again, and a marker is ASCII.
	buffer := g.tail + g.pending + text
	shown := len(g.tail)
	if start, end, ok := findMarker(buffer, g.sliced); ok {
		g.contaminated, g.pending = true, ""
		g.marker = jstext.Trim(buffer[start:end])
		return buffer[shown:max(start, shown)]
	}
	hold := max(pendingMarker(buffer, g.sliced), shown)
	safe := buffer[shown:hold]
	g.pending = buffer[hold:]
	g.tail = buffer[:hold]
	if rawjson.UTF16Len(g.tail) > guardTail {
		g.tail, g.sliced = jstext.Tail(g.tail, guardTail), true
	}
	return safe
}

// Warning returns the event that reports the marker, once there is one.
func (g *RoleGuard) Warning() (event.Event, bool) {
	if !g.contaminated {
		return event.Event{}, false
	}
	return event.New("fabricated_role_marker", str("marker", g.marker), str("messageId", g.messageID)), true
}

// Marker returns the marker that was found, without surrounding space.
func (g *RoleGuard) Marker() string { return g.marker }

// findMarker returns the first marker that is followed by something else than
// a lower-case letter. The start of the buffer counts as a line start unless
// the buffer begins in the middle of the text.
func findMarker(s string, middle bool) (start, end int, ok bool) {
	for at := lineStart(s, 0, middle); at >= 0; at = lineStart(s, at+1, true) {
		body := at
		if s[at] == '\n' {
			body++
		}
		for _, end := range markerEnds(s, body) {
			if end < len(s) && (s[end] < 'a' || s[end] > 'z') {
				return at, end, true
			}
		}
	}
	return 0, 0, false
}

// pendingMarker returns where a marker starts that ends with the buffer, or
// the buffer's length.
func pendingMarker(s string, middle bool) int {
	at := strings.LastIndexByte(s, '\n')
	if at < 0 && middle {
		return len(s)
	}
	for _, end := range markerEnds(s, at+1) {
		if end == len(s) {
			return max(at, 0)
		}
	}
	return len(s)
}

// lineStart returns the first place from which a marker may begin: a line
// feed, or the start of the text itself.
func lineStart(s string, from int, middle bool) int {
	if from == 0 && !middle && s != "" {
		return 0
	}
	if from >= len(s) {
		return -1
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 {
		return from + i
	}
	return -1
}

// markerEnds returns the places where a marker that begins at i ends:
// optional blanks, two number signs, at least one blank, a role.
func markerEnds(s string, i int) []int {
	i = skipBlanks(s, i)
	if !strings.HasPrefix(s[i:], "##") {
		return nil
	}
	j := skipBlanks(s, i+2)
	if j == i+2 {
		return nil
	}
	var ends []int
	for _, role := range [...]string{"user", "assistant", "assist", "system"} {
		if strings.HasPrefix(s[j:], role) {
			ends = append(ends, j+len(role))
		}
	}
	return ends
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}
