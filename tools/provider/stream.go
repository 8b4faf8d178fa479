package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// answer is a reply in a dialect-neutral form, ready to be written.
type answer struct {
	id     int // number of the request in the log; makes every wire id unique
	model  string
	pieces []string // text deltas
	calls  []call
	// open leaves the answer without its end: the stream is cut, truncated or
	// stalls.
	open bool
	// usage is Chat's usage chunk, which a client has to ask for.
	usage bool
	split func(string) []string // cuts tool arguments into deltas
}

func (a *answer) text() string { return strings.Join(a.pieces, "") }

// answer writes a reply and, for cut and stall, ends it the hard way.
func (x *exchange) answer(req *request, reply contract.ScenarioReply, calls []call) {
	chunk := chunkRunes(x.server.opts.TextChunk, x.play.scenario.ChunkRunes)
	a := &answer{
		id: x.number(), model: req.model, calls: calls, usage: req.includeUsage,
		pieces: chunked(reply.Text, chunk),
		open:   reply.Kind == contract.ReplyCut || reply.Kind == contract.ReplyStall || reply.Kind == contract.ReplyTruncated,
		split:  func(s string) []string { return splitArguments(s, chunk) },
	}
	if req.stream {
		x.stream(req.dialect, a)
	} else if !a.open {
		x.json(http.StatusOK, whole(req.dialect, a))
	} // a whole answer that breaks off has no first byte: it is sent when it is complete
	x.replied()
	if !a.open || reply.Kind == contract.ReplyTruncated {
		return
	}
	if reply.Kind == contract.ReplyStall {
		select {
		case <-x.r.Context().Done():
		case <-x.server.closing:
		}
	} else {
		// Clients throw away what they have not handed on when the connection
		// ends: without a pause chance says how much of the answer a CLI prints.
		x.server.wait(x.r.Context(), x.delay())
	}
	x.drop()
}

// number is the request's place in the log, from 1.
func (x *exchange) number() int {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	for i, e := range x.server.log {
		if e == x.entry {
			return i + 1
		}
	}
	return 0
}

func (x *exchange) stream(d Dialect, a *answer) {
	h := x.header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	x.status(http.StatusOK)
	e := &events{x: x}
	switch d {
	case DialectResponses:
		writeResponses(e, a)
	case DialectChat:
		writeChat(e, a)
	case DialectMessages:
		writeMessages(e, a)
	case DialectGemini:
		writeGemini(e, a)
	}
}

func whole(d Dialect, a *answer) any {
	switch d {
	case DialectChat:
		return wholeChat(a)
	case DialectGemini:
		return wholeGemini(a)
	}
	return wholeMessage(a)
}

// events writes server-sent events. After the first failed write (the client
// left) the rest is nothing.
type events struct {
	x   *exchange
	err error
}

// send writes one event; an empty name leaves the event line out.
func (e *events) send(name string, v any) {
	if e.err != nil {
		return
	}
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	if s, ok := v.(string); ok {
		b.WriteString(s)
	} else {
		b.WriteString(compact(v))
	}
	b.WriteString("\n\n")
	e.err = e.x.write(b.Bytes())
}

// write sends b at once, or in pieces of Options.WriteBytes.
func (x *exchange) write(b []byte) error {
	size := x.server.opts.WriteBytes
	if size <= 0 {
		size = len(b)
	}
	flush := http.NewResponseController(x.w).Flush
	for len(b) > 0 {
		n := min(size, len(b))
		if _, err := x.w.Write(b[:n]); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (x *exchange) header() http.Header {
	h := x.w.Header()
	h.Set("Request-Id", requestID)
	h.Set("X-Request-Id", requestID)
	return h
}

func (x *exchange) status(code int) {
	x.server.update(func() { x.entry.Status = code })
	x.w.WriteHeader(code)
}

// json writes a whole JSON answer. A failed write means that the client left;
// there is nobody to tell.
func (x *exchange) json(code int, v any) {
	x.header().Set("Content-Type", "application/json")
	x.status(code)
	if x.r.Method != http.MethodHead {
		_ = x.write([]byte(compact(v)))
	}
}

// page sends a plain text, as a gateway does that knows no such path.
func (x *exchange) page(code int, text string) {
	x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	x.status(code)
	_ = x.write([]byte(text)) // a failed write means that the client left
}

// reset ends the connection at once and without a word: what a client sees
// when the network drops.
func (x *exchange) reset() {
	c, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // close then resets; where it cannot, it closes
	}
	_ = c.Close()
}

// drop closes the connection without ending the answer. It closes properly
// and does not reset, so that the client reads all that came before.
func (x *exchange) drop() {
	c, _, err := http.NewResponseController(x.w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// compact is v as JSON on one line, with <, > and & as they are, as the real
// APIs send them. Every v is of our own types, which always marshal.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

// wholeText is the chunk size that leaves each text in one piece.
const wholeText = -1

// chunkRunes settles the chunk size: the option wins over the scenario.
func chunkRunes(option, scenario int) int {
	if option != 0 {
		return max(option, wholeText)
	}
	return scenario
}

// chunked cuts the pieces of a text anew: n runes each, one piece for
// wholeText, or as they are for 0. Joined, they say the same.
func chunked(pieces []string, n int) []string {
	switch {
	case len(pieces) == 0 || n == 0:
		return pieces
	case n == wholeText:
		return []string{strings.Join(pieces, "")}
	}
	return splitRunes(strings.Join(pieces, ""), n)
}

// argumentRunes is the length of an argument delta where nobody asks for
// another one: about what the real APIs send.
const argumentRunes = 16

func splitArguments(s string, n int) []string {
	if n == wholeText {
		return []string{s}
	}
	if n == 0 {
		n = argumentRunes
	}
	return splitRunes(s, n)
}

// splitRunes cuts s after every n runes.
func splitRunes(s string, n int) []string {
	var out []string
	for len(s) > 0 {
		end := 0
		for i := 0; i < n && end < len(s); i++ {
			_, w := utf8.DecodeRuneInString(s[end:])
			end += w
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}
