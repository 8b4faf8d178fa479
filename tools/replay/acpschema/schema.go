package acpschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
)

// Version names the schema that deviations are counted against.
const Version = "acp-1@" + schemas.ACPVersion

// The forms of a message, as the names of the schema's definitions end.
const (
	formRequest      = "Request"
	formResponse     = "Response"
	formNotification = "Notification"
)

// place is a definition: a method in one form.
type place struct{ method, form string }

// official is the compiled schema.
type official struct {
	parts   map[place]*jsonschema.Schema
	failure *jsonschema.Schema // an error answer's error
	// members are the names of all members: other names in a pointer are data.
	members map[string]bool
	// words are the texts that the schema names as values, numbers the numbers that
	// it names as values and limits, sorted.
	words   map[string]bool
	numbers []float64
	// seen has the flaws of messages by what they were held against: most
	// messages of a run are like others.
	seen       sync.Map
	judgements atomic.Int64
	// lines has lines as they were decoded: three of four are there again in other
	// runs.
	lines sync.Map
	kept  atomic.Int64
}

// decoded is a line as it was read. Nothing changes what is in it.
type decoded struct {
	isJSON   bool
	value    any
	outlines sync.Map // of its members, by name
}

// maxDecoded bounds what is kept of lines: their number, and the length of each.
const maxDecoded, maxDecodedLine = 20_000, 4096

func (o *official) decode(line []byte) *decoded {
	if len(line) <= maxDecodedLine {
		if d, known := o.lines.Load(string(line)); known {
			return d.(*decoded)
		}
	}
	d := &decoded{}
	d.isJSON = json.Unmarshal(line, &d.value) == nil
	if len(line) <= maxDecodedLine && o.kept.Add(1) <= maxDecoded {
		o.lines.Store(string(line), d)
	}
	return d
}

// outline returns the outline of a member's value.
func (d *decoded) outline(o *official, name string, v any) string {
	if out, known := d.outlines.Load(name); known {
		return out.(string)
	}
	out := string(o.outline(nil, v))
	d.outlines.Store(name, out)
	return out
}

// judged is a value that was held against a part of the schema, by its outline.
type judged struct {
	schema  *jsonschema.Schema
	outline string
}

// maxJudgements bounds what is kept.
const maxJudgements = 20_000

// known reports whether the protocol has the method, in any form.
func (o *official) known(method string) bool {
	for _, form := range []string{formRequest, formNotification} {
		if o.parts[place{method, form}] != nil {
			return true
		}
	}
	return false
}

// load compiles the embedded schema once. It panics on a schema that does not
// compile, which a test would have found.
var load = sync.OnceValue(func() *official {
	o, err := compile(schemas.ACP)
	if err != nil {
		panic(err)
	}
	return o
})

const schemaID = "acp.schema.json"

func compile(text []byte) (*official, error) {
	var doc struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("reading the schema of ACP: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource(schemaID, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("reading the schema of ACP: %w", err)
	}
	o := &official{parts: map[place]*jsonschema.Schema{}, members: map[string]bool{}, words: map[string]bool{}}
	for name, def := range doc.Defs {
		for _, form := range []string{formRequest, formResponse, formNotification} {
			if def.Method == "" || !strings.HasSuffix(name, form) {
				continue
			}
			s, err := c.Compile(schemaID + "#/$defs/" + name)
			if err != nil {
				return nil, fmt.Errorf("compiling %s of the schema of ACP: %w", name, err)
			}
			o.parts[place{def.Method, form}] = s
		}
	}
	var err error
	if o.failure, err = c.Compile(schemaID + "#/$defs/Error"); err != nil {
		return nil, fmt.Errorf("compiling Error of the schema of ACP: %w", err)
	}
	var any any
	if err := json.Unmarshal(text, &any); err != nil {
		return nil, fmt.Errorf("reading the schema of ACP: %w", err)
	}
	o.collect(any)
	slices.Sort(o.numbers)
	o.numbers = slices.Compact(o.numbers)
	return o, nil
}

// collect gathers the names of all properties, and all texts and numbers that are
// values or limits.
func (o *official) collect(v any) {
	switch x := v.(type) {
	case map[string]any:
		if props, ok := x["properties"].(map[string]any); ok {
			for name := range props {
				o.members[name] = true
			}
		}
		values, _ := x["enum"].([]any)
		for _, value := range append(values, x["const"], x["minimum"], x["maximum"], x["exclusiveMinimum"], x["exclusiveMaximum"]) {
			switch v := value.(type) {
			case string:
				o.words[v] = true
			case float64:
				o.numbers = append(o.numbers, v)
			}
		}
		for _, c := range x {
			o.collect(c)
		}
	case []any:
		for _, c := range x {
			o.collect(c)
		}
	}
}
