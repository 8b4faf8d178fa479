package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// gemini reads gemini --output-format stream-json (since 0.11). Its result
// says success for a run that failed: 0.11 for every error, which only stderr
// names; all releases for a turn limit (case 044).
type gemini struct {
	r        *run
	speech   speech
	errors   pendingErrors
	reported string
	ended    bool
}

func (g *gemini) frame(v rawjson.Value, text []byte) {
	kind := v.Get("type")
	if kind.IsStr("message") { // nearly all frames are pieces of the answer
		g.message(v, text)
		return
	}
	if kind.IsStr("error") && !v.Get("severity").IsStr("warning") || kind.IsStr("result") && !v.Get("status").IsStr("success") {
		g.speech.broken(g.r)
	}
	g.speech.end(g.r)
	switch typ := kind.Str(); typ {
	case "init":
		g.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("session_id"))), event.F("model", event.OrNull(v.Get("model"))))
	case "thought":
		g.r.thinking(v.Get("content").Str())
	case "tool_use":
		g.errors.survived(g.r)
		g.r.announce(v.Get("tool_id").Str(), v.Get("tool_name").Str(), parsed(v.Get("parameters")))
	case "tool_result":
		g.toolResult(v)
	case "error":
		g.failure(v)
	case "result":
		g.result(v)
	default:
		g.r.lost(typ, text)
	}
}

func (g *gemini) message(v rawjson.Value, frame []byte) {
	switch role := v.Get("role"); {
	case role.IsStr("assistant"):
		if !v.Get("delta").Bool() {
			g.speech.end(g.r)
		}
		piece := v.Get("content").Str()
		if piece != "" {
			g.errors.survived(g.r)
		}
		g.speech.piece(g.r, piece)
	case role.IsStr("user"): // the prompt
		g.speech.end(g.r)
	default:
		g.r.lost("message.role="+role.Str(), frame)
	}
}

func (g *gemini) toolResult(v rawjson.Value) {
	failure := v.Get("error")
	content := sole(v.Get("output"))
	if content == "" {
		content = errorText(failure)
	}
	g.r.toolResult(v.Get("tool_id").Str(), event.String(content), v.Get("status").IsStr("error") || failure.Kind() == rawjson.Object)
}

func (g *gemini) failure(v rawjson.Value) {
	message := errorText(v.Get("message"))
	if message == "" {
		message = errorText(v.Get("error"))
	}
	if v.Get("severity").IsStr("warning") {
		g.r.warn(message)
		return
	}
	g.errors.add(nil, message)
}

func (g *gemini) result(v rawjson.Value) {
	g.ended, g.reported = true, v.Get("status").Str()
	g.r.out.Terminals++
	g.r.counts(v.Get("stats"), []tokenPath{
		{"input_tokens", []string{"input_tokens"}}, {"output_tokens", []string{"output_tokens"}}, {"cached_read_tokens", []string{"cached"}},
	}, false)
	if e := v.Get("error"); e.Kind() == rawjson.Object {
		g.r.usefulness(e.Get("type").Str())
		g.errors.add(statusCode(e.Get("code")), errorText(e))
	} else if g.reported != "success" && !g.errors.any() {
		g.errors.add(nil, "")
	}
}

func (g *gemini) outcome() outcome {
	g.speech.end(g.r)
	o := outcome{reported: g.reported, ended: g.ended, ok: g.ended && !g.errors.any(), exits: geminiExit, printsErrors: geminiStderr, printsRetries: geminiRetry}
	g.errors.fail(g.r, &o)
	return o
}

// geminiStderr finds the error that 0.11 prints beside a result that says
// success; nothing says what it was. Retries that went well print "Attempt n
// failed".
func geminiStderr(norm string) bool {
	return strings.Contains(norm, "[api error:") || strings.HasPrefix(norm, "error when talking to gemini api")
}

// geminiRetry knows the notice of a retry, which only stderr has: "Attempt 1
// failed with status 429. Retrying with backoff...".
func geminiRetry(norm string) bool {
	return strings.HasPrefix(norm, "attempt ") && strings.Contains(norm, " failed") && strings.Contains(norm, "retrying")
}

// geminiExit reads the exit codes that gemini documents (packages/core,
// utils/errors.ts) and the HTTP status it passes to exit, of which the low
// byte remains: 401 is 145.
func geminiExit(code int) *verdict {
	var v verdict
	switch code {
	case 41:
		v = auth("auth_required")
	case 42:
		v = badArgv
	case 44, 52, 55:
		v = badConfig
	case 53:
		v = processExit("exit_nonzero", contract.StageChildClose, contract.ActionNone)
	case 54:
		v = toolFailed
	default:
		for _, status := range []int{400, 401, 403, 404, 413, 429, 500, 502, 503, 504, 529} {
			if code == status&0xff {
				return httpVerdict(int64(status))
			}
		}
		return nil
	}
	return &v
}
