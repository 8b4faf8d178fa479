package coverage_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

func raw(line []byte) event.Event {
	return event.New("raw", event.F("line", event.String(string(line))))
}

type fatal interface{ Fatal(...any) }

// without leaves paths out of the frames of a kind. It is written without the
// package's own editor: member by member, by the steps of the path.
func without(t fatal, in replay.Input, kind string, gone []string) replay.Input {
	n, err := normalize.New(in.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	out := &transcript.Transcript{}
	for _, rec := range in.Transcript.Records {
		if v, err := rawjson.Parse(rec.Data); err == nil && rec.Stream == transcript.Stdout && n.KindName(v) == kind {
			var steps [][]string
			for _, p := range gone {
				s, err := paths.Split(p)
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, s)
			}
			rec.Data = []byte(cut(v, steps) + "\n")
		}
		out.Records = append(out.Records, rec)
	}
	in.Transcript = out
	return in
}

func cut(v rawjson.Value, gone [][]string) string {
	var parts []string
	for x := range v.Children() {
		step, name := "[]", ""
		if v.Kind() == rawjson.Object {
			step = x.Key()
			quoted, _ := json.Marshal(step)
			name = string(quoted) + ":"
		}
		var below [][]string
		for _, g := range gone {
			if len(g) > 0 && (g[0] == step || g[0] == "<key>") {
				below = append(below, g[1:])
			}
		}
		if slices.ContainsFunc(below, func(g []string) bool { return len(g) == 0 }) {
			continue
		}
		parts = append(parts, name+cut(x, below))
	}
	switch v.Kind() {
	case rawjson.Object:
		return "{" + strings.Join(parts, ",") + "}"
	case rawjson.Array:
		return "[" + strings.Join(parts, ",") + "]"
	}
	return string(v.Raw())
}
