package play

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// frame is what counts of a line of a two-way or stream-json protocol when a
// live client is held against a recorded one: what it is and which id it has.
// Its content is the client's own business.
type frame struct {
	// kind is "request METHOD", "notification METHOD", "answer", "error
	// answer", the type of a frame that has one, or "" for any other line.
	kind string
	id   string // as it is spelled, "" without
	// idAt is where the id stands in the line.
	idAt [2]int
}

func parseFrame(line []byte) frame {
	v, err := rawjson.Parse(line)
	if err != nil || v.Kind() != rawjson.Object {
		return frame{}
	}
	var f frame
	if id := v.Get("id"); id.Exists() && id.Kind() != rawjson.Null {
		f.id = string(id.Raw())
		f.idAt[0], f.idAt[1] = id.Range()
	}
	method := v.Get("method")
	switch {
	case method.Kind() == rawjson.String && f.id != "":
		f.kind = "request " + method.Str()
	case method.Kind() == rawjson.String:
		f.kind = "notification " + method.Str()
	case v.Get("type").Kind() == rawjson.String:
		f.kind = v.Get("type").Str()
	case v.Get("error").Exists():
		f.kind = "error answer"
	case v.Get("result").Exists():
		f.kind = "answer"
	}
	return f
}

// isAnswer reports whether the frame carries the id of somebody else's request.
func (f frame) isAnswer() bool {
	switch f.kind {
	case "answer", "error answer", "response", "extension_ui_response":
		return true
	}
	return false
}

func (f frame) cancels() bool {
	switch f.kind {
	case "request session/cancel", "notification session/cancel", "abort":
		return true
	}
	return false
}

// fits reports whether a live client's frame is the one that was recorded. The
// ids of the child's own requests are those of the recording, so an answer to
// one has the same; the client counts its requests as it likes.
func (f frame) fits(recorded frame) bool {
	return f.kind == recorded.kind && (!f.isAnswer() || f.id == recorded.id)
}

// ids translates the ids of the recorded client's requests into the live
// client's.
type ids map[string]string

// learn takes a request that was found in the recording.
func (m ids) learn(recorded, live frame) {
	if recorded.id != "" && !recorded.isAnswer() && recorded.id != live.id {
		m[recorded.id] = live.id
	}
}

// toClient returns the lines with the ids of answers as the live client knows
// them. A chunk that holds no whole answer stays as it is.
func (m ids) toClient(data []byte) []byte {
	if len(m) == 0 {
		return data
	}
	var out []byte
	for line := range bytes.Lines(data) {
		f := parseFrame(line)
		live, renamed := m[f.id]
		if !renamed || !f.isAnswer() || f.kind == "extension_ui_response" {
			out = append(out, line...)
			continue
		}
		out = append(out, line[:f.idAt[0]]...)
		out = append(out, live...)
		out = append(out, line[f.idAt[1]:]...)
	}
	return out
}
