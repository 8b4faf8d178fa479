package machine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

func TestParseEnvelope(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		version   bool // a VersionError
		malformed bool
	}{
		{name: "success", in: `{"ok":true,"contract_version":1,"data":{"a":1},"error":null}`},
		{name: "refusal", in: `{"ok":false,"contract_version":1,"data":null,"error":{"kind":"not_found","message":"m","detail":null}}`},
		{name: "unknown members", in: `{"ok":true,"contract_version":1,"data":[],"error":null,"new":{"x":1}}`},
		{name: "no error member", in: `{"ok":true,"contract_version":1,"data":{}}`},
		{name: "another version wins over everything else", in: `{"ok":"later","contract_version":2,"result":5}`, version: true},
		{name: "version 0", in: `{"ok":true,"contract_version":0,"data":{}}`, version: true},
		{name: "no version", in: `{"ok":true,"data":{}}`, malformed: true},
		{name: "version as text", in: `{"ok":true,"contract_version":"1","data":{}}`, malformed: true},
		{name: "version as fraction", in: `{"ok":true,"contract_version":1.5,"data":{}}`, malformed: true},
		{name: "both set", in: `{"ok":true,"contract_version":1,"data":{},"error":{"kind":"internal","message":""}}`, malformed: true},
		{name: "neither set", in: `{"ok":true,"contract_version":1,"data":null,"error":null}`, malformed: true},
		{name: "ok contradicts", in: `{"ok":true,"contract_version":1,"data":null,"error":{"kind":"internal","message":""}}`, malformed: true},
		{name: "ok missing", in: `{"contract_version":1,"data":{}}`, malformed: true},
		{name: "ok null", in: `{"ok":null,"contract_version":1,"data":{}}`, malformed: true},
		{name: "kind outside the set", in: `{"ok":false,"contract_version":1,"error":{"kind":"odd","message":""}}`, malformed: true},
		{name: "error as text", in: `{"ok":false,"contract_version":1,"error":"odd"}`, malformed: true},
		{name: "two objects", in: `{"ok":true,"contract_version":1,"data":{}}{}`, malformed: true},
		{name: "a line before it", in: "done\n" + `{"ok":true,"contract_version":1,"data":{}}`, malformed: true},
		{name: "a list", in: `[]`, malformed: true},
		{name: "null", in: `null`, malformed: true},
		{name: "nothing", in: ``, malformed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := machine.ParseEnvelope([]byte(c.in))
			var version *machine.VersionError
			var malformed *machine.MalformedError
			if errors.As(err, &version) != c.version || errors.As(err, &malformed) != c.malformed {
				t.Fatalf("error %v", err)
			}
			if err == nil && e.OK != (e.Error == nil) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestWriteIsOneLineThatParses(t *testing.T) {
	e, err := machine.Success(map[string]any{"text": "<a>\n& \u2028", "list": machine.Got([]string{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*machine.Envelope{e, machine.Refusal(machine.Errorf(machine.Conflict, "taken by %s", "x"))} {
		var b bytes.Buffer
		if err := e.Write(&b); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b.Bytes(), []byte("\n")); n != 1 {
			t.Errorf("%d lines", n)
		}
		if _, err := machine.ParseEnvelope(b.Bytes()); err != nil {
			t.Errorf("%s: %v", b.Bytes(), err)
		}
	}
	if _, err := machine.Success(nil); err == nil {
		t.Error("data without a value was accepted")
	}
}

// Absence and failure never share an encoding.
func TestValueEncoding(t *testing.T) {
	empty, err := json.Marshal(machine.Got([]string{}))
	if err != nil {
		t.Fatal(err)
	}
	missing, err := json.Marshal(machine.Missing[[]string](machine.ReasonUnreadable, "permission denied"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"available":true,"value":[],"reason_code":null,"detail":null}`; string(empty) != want {
		t.Errorf("none: %s", empty)
	}
	if want := `{"available":false,"value":null,"reason_code":"unreadable","detail":"permission denied"}`; string(missing) != want {
		t.Errorf("unknown: %s", missing)
	}
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add([]byte(`{"ok":true,"contract_version":1,"data":{"a":1},"error":null}`))
	f.Add([]byte(`{"ok":false,"contract_version":1,"data":null,"error":{"kind":"internal","message":"m","detail":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := machine.ParseEnvelope(b)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := e.Write(&out); err != nil {
			t.Fatal(err)
		}
		if again, err := machine.ParseEnvelope(out.Bytes()); err != nil || again.OK != e.OK {
			t.Fatalf("written again: %v", err)
		}
	})
}
