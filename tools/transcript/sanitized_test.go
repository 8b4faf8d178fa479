package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"pgregory.net/rapid"
)

const (
	out  = `{"dir":"cli->server","stream":"stdout","at_ms":1,`
	exit = `{"dir":"process","event":"exit","at_ms":1,`
	rpc  = out + `"frame":{"jsonrpc":"2.0",`
)

// validRecords holds the specification's examples and every corner that is
// allowed.
var validRecords = []string{
	`{"dir":"server->cli","stream":"stdin","at_ms":0,"data_ref":"prompt"}`,
	`{"dir":"cli->server","stream":"stdout","at_ms":220,"data":"{\"type\":\"thread.started\"}\n"}`,
	`{"dir":"cli->server","stream":"stderr","at_ms":230,"data":"..."}`,
	`{"dir":"process","event":"exit","at_ms":920,"exit_code":0,"signal":null}`,
	`{"dir":"server->cli","stream":"stdin","at_ms":0,"frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}}`,
	`{"dir":"cli->server","stream":"stdout","at_ms":80,"frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}`,
	exit + `"exit_code":null,"signal":"SIGRTMIN+1"}`,
	exit + `"signal":"SIGKILL"}`,
	`{"dir":"cli->file","stream":"session","at_ms":1,"data":"{}\n","extensions":{"deviations":["not_json"]}}`,
	exit + `"exit_code":3221225477}`,
	`{"dir":"process","event":"spawn","at_ms":1}`,
	`{"dir":"process","event":"spawn","at_ms":1,"extensions":{"reason":"not_started"}}`,
	`{"dir":"process","event":"timeout","at_ms":1,"signal":"SIGTERM","extensions":{"reason":"idle_timeout"}}`,
	`{"at_ms":1,"event":"kill","dir":"process","exit_code":null,"signal":null}`,
	out + `"data":""}`,
	out + `"data":"tab\t\u001b[31m\u0000 é","extensions":{"deviations":["nul","ansi","nul"]}}`,
	out + `"data":"x","extensions":{}}`,
	out + `"frame":{}}`,
	out + `"frame":{ "id" : 1e2, "id":2 , "x":[1.50,"\ud800"]}}`,
	rpc + `"id":"a","error":{"code":-32601,"message":"no"}}}`,
	rpc + `"method":"session/update","params":[],"meta":1}}`,
	rpc + `"id":null,"result":null}}`,
}

// invalidRecords holds a part of the message beside each line.
var invalidRecords = map[string]string{
	// The specification's "Invalid examples" that a record shows by itself;
	// the first of its list (a token in data) is the leak scan's to find.
	`{"dir":"process","event":"exit","at_ms":20}`:                                     "either exit_code or signal",
	`{"dir":"server->cli","stream":"stdin","at_ms":0,"data":"x","data_ref":"prompt"}`: "exactly one of data",

	`{"dir":"cli->server","stream":"stdout","data":"x"}`:            "at_ms is missing",
	`{"dir":"cli->server","stream":"stdout","at_ms":-1,"data":"x"}`: "at_ms is not",
	`{"dir":"cli->server","stream":"stdout","at_ms":1.5,"data":""}`: "at_ms is not",
	`{"dir":"cli->server","stream":"stdout","at_ms":"1","data":""}`: "at_ms is not",
	`{"dir":"cli->server","stream":"stdin","at_ms":1,"data":"x"}`:   "do not go together",
	`{"dir":"server->cli","stream":"stderr","at_ms":1,"data":"x"}`:  "do not go together",
	`{"dir":"cli->server","stream":"session","at_ms":1,"data":"x"}`: "do not go together",
	`{"dir":"cli->file","stream":"stdout","at_ms":1,"data":"x"}`:    "do not go together",
	`{"dir":"cli->file","stream":"session","at_ms":1,"frame":{}}`:   "a session file has data",
	`{"dir":"elsewhere","stream":"stdout","at_ms":1,"data":"x"}`:    "do not go together",
	`{"dir":"process","stream":"stdout","event":"kill","at_ms":1}`:  "process event has no stream",
	`{"dir":"process","event":"kill","at_ms":1,"data":""}`:          "process event has no stream",
	`{"dir":"process","event":"start","at_ms":1}`:                   "event is not",
	`{"dir":"process","at_ms":1}`:                                   "event is not",
	`{"dir":"process","event":"spawn","at_ms":1,"signal":"SIGINT"}`: "a spawn has no signal",
	`{"dir":"process","event":"kill","at_ms":1,"exit_code":1}`:      "only an exit",
	`{"dir":"process","event":"kill","at_ms":1,"signal":"sigint"}`:  "name of a signal",
	exit + `"exit_code":1,"signal":"SIGTERM"}`:                      "either exit_code or signal",
	exit + `"exit_code":null,"signal":null}`:                        "either exit_code or signal",
	exit + `"exit_code":"0"}`:                                       "exit_code is not",
	exit + `"exit_code":-1}`:                                        "exit_code is not",
	exit + `"exit_code":0,"signal":""}`:                             "signal is not a text",
	out + `"exit_code":0,"data":"x"}`:                               "a stream record has no event",
	out + `"event":"exit","data":"x"}`:                              "a stream record has no event",
	out + `"data":"x","extensions":{"reason":"cancelled"}}`:         "a stream record has no event",
	out + `"data":"x","extensions":{"reason":"No Word"}}`:           "reason is not",
	out + `"data":"x","extensions":{"deviations":["\n"]}}`:          "deviation is not",
	out + `"data":"x","extensions":{"deviations":"nul"}}`:           "not a list",
	out + `"data":"x","extensions":{"more":1}}`:                     "unknown key \"more\" in extensions",
	out + `"data":"x","extensions":[]}`:                             "extensions is not",
	out + `"data":"x","time":1}`:                                    "unknown key \"time\"",
	out + `"data":null}`:                                            "data is not a text",
	out + `"data_ref":""}`:                                          "data_ref is not a text",
	out + `"data_ref":"../prompt"}`:                                 "data_ref is not",
	`{"dir":"cli->server","stream":"stdout","at_ms":1}`:             "exactly one of data",
	out + `"frame":[1]}`:                                            "frame is not a JSON object",
	out + `"frame":null}`:                                           "frame is not a JSON object",
	rpc + `"id":1}}`:                                                "not exactly one of result and error",
	rpc + `"id":1,"result":1,"error":{"code":1,"message":""}}}`:     "not exactly one of result and error",
	rpc + `"result":1}}`:                                            "neither method nor id",
	rpc + `"id":{},"method":"m"}}`:                                  "an id that is not",
	rpc + `"method":1}}`:                                            "a method that is not",
	rpc + `"method":"m","params":"p"}}`:                             "params that are not",
	rpc + `"method":"m","result":1}}`:                               "a method and a result",
	rpc + `"id":1,"error":"no"}}`:                                   "without a numeric code",
	out + `"frame":{"jsonrpc":2,"method":"m"}}`:                     "jsonrpc member",
	`[]`:   "not a JSON object",
	`{`:    "not json at byte 1",
	``:     "not json at byte 0",
	`{} x`: "not json at byte 3",
}

func TestReadSanitizedValid(t *testing.T) {
	schema := compileSchema(t)
	for _, line := range validRecords {
		if _, err := ReadSanitized(strings.NewReader(line + "\n")); err != nil {
			t.Errorf("%s\n%v", line, err)
		}
		if err := schema.Validate(decode(t, line)); err != nil {
			t.Errorf("the schema refuses %s\n%v", line, err)
		}
	}
}

func TestReadSanitizedInvalid(t *testing.T) {
	schema := compileSchema(t)
	for line, want := range invalidRecords {
		_, err := ReadSanitized(strings.NewReader(validRecords[0] + "\n" + line + "\n"))
		var le *LineError
		if !errors.As(err, &le) || le.Line != 2 || !strings.Contains(le.What, want) {
			t.Errorf("%s\ngives %v, want %q on line 2", line, err, want)
		}
		if json.Valid([]byte(line)) && schema.Validate(decode(t, line)) == nil {
			t.Errorf("the schema accepts %s", line)
		}
	}
}

// What JSON Schema cannot say.
func TestReadSanitizedBeyondTheSchema(t *testing.T) {
	for input, want := range map[string]string{
		out + `"data":"a","data":"b"}` + "\n":                                                   "stands twice",
		out + `"data":"x","extensions":{"reason":"a","reason":"a"}}` + "\n":                     "stands twice in extensions",
		out + "\"data\":\"\xff\"}\n":                                                            "data is not UTF-8",
		out + `"data":"\ud800"}` + "\n":                                                         "data is not UTF-8",
		out + "\"frame\":{\"a\":\"\xff\"}}\n":                                                   "frame is not UTF-8",
		strings.Replace(out, ":1,", ":2,", 1) + `"data":""}` + "\n" + out + `"data":""}` + "\n": "line 2: at_ms goes back",
		out + `"data":"x"}`:                                                                     "no line break at the end",
		out + `"data":"x"}` + "\n\n":                                                            "line 2: not json",
	} {
		if _, err := ReadSanitized(strings.NewReader(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngives %v, want %q", input, err, want)
		}
	}
}

func TestWriteSanitizedCanonicalForm(t *testing.T) {
	tr := &Transcript{Records: []Record{
		{Dir: Process, Event: EventSpawn, At: 77},
		{Dir: ServerToCLI, Stream: Stdin, DataRef: "prompt", At: 1e9},
		{Dir: CLIToServer, Stream: Stdout, Data: []byte("<text:1> \"é\" \x1b[0m\u2028\n"), Deviations: []string{"nul", "ansi", "nul"}},
		{Dir: CLIToServer, Stream: Stdout, Frame: []byte(`{ "b":1.0,"a":"\u00e9","a":2}`)},
		{Dir: Process, Event: EventTimeout, Signal: "SIGTERM", Reason: ReasonWallTimeout},
		{Dir: Process, Event: EventExit, Signal: "SIGKILL"},
	}}
	want := `{"dir":"process","event":"spawn","at_ms":0}
{"dir":"server->cli","stream":"stdin","at_ms":1,"data_ref":"prompt"}
{"dir":"cli->server","stream":"stdout","at_ms":2,"data":"<text:1> \"é\" \u001b[0m` + "\u2028" + `\n","extensions":{"deviations":["ansi","nul"]}}
{"dir":"cli->server","stream":"stdout","at_ms":3,"frame":{ "b":1.0,"a":"\u00e9","a":2}}
{"dir":"process","event":"timeout","at_ms":4,"signal":"SIGTERM","extensions":{"reason":"wall_timeout"}}
{"dir":"process","event":"exit","at_ms":5,"exit_code":null,"signal":"SIGKILL"}
`
	var b bytes.Buffer
	must(t, tr.WriteSanitized(&b))
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if tr.Records[2].Deviations[0] != "nul" {
		t.Error("writing changed the record")
	}
}

func TestWriteSanitizedRefusesLoss(t *testing.T) {
	code := 1
	for name, rec := range map[string]Record{
		"not UTF-8":             {Dir: CLIToServer, Stream: Stdout, Data: []byte{0xff}},
		"nothing":               {Dir: CLIToServer, Stream: Stdout},
		"frame over two lines":  {Dir: CLIToServer, Stream: Stdout, Frame: []byte("{\n}")},
		"frame with line break": {Dir: CLIToServer, Stream: Stdout, Frame: []byte("{}\n")},
		"frame not json":        {Dir: CLIToServer, Stream: Stdout, Frame: []byte("{")},
		"data and event":        {Dir: CLIToServer, Stream: Stdout, Data: []byte("x"), Event: EventExit},
		"exit with both":        {Dir: Process, Event: EventExit, ExitCode: &code, Signal: "SIGTERM"},
	} {
		if err := (&Transcript{Records: []Record{rec}}).WriteSanitized(&bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever is written is read again as it was, and writing it again gives the
// same bytes.
func TestSanitizedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := &Transcript{Records: rapid.SliceOfN(rapid.Custom(drawRecord), 0, 8).Draw(t, "records")}
		var b bytes.Buffer
		if err := tr.WriteSanitized(&b); err != nil {
			t.Fatal(err)
		}
		checkStable(t, b.Bytes())
		back, err := ReadSanitized(&b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range back.Records {
			if was, is := tr.Records[i].Line(), back.Records[i].Line(); !bytes.Equal(was, is) {
				t.Errorf("the line %q is read as %q", was, is)
			}
			back.Records[i].At = tr.Records[i].At
			tr.Records[i].Deviations = canonicalWords(tr.Records[i].Deviations)
		}
		if len(tr.Records) > 0 && !cmp.Equal(tr.Records, back.Records) {
			t.Error(cmp.Diff(tr.Records, back.Records))
		}
	})
}

func drawRecord(t *rapid.T) Record {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return Record{Dir: ServerToCLI, Stream: Stdin, DataRef: "prompt"}
	case 1:
		code := rapid.IntRange(0, 255).Draw(t, "code")
		return Record{Dir: Process, Event: EventExit, ExitCode: &code}
	case 2:
		r := Record{Dir: CLIToServer, Stream: Stdout, Frame: []byte(`{"a":[1, 2.0]}`)}
		if w := rapid.SampledFrom([]string{"", DeviationCRLF, DeviationTruncatedTail}).Draw(t, "tail"); w != "" {
			r.Deviations = []string{w}
		}
		return r
	}
	words := []string{"ansi", "nul", "crlf"}
	r := Record{Dir: CLIToServer, Stream: Stderr, Data: []byte(rapid.String().Draw(t, "data"))}
	if n := rapid.IntRange(0, 3).Draw(t, "deviations"); n > 0 {
		r.Deviations = rapid.SliceOfN(rapid.SampledFrom(words), n, n).Draw(t, "words")
	}
	return r
}

// checkStable reads a transcript, writes it, and does so again.
func checkStable(t interface{ Error(...any) }, input []byte) {
	tr, err := ReadSanitized(bytes.NewReader(input))
	atHand, canonical, err2 := ReadCanonical(input)
	if fmt.Sprint(err) != fmt.Sprint(err2) || err == nil && !equalRecords(tr, atHand) {
		t.Error("ReadCanonical reads another transcript than ReadSanitized:", err, err2)
	}
	if err != nil {
		return
	}
	if same, err := tr.IsSanitized(input); err != nil || same != canonical {
		t.Error("ReadCanonical does not say what IsSanitized says:", same, err)
	}
	var first, second bytes.Buffer
	if err := tr.WriteSanitized(&first); err != nil {
		t.Error("what was read cannot be written:", err)
		return
	}
	if same, err := tr.IsSanitized(input); err != nil || same != bytes.Equal(input, first.Bytes()) {
		t.Error("IsSanitized does not compare with what is written:", same, err)
	}
	if same, err := tr.IsSanitized(first.Bytes()[:first.Len()/2]); err != nil || same && first.Len() > 0 {
		t.Error("half of a transcript is taken for the whole:", err)
	}
	again, err := ReadSanitized(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Error("what was written cannot be read:", err)
		return
	}
	if err := again.WriteSanitized(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the canonical form is not stable:", err)
	}
}

func equalRecords(a, b *Transcript) bool {
	return slices.EqualFunc(a.Records, b.Records, func(x, y Record) bool {
		return cmp.Equal(x, y) && bytes.Equal(x.Line(), y.Line())
	})
}

func FuzzReadSanitized(f *testing.F) {
	f.Add([]byte(strings.Join(validRecords[:4], "\n") + "\n"))
	for _, line := range validRecords {
		f.Add([]byte(line + "\n"))
	}
	for line := range invalidRecords {
		f.Add([]byte(line + "\n"))
	}
	f.Fuzz(func(t *testing.T, input []byte) { checkStable(t, input) })
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	b, err := os.ReadFile(filepath.Join("..", "..", "schemas", "transcript.schema.json"))
	must(t, err)
	schema, err := jsonschema.CompileString("transcript.schema.json", string(b))
	must(t, err)
	return schema
}

func decode(t testing.TB, line string) any {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var v any
	must(t, d.Decode(&v))
	return v
}
