// Package recordings reads streams that somebody else stored (JSONL, cassettes
// of VCR-like tools, terminal casts, OpenDesign's mocks) and says what the
// registry knows about each: which shape and versions it matches, what in it no
// current version emits any more, and what nobody ever captured.
package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Format is how a file holds its streams.
type Format string

// The formats that are told apart.
const (
	FormatJSONL      Format = "jsonl"      // what a CLI printed, line by line
	FormatTranscript Format = "transcript" // a sanitized transcript of this registry
	FormatCassette   Format = "cassette"   // a JSON or YAML document that holds what was printed
	FormatCast       Format = "cast"       // a terminal cast (asciinema, version 2)
	FormatMock       Format = "mock"       // an export of OpenDesign's mocks, which holds no stream
)

// stream is one stream of a file.
type stream struct {
	name       string // where in the file, "" for all of it
	transcript *transcript.Transcript
}

// read takes a file apart. The error is about a file that claims to be of a
// format and is not.
func read(name string, b []byte) (Format, []stream, error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	v, err := rawjson.Parse(bytes.TrimSpace(first))
	head := err == nil && v.Kind() == rawjson.Object
	switch {
	case head && v.Get("dir").Exists() && v.Get("at_ms").Kind() == rawjson.Number:
		t, err := transcript.ReadSanitized(bytes.NewReader(b))
		return FormatTranscript, []stream{{"", t}}, err
	case head && (v.Get("type").IsStr("meta") || v.Get("kind").IsStr("meta")) && v.Get("agent").Exists():
		return FormatMock, nil, nil
	case head && string(v.Get("version").Raw()) == "2" && v.Get("width").Exists():
		t, err := cast(b)
		return FormatCast, []stream{{"", t}}, err
	}
	if streams := cassette(name, b); len(streams) > 0 {
		return FormatCassette, streams, nil
	}
	return FormatJSONL, []stream{{"", stdout(b)}}, nil
}

// stdout makes a transcript of what a CLI printed.
func stdout(b []byte) *transcript.Transcript {
	t := &transcript.Transcript{}
	for line := range bytes.Lines(b) {
		t.Records = append(t.Records, transcript.Record{
			Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: line, Deviations: transcript.ByteDeviations(line),
		})
	}
	return t
}

// cast joins what a terminal cast has of the output.
func cast(b []byte) (*transcript.Transcript, error) {
	var out bytes.Buffer
	n := 0
	for line := range bytes.Lines(b) {
		if n++; n == 1 || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var event []any
		if err := json.Unmarshal(line, &event); err != nil || len(event) != 3 {
			return nil, fmt.Errorf("line %d is no event of a terminal cast", n)
		}
		if text, ok := event[2].(string); ok && event[1] == "o" {
			out.WriteString(strings.ReplaceAll(text, "\r\n", "\n"))
		}
	}
	return stdout(out.Bytes()), nil
}

// printed are the members under which cassettes keep what a program printed.
var printed = []string{"stdout", "output", "body", "string", "lines", "events"}

// cassette finds streams in one JSON document, or a YAML document that is named
// so: texts, or lists of texts or of frames, under members that are named so.
func cassette(name string, b []byte) []stream {
	var doc any
	parse := json.Unmarshal
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" {
		parse = yaml.Unmarshal
	}
	if parse(b, &doc) != nil {
		return nil // several lines, or neither
	}
	var out []stream
	var walk func(place string, v any, depth int)
	walk = func(place string, v any, depth int) {
		if depth > 12 {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				at := place + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
				if text := lines(v[k]); slices.Contains(printed, k) && text != "" {
					out = append(out, stream{at, stdout([]byte(text))})
					continue
				}
				walk(at, v[k], depth+1)
			}
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s/%d", place, i), e, depth+1)
			}
		}
	}
	walk("", doc, 0)
	return out
}

// lines returns a printed text: as it is, or a line for each element of a list;
// "" for what is none.
func lines(v any) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "{") {
			return v
		}
	case []any:
		var b strings.Builder
		for _, e := range v {
			switch e := e.(type) {
			case string:
				b.WriteString(strings.TrimSuffix(e, "\n") + "\n")
			case map[string]any:
				line, err := json.Marshal(e)
				if err != nil {
					return ""
				}
				b.Write(append(line, '\n'))
			default:
				return ""
			}
		}
		return b.String()
	}
	return ""
}
