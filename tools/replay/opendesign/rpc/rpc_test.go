package rpc

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

func TestMain(m *testing.M) { vectortest.Main(m) }

type miscVectors struct {
	Lines []struct {
		Name        string
		Chunks      []string
		BeforeFlush int `json:"messages_before_flush"`
		Messages    []struct{ Raw string }
	} `json:"json_line_stream"`
	Permissions []struct {
		Options json.RawMessage
		Chosen  *string
	} `json:"permission_choice"`
	Usage []struct{ Usage, Out json.RawMessage } `json:"acp_usage"`
}

func TestVectors(t *testing.T) {
	var file miscVectors
	vectortest.Load(t, "misc.json", &file)
	for _, v := range file.Lines {
		vectortest.Run(t, "lines/"+v.Name, func(t *testing.T) {
			var l Lines
			var got, want []string
			for _, c := range v.Chunks {
				got = append(got, l.Feed([]byte(c))...)
			}
			if len(got) != v.BeforeFlush {
				t.Errorf("%d messages before the flush, want %d", len(got), v.BeforeFlush)
			}
			for _, m := range v.Messages {
				want = append(want, m.Raw)
			}
			if got = append(got, l.Flush()...); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for _, v := range file.Permissions {
		vectortest.Run(t, "permission/"+string(v.Options), func(t *testing.T) {
			got := ChoosePermission(value(t, v.Options))
			if got.Exists() != (v.Chosen != nil) || v.Chosen != nil && !got.IsStr(*v.Chosen) {
				t.Errorf("got %s", got.JSON())
			}
		})
	}
	for _, v := range file.Usage {
		vectortest.Run(t, "usage/"+string(v.Usage), func(t *testing.T) {
			got := Usage(value(t, v.Usage))
			if !got.Exists() {
				got = event.Null
			}
			if want := event.Of(value(t, v.Out)); got != want {
				t.Errorf("got %s, want %s", got.JSON(), want.JSON())
			}
		})
	}
}

func value(t *testing.T, text []byte) rawjson.Value {
	t.Helper()
	v, err := rawjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLinesJoinAndGiveUp(t *testing.T) {
	for _, c := range []struct {
		name, stdout string
		want         []string
	}{
		{"pretty-printed", "{\n \"a\": [\n1,\n2] }\n", []string{"{\n\"a\": [\n1,\n2] }"}},
		{"a frame in a value's place is kept when the rest is not", "{\"t\":\n{\"a\":1}\noops\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"an open string swallows nothing", "{\"t\":\"x\n{\"a\":1}\n", []string{`{"a":1}`}},
		{"a comma before the end is waited for", "[1,\n]\n{\"a\":1}\n", []string{`{"a":1}`}},
		{"noise", "[info] x\n{bad\n\"s\"\n\ufeff7\n", []string{`"s"`, "7"}},
		{"too many lines", "[1\n" + strings.Repeat(",1\n", 300) + "]\n", nil},
	} {
		var l Lines
		if got := append(l.Feed([]byte(c.stdout)), l.Flush()...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPermissionOrder(t *testing.T) {
	for options, want := range map[string]string{
		`[{"optionId":"a","kind":"allow_once"},{"optionId":"approve_for_session"}]`:                        `"approve_for_session"`,
		`[{"kind":"allow_always","optionId":""},{"kind":"allow_always","optionId":"x"}]`:                   ``,
		`[{"kind":"allow_always"},{"kind":"allow_once","optionId":"o"}]`:                                   `"o"`,
		`[null,{"kind":"reject_always","optionId":"r"},{"kind":"allow_once","optionId":7}]`:                `7`,
		`{"optionId":"approve_for_session"}`:                                                               ``,
		`[{"kind":"allow_once","optionId":"o"},{"kind":"allow_always","optionId":"b"},{"optionId":"zzz"}]`: `"b"`,
	} {
		if got := ChoosePermission(value(t, []byte(options))).JSON(); got != want {
			t.Errorf("%s: got %s, want %s", options, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":\n1}\nnoise\n[tru"), 3)
	f.Add([]byte("[1e5,-0.\n{\"b\":nul"), 1)
	f.Fuzz(func(t *testing.T, stdout []byte, cut int) {
		cut = max(0, min(cut, len(stdout)))
		var a, b Lines
		whole := append(a.Feed(stdout), a.Flush()...)
		halves := append(append(b.Feed(stdout[:cut]), b.Feed(stdout[cut:])...), b.Flush()...)
		if !slices.Equal(whole, halves) {
			t.Fatal("messages depend on the chunk border")
		}
		for _, m := range whole {
			if _, err := rawjson.Parse([]byte(m)); err != nil {
				t.Fatal("a message is not JSON")
			}
		}
	})
}
