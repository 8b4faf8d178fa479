package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// parsed is the JSON in a string, or an object or array itself; the zero
// Value stands for anything else, JSON null included.
func parsed(v rawjson.Value) rawjson.Value {
	switch v.Kind() {
	case rawjson.Object, rawjson.Array:
		return v
	case rawjson.String:
		if inner, err := rawjson.Parse([]byte(v.Str())); err == nil && inner.Kind() != rawjson.Null {
			return inner
		}
	}
	return rawjson.Value{}
}

// parsedOr is the JSON in a string, else the value itself.
func parsedOr(v rawjson.Value) rawjson.Value { return or(parsed(v), v) }

// content returns a value as text: strings as they are, nothing for null,
// JSON for all else.
func content(v rawjson.Value) string {
	switch {
	case isString(v):
		return v.Str()
	case nullish(v):
		return ""
	}
	return v.Stringify()
}

// composite reports whether v is an object or an array.
func composite(v rawjson.Value) bool {
	return v.Kind() == rawjson.Object || v.Kind() == rawjson.Array
}

// errorMessage finds the message in an error of any shape: JSON in strings is
// followed, then the keys detail, message, error, data and name are tried.
func errorMessage(v rawjson.Value, fallback string) string {
	if isString(v) {
		if inner := parsed(v); composite(inner) {
			return errorMessage(inner, v.Str())
		}
		return v.Str()
	}
	if !record(v) {
		return fallback
	}
	if s := v.Get("detail").Str(); s != "" {
		return s
	}
	if m := v.Get("message"); m.Str() != "" {
		return errorMessage(m, m.Str())
	}
	switch e := v.Get("error"); {
	case e.Str() != "":
		return e.Str()
	case composite(e):
		return errorMessage(e, fallback)
	}
	if data := v.Get("data"); composite(data) {
		if s := errorMessage(data, ""); s != "" {
			return s
		}
	}
	if s := v.Get("name").Str(); s != "" {
		return s
	}
	return fallback
}
