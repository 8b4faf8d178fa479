package transcript

import (
	"bytes"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// FrameProblem says why a text cannot stand as the frame of a record, or ""
// if it can: a frame is one JSON object in UTF-8 without white space around it
// and without a raw line break, and where it has a jsonrpc member it has the
// shape of a JSON-RPC message (transcript.schema.json, "RPC frame"). A line
// that has a problem is kept as data instead. The answer never quotes the text.
func FrameProblem(text []byte) string {
	d := docs.Get().(*rawjson.Doc)
	defer docs.Put(d)
	if err := d.Parse(text); err != nil {
		return "frame is " + err.Error()
	}
	return frameProblem(d.Root(), text)
}

// frameProblem is FrameProblem of a text that was parsed.
func frameProblem(v rawjson.Value, text []byte) string {
	switch {
	case v.Kind() != rawjson.Object:
		return "frame is not a JSON object"
	case len(v.Raw()) != len(text):
		return "frame has white space around it"
	case bytes.IndexByte(text, '\n') >= 0:
		return "frame has a line break in it"
	case !PlainBytes(text):
		return "frame is not UTF-8 or has control bytes in it"
	}
	if v.Get("jsonrpc").Exists() {
		return rpcProblem(v)
	}
	return ""
}

// docs are what frames are parsed in.
var docs = sync.Pool{New: func() any { return &rawjson.Doc{} }}

// PlainBytes says that the bytes of a text are no hindrance to its being a frame.
func PlainBytes(text []byte) bool {
	return bytes.IndexByte(text, '\n') < 0 && len(ByteDeviations(text)) == 0
}

// rpcProblem checks the members of a JSON-RPC message. Unknown members are
// none of its business: real agents add them.
func rpcProblem(v rawjson.Value) string {
	id, method := v.Get("id"), v.Get("method")
	result, failure := v.Get("result"), v.Get("error")
	params := v.Get("params").Kind()
	switch {
	case v.Get("jsonrpc").Kind() != rawjson.String:
		return "frame has a jsonrpc member that is not a string"
	case !id.Exists() && !method.Exists():
		return "frame has neither method nor id"
	case id.Exists() && id.Kind() != rawjson.String && id.Kind() != rawjson.Number && id.Kind() != rawjson.Null:
		return "frame has an id that is not a string, number or null"
	case method.Exists() && method.Kind() != rawjson.String:
		return "frame has a method that is not a string"
	case params != rawjson.Invalid && params != rawjson.Null && params != rawjson.Object && params != rawjson.Array:
		return "frame has params that are not an object or array"
	case method.Exists() && (result.Exists() || failure.Exists()):
		return "frame has a method and a result or error"
	case !method.Exists() && result.Exists() == failure.Exists():
		return "frame is an answer and has not exactly one of result and error"
	case failure.Exists() && (failure.Get("code").Kind() != rawjson.Number || failure.Get("message").Kind() != rawjson.String):
		return "frame has an error without a numeric code and a message"
	}
	return ""
}
