package reference

import (
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// readResult reads a result frame. A run may have several; the last one that
// the main agent ended decides (real-clis §9).
func (c *claude) readResult(v rawjson.Value) {
	c.stream.announce(c.r)
	c.r.out.Terminals++
	c.r.usage(v.Get("usage"))
	c.r.notice = ""
	f := resultFrame{
		seen:           true,
		subtype:        v.Get("subtype").Str(),
		isError:        v.Get("is_error").Bool(),
		terminalReason: v.Get("terminal_reason").Str(),
		apiError:       v.Get("api_error").Str(),
		text:           v.Get("result").Str(),
	}
	if n, ok := whole(v.Get("api_error_status")); ok {
		f.status = n
	}
	for e := range v.Get("errors").Children() {
		f.texts = append(f.texts, e.Str())
	}
	f.texts = append(f.texts, f.text)
	// qwen's result.error is an object (case 056), amp's and qoder's a string.
	switch e := v.Get("error"); e.Kind() {
	case rawjson.Object:
		f.texts = append(f.texts, e.Get("message").Str(), e.Get("type").Str())
	case rawjson.String:
		f.texts = append(f.texts, e.Str())
	}
	if f.subtype == "" && v.Get("is_error").Kind() == rawjson.Boolean && !f.isError {
		f.plain = true
	}
	c.r.usefulness(f.subtype, v.At("error", "type").Str())
	c.result = f
}

// badEnds are the values of terminal_reason that are failures whatever
// is_error says (case 022). "completed" is no proof: 2.1.112–2.1.200 print it
// for API errors.
var badEnds = set("prompt_too_long", "api_error", "blocking_limit", "image_error", "model_error", "rapid_refill_breaker",
	"aborted_streaming", "aborted_tools", "max_turns")

func (c *claude) outcome() outcome {
	f := c.result
	o := outcome{textEnds: true}
	if !f.seen {
		if c.errorCode != "" {
			o.texts, o.code = []string{c.errorText}, claudeCode(c.errorCode)
			c.r.failed(c.errorMessage("the run stopped after an error"))
		}
		return o
	}
	o.reported, o.ended = f.subtype, true
	lost := c.denied && f.text == ""
	says := !f.isError && (f.subtype == "success" || f.plain) && !badEnds[f.terminalReason]
	if says && !lost && c.errorCode == "" && wholeTextIsError("claude", c.errorText) == nil {
		o.ok = true
		c.fallbackText(f.text)
		return o
	}
	switch {
	case lost:
		o.code = &toolFailed
	case f.terminalReason == "prompt_too_long":
		v := tooLarge("prompt_too_large")
		o.code = &v
	default:
		o.texts = append(append(o.texts, f.texts...), c.errorText)
		o.code = c.code()
	}
	c.r.failed(c.errorMessage(f.subtype))
	return o
}

// fallbackText takes the result's text when the run had no other (cases 028,
// 029): it repeats the last text.
func (c *claude) fallbackText(text string) {
	for _, s := range c.r.segs {
		if !s.dropped && s.text.Len() > 0 {
			return
		}
	}
	c.r.text(text)
}

// errorMessage is the text of the run's error event.
func (c *claude) errorMessage(fallback string) string {
	for _, t := range append(c.result.texts, c.errorText) {
		if t != "" {
			return t
		}
	}
	return fallback
}

// code is what the structured fields of a failed result say.
func (c *claude) code() *verdict {
	f := c.result
	if f.apiError == "usage_limit_reached" || f.subtype == "error_max_budget_usd" || c.rejected && (f.status == 429 || c.errorCode == "rate_limit") {
		v := hardQuota(contract.ActionNone)
		return &v
	}
	if v := claudeCode(c.errorCode); v != nil {
		return v
	}
	if f.status != 0 {
		return classifyTexts(evidence{texts: []string{fmt.Sprintf("status %d", f.status)}})
	}
	if f.subtype == "error_max_turns" || f.terminalReason == "max_turns" {
		v := processExit("exit_nonzero", contract.StageChildClose, contract.ActionNone)
		return &v
	}
	return nil
}

// claudeCode reads assistant.error (families.md, claude-stream-json literals).
func claudeCode(word string) *verdict {
	var v verdict
	switch word {
	case "authentication_failed", "oauth_org_not_allowed":
		v = auth("auth_required")
	case "billing_error":
		v = outOfCredits
	case "rate_limit":
		v = rateLimited
	case "overloaded":
		v = upstream("provider_high_demand", "")
	case "server_error":
		v = upstream("upstream_5xx", "")
	case "model_not_found":
		v = model("model_not_found", contract.ActionSwitchModel)
	case "max_output_tokens":
		v = tooLarge("prompt_too_large")
	case "invalid_request":
		v = clientError
	default:
		return nil
	}
	return &v
}
