package expect

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// tooFew says which event's list has fewer than n entries, or "". No event at
// all is too few; so is a value that is no list, since nothing can be counted
// in it.
func tooFew(events []event.Event, field string, n int) string {
	if len(events) == 0 {
		return "no such event"
	}
	for i, e := range events {
		have, list := items(lookup(e, field))
		switch {
		case !list:
			return fmt.Sprintf("no list in event %d of %d", i+1, len(events))
		case have < n:
			return fmt.Sprintf("%d in event %d of %d", have, i+1, len(events))
		}
	}
	return ""
}

// tooMany says which event's list has more than n entries, or "". A list that
// is not there has none; a value that is no list is too much.
func tooMany(events []event.Event, field string, n int) string {
	for i, e := range events {
		v := lookup(e, field)
		have, list := items(v)
		switch {
		case v.Exists() && v.Kind() != rawjson.Null && !list:
			return fmt.Sprintf("no list in event %d of %d", i+1, len(events))
		case have > n:
			return fmt.Sprintf("%d in event %d of %d", have, i+1, len(events))
		}
	}
	return ""
}

// items counts the entries of a list: an array, or a string that holds a JSON
// array, as tools print their results. Lines are no entries: redaction joins
// them into one placeholder.
func items(v event.Value) (n int, list bool) {
	doc := inside(v)
	if doc.Kind() != rawjson.Array {
		return 0, false
	}
	for range doc.Children() {
		n++
	}
	return n, true
}

// inside returns a value as JSON, and for a string that holds a JSON object or
// array what it holds; otherwise the zero Value.
func inside(v event.Value) rawjson.Value {
	text := v.JSON()
	if v.Kind() == rawjson.String {
		text = strings.TrimSpace(v.Str())
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
			return rawjson.Value{}
		}
	}
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		return rawjson.Value{}
	}
	return doc
}

// lookup returns the value at a dotted path, or the zero Value. It goes on
// inside a string that holds JSON.
func lookup(e event.Event, path string) event.Value {
	first, rest, deeper := strings.Cut(path, ".")
	v := e.Get(first)
	for deeper && v.Exists() {
		first, rest, deeper = strings.Cut(rest, ".")
		v = event.Of(inside(v).Get(first))
	}
	return v
}
