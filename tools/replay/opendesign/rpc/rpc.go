package rpc

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// ChoosePermission returns the option that OpenDesign picks when an agent asks
// for permission: approve_for_session, else the first that allows always,
// else the first that allows once. The zero Value says that none will do,
// which ends the run.
func ChoosePermission(options rawjson.Value) event.Value {
	if options.Kind() != rawjson.Array {
		return event.Value{}
	}
	first := func(key, value string) rawjson.Value {
		for o := range options.Children() {
			if o.Get(key).IsStr(value) {
				return o
			}
		}
		return rawjson.Value{}
	}
	if o := first("optionId", "approve_for_session"); o.Exists() {
		return event.Of(o.Get("optionId"))
	}
	for _, kind := range [...]string{"allow_always", "allow_once"} {
		if id := first("kind", kind).Get("optionId"); jstext.Truthy(id) {
			return event.Of(id)
		}
	}
	return event.Value{}
}

// Usage returns the usage of an ACP answer under the names of daemon events,
// or the zero Value if it has none. Numbers below zero do not count. Cache
// counters keep their family: the two families count differently.
func Usage(v rawjson.Value) event.Value {
	var fields []event.Field
	for _, m := range [...][3]string{
		{"input_tokens", "inputTokens", "input_tokens"},
		{"output_tokens", "outputTokens", "output_tokens"},
		{"cache_read_input_tokens", "cache_read_input_tokens", "cacheReadInputTokens"},
		{"cached_read_tokens", "cachedReadTokens", "cached_read_tokens"},
		{"cache_creation_input_tokens", "cache_creation_input_tokens", "cacheCreationInputTokens"},
		{"cache_creation_tokens", "cacheCreationTokens", "cache_creation_tokens"},
		{"cached_write_tokens", "cached_write_tokens", "cachedWriteTokens"},
		{"thought_tokens", "thoughtTokens", "thought_tokens"},
		{"total_tokens", "totalTokens", "total_tokens"},
	} {
		if n := count(v, m[1:]...); n.Exists() {
			fields = append(fields, event.F(m[0], n))
		}
	}
	if fields == nil {
		return event.Value{}
	}
	return event.Object(fields...)
}

// count returns the first of the members that is a number and not below zero.
func count(v rawjson.Value, keys ...string) event.Value {
	for _, key := range keys {
		if n := event.Of(v.Get(key)); n.Kind() == rawjson.Number && n.Float() >= 0 {
			return n
		}
	}
	return event.Value{}
}
