package event_test

import (
	"encoding/json"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

func foreign(t *testing.T, text string) rawjson.Value {
	t.Helper()
	v, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestKeyOrderAndAbsenceSurvive(t *testing.T) {
	e := event.New("usage",
		event.F("usage", event.Of(foreign(t, `{"b":1.0,"a":{"2":1,"1":2,"x":"<&>"},"b":12345678901234567890}`))),
		event.F("costUsd", event.Null),
		event.F("model", event.Of(rawjson.Value{})),
		event.F("isError", event.Bool(true)),
		event.F("n", event.Number(1e-7)),
	)
	const want = `{"type":"usage","usage":{"b":12345678901234567000,"a":{"1":2,"2":1,"x":"<&>"}},"costUsd":null,"isError":true,"n":1e-7}`
	if got := string(e.JSON()); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if e.Get("model").Exists() || !e.Get("costUsd").Exists() || e.Get("costUsd").Kind() != rawjson.Null {
		t.Error("an absent member and a null one must differ")
	}
	if e.Type() != "usage" || !e.Get("isError").True() || e.Get("n").Float() != 1e-7 {
		t.Error("the members must be readable")
	}
}

func TestRoundTripIsEqual(t *testing.T) {
	for _, text := range []string{
		`{"type":"text_delta","delta":"a\ud83d\u2028é"}`,
		`{"z":null,"type":"raw","line":"{\"a\":1}","n":-0.5,"o":{},"l":[1,"x",null]}`,
	} {
		var a, b event.Event
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(a.JSON(), &b); err != nil {
			t.Fatal(err)
		}
		if !a.Equal(b) {
			t.Errorf("%s: not equal after a round trip: %s", text, b.JSON())
		}
		if a.Equal(b.With("extra", event.Null)) {
			t.Errorf("%s: an added null must make a difference", text)
		}
	}
	var e event.Event
	for _, text := range []string{`[]`, `1`, `{`} {
		if err := e.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s must be refused", text)
		}
	}
}

func TestNestedBuilders(t *testing.T) {
	v := event.Object(
		event.F("todos", event.Array(event.Object(event.F("content", event.String("a")), event.F("skip", event.Value{})), event.Number(2))),
		event.F("none", event.Null),
	)
	if got, want := v.JSON(), `{"todos":[{"content":"a"},2],"none":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := event.New("x").With("type", event.String("y")).JSON(); string(got) != `{"type":"y"}` {
		t.Errorf("With must replace in place: %s", got)
	}
}
