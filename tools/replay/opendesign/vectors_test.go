package opendesign

import (
	"encoding/json"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
)

func TestMain(m *testing.M) { vectortest.Main(m) }

type streamVector struct {
	Family, Kind, Name string
	Options            struct {
		SuppressHTML bool `json:"suppressHtmlArtifactsAfterFileWrite"`
	} `json:"handler_options"`
	Chunks      []string `json:"stdout_chunks"`
	Events      []event.Event
	BeforeFlush *int `json:"events_before_flush"`
}

func (v streamVector) parser(t testing.TB) Parser {
	t.Helper()
	p, err := NewStream(v.Family, v.Kind, Options{SuppressHTMLArtifacts: v.Options.SuppressHTML})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func streamVectors(t testing.TB) []streamVector {
	var file struct{ Vectors []streamVector }
	vectortest.Load(t, "stream-parser.json", &file)
	return file.Vectors
}

func TestStreamVectors(t *testing.T) {
	for _, v := range streamVectors(t) {
		vectortest.Run(t, v.Family+"/"+v.Kind+"/"+v.Name, func(t *testing.T) {
			p := v.parser(t)
			var got []event.Event
			for _, c := range v.Chunks {
				got = append(got, p.Feed([]byte(c))...)
			}
			if v.BeforeFlush != nil && len(got) != *v.BeforeFlush {
				t.Errorf("%d events before the flush, want %d", len(got), *v.BeforeFlush)
			}
			sameEvents(t, append(got, p.Flush()...), v.Events)
		})
	}
}

func sameEvents(t *testing.T, got, want []event.Event) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("event %d is missing: %s", i, want[i].JSON())
		case i >= len(want):
			t.Errorf("event %d is too many: %s", i, got[i].JSON())
		case !got[i].Equal(want[i]):
			t.Errorf("event %d\ngot  %s\nwant %s", i, got[i].JSON(), want[i].JSON())
		}
	}
}

func TestRoleMarkerVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name            string
			Chunks, Emitted []string
			Contaminated    bool
			Warning         *event.Event
		} `json:"role_marker_guard"`
	}
	vectortest.Load(t, "misc.json", &file)
	for _, v := range file.Vectors {
		vectortest.Run(t, v.Name, func(t *testing.T) {
			id := "m"
			if v.Warning != nil {
				id = v.Warning.Get("messageId").Str()
			}
			g := NewRoleGuard(id)
			for i, c := range v.Chunks {
				if got := g.Feed(c); got != v.Emitted[i] {
					t.Errorf("chunk %d: got %q, want %q", i, got, v.Emitted[i])
				}
			}
			warning, found := g.Warning()
			if g.Contaminated() != v.Contaminated || found != (v.Warning != nil) || found && !warning.Equal(*v.Warning) {
				t.Errorf("got warning %s (%v)", warning.JSON(), found)
			}
		})
	}
}

func TestCloseStatusVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name   string
			Input  Exit
			Status string
		} `json:"close_status"`
	}
	vectortest.Load(t, "misc.json", &file)
	for _, v := range file.Vectors {
		vectortest.Run(t, v.Name, func(t *testing.T) {
			if got := CloseStatus(v.Input); got != v.Status {
				t.Errorf("got %s, want %s", got, v.Status)
			}
		})
	}
}

func TestStdinVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name    string
			Events  []event.Event
			Open    bool `json:"stdinOpen"`
			Cleanly bool `json:"turnCompletedCleanly"`
		} `json:"claude_stdin_bookkeeping"`
	}
	vectortest.Load(t, "misc.json", &file)
	for _, v := range file.Vectors {
		vectortest.Run(t, v.Name, func(t *testing.T) {
			var b StdinBook
			closes := 0
			for _, e := range v.Events {
				if b.Observe(e) {
					closes++
				}
			}
			if b.Open() != v.Open || b.TurnCompletedCleanly != v.Cleanly || (closes > 0) == v.Open || closes > 1 {
				t.Errorf("got open %v, cleanly %v, %d closes", b.Open(), b.TurnCompletedCleanly, closes)
			}
		})
	}
}

func TestErrorCodeVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Status struct {
				Status, ErrorCode, Signal string
				ExitCode                  *int
			}
			Result    string
			ErrorCode *string
		} `json:"derive_error_code"`
	}
	vectortest.Load(t, "misc.json", &file)
	for _, v := range file.Vectors {
		name, _ := json.Marshal(v.Status)
		vectortest.Run(t, string(name), func(t *testing.T) {
			want := ""
			if v.ErrorCode != nil {
				want = *v.ErrorCode
			}
			s := v.Status
			if got := ErrorCode(s.Status, s.ErrorCode, s.Signal, s.ExitCode); got != want {
				t.Errorf("got code %q, want %q", got, want)
			}
			if got := Result(s.Status); got != v.Result {
				t.Errorf("got result %q, want %q", got, v.Result)
			}
		})
	}
}
