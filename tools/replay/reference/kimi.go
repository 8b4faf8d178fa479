package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// kimi reads kimi --output-format stream-json of both products: chat messages
// without a type. kimi-code adds meta frames and ends a good run with
// session.resume_hint; kimi-cli has no last frame and says all with its exit
// code (75 is worth a retry, case 100).
type kimi struct {
	r      *run
	code   bool // kimi-code: there are meta frames
	hinted bool
}

func (k *kimi) frame(v rawjson.Value, text []byte) {
	switch role := v.Get("role").Str(); role {
	case "assistant":
		k.hinted = false
		k.assistant(v, text)
	case "tool":
		k.tool(v)
	case "meta":
		k.meta(v, text)
	case "user", "system": // what we or the CLI said to the model
	case "":
		k.r.lost(v.Get("type").Str(), text)
	default:
		k.r.lost("role="+role, text)
	}
}

func (k *kimi) assistant(v rawjson.Value, frame []byte) {
	k.r.thinking(v.Get("reasoning_content").Str())
	content := v.Get("content")
	if content.Kind() == rawjson.String {
		k.r.text(content.Str())
	}
	for part := range content.Children() {
		switch typ := part.Get("type").Str(); typ {
		case "text":
			k.r.text(part.Get("text").Str())
		case "think":
			k.r.thinking(part.Get("think").Str())
		case "image_url", "audio_url", "video_url":
		default:
			k.r.lost("assistant.content[].type="+typ, frame)
		}
	}
	for call := range v.Get("tool_calls").Children() {
		k.r.announce(call.Get("id").Str(), call.At("function", "name").Str(), parsed(call.At("function", "arguments")))
	}
}

// tool reads a result. Only its text says that a call failed.
func (k *kimi) tool(v rawjson.Value) {
	content := sole(v.Get("content"))
	k.r.toolResult(v.Get("tool_call_id").Str(), event.String(content), kimiToolFailed(content))
}

// kimiToolFailed knows how both products begin the result of a failed call.
func kimiToolFailed(content string) bool {
	if t := strings.TrimSpace(content); t == "" || !strings.Contains("<eEtTfFcC\"", t[:1]) {
		return false // none of the words below, without a look at the rest
	}
	norm := normalizeText(content)
	for _, begin := range []string{"<system>error", "error:", "error executing", "tool execution failed", "failed to "} {
		if strings.HasPrefix(norm, begin) {
			return true
		}
	}
	return strings.HasPrefix(norm, "command failed") || strings.HasPrefix(norm, `"`) && strings.HasSuffix(norm, `" does not exist.`)
}

func (k *kimi) meta(v rawjson.Value, frame []byte) {
	k.code = true
	switch typ := v.Get("type").Str(); typ {
	case "system.version":
		k.r.status("initializing", event.F("version", event.OrNull(v.Get("version"))))
	case "session.resume_hint":
		k.hinted = true
		k.r.out.Terminals++
		k.r.notice = ""
		k.r.status("session", event.F("sessionId", event.OrNull(v.Get("session_id"))))
	case "turn.step.retrying":
		notice := v.Get("error_message").Str()
		if n, ok := whole(v.Get("status_code")); ok && httpVerdict(n) != nil {
			notice += statusWords(n)
		}
		k.r.retrying(notice)
	default:
		k.r.lost("meta.type="+typ, frame)
	}
}

func (k *kimi) outcome() outcome {
	o := outcome{ended: k.hinted, ok: k.hinted, textEnds: true, endless: !k.code, exits: kimiExit}
	if k.hinted {
		o.reported = "session.resume_hint"
	}
	return o
}

// kimiExit reads the exit code that kimi-cli documents: 75 says that a retry
// may help.
func kimiExit(code int) *verdict {
	if code != 75 {
		return nil
	}
	return &verdict{Category: contract.CategoryProcessExit, Detail: "exit_nonzero", Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry}
}
