package provider

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

const root = "../.."

// probeIDs are the folders of probes/, the basic ones among them.
func probeIDs(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "probes"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	for _, id := range contract.BasicProbes {
		if !slices.Contains(ids, id) {
			t.Errorf("the basic probe %s is missing", id)
		}
	}
	return ids
}

func scenarioSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	b, err := os.ReadFile(filepath.Join(root, "schemas", "scenario.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("scenario.schema.json", bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readProbe(t *testing.T, id, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "probes", id, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestProbes(t *testing.T) {
	schema := scenarioSchema(t)
	for _, id := range probeIDs(t) {
		t.Run(id, func(t *testing.T) {
			raw := readProbe(t, id, "scenario.json")
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("schema: %v", err)
			}
			var sc contract.Scenario
			if err := json.Unmarshal(raw, &sc); err != nil {
				t.Fatal(err)
			}
			if _, err := New(sc, Options{}); err != nil {
				t.Error(err)
			}
			if sc.Model != "probe-model-1" || sc.PostToolDelayMS != contract.DefaultPostToolDelayMS {
				t.Errorf("model %q and delay %d ms differ from the other probes", sc.Model, sc.PostToolDelayMS)
			}
			if len(bytes.TrimSpace(readProbe(t, id, "prompt.md"))) == 0 {
				t.Error("prompt.md is empty")
			}
			files, err := os.ReadDir(filepath.Join(root, "probes", id, "fixture-files"))
			if err != nil || len(files) == 0 {
				t.Errorf("fixture-files: %d files, %v", len(files), err)
			}
			var e contract.Expectation
			if err := json.Unmarshal(readProbe(t, id, "expected-min-events.json"), &e); err != nil {
				t.Error(err)
			} else if err := e.Validate(); err != nil {
				t.Errorf("expected-min-events.json: %v", err)
			}
			var p contract.EnvPolicy
			if err := json.Unmarshal(readProbe(t, id, "env-policy.json"), &p); err != nil || p.Credentials == "" {
				t.Errorf("env-policy.json: credentials %q, %v", p.Credentials, err)
			}
		})
	}
}

// The model's claims must be true of the files that the probe lays out.
func TestProbesTellTheTruth(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "probes", "chat-tool-success", "fixture-files", "*"))
	if err != nil {
		t.Fatal(err)
	}
	jsons := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return filepath.Ext(f) != ".json" })
	if len(files) != 3 || len(jsons) != 2 {
		t.Errorf("%d files, %d of them .json", len(files), len(jsons))
	}
	if script := string(readProbe(t, "chat-tool-failure", "fixture-files/check.sh")); !strings.HasSuffix(script, "exit 3\n") {
		t.Error("check.sh does not exit with 3")
	}
	if len(files) > 0 && !bytes.Contains(readProbe(t, "chat-tool-success", "scenario.json"), []byte(`"Two of the "`)) {
		t.Error("the answer gives another number")
	}
}

// What the schema refuses, New refuses, and the other way round.
func TestSchemaAndValidateAgree(t *testing.T) {
	schema := scenarioSchema(t)
	good := `{"schema_version":1,"model":"m","max_retries":1,"timeouts":{"wall_ms":1,"idle_ms":1},"turns":[{"tool_results":0,"attempts":[REPLY]}]}`
	tests := map[string]bool{
		`{"kind":"answer","text":["a"]}`: true,
		`{"kind":"empty"}`:               true,
		`{"kind":"error","error":{"code":"overloaded","headers":{"retry-after":"1"}}}`: true,
		`{"kind":"cut"}`:                true,
		`{"kind":"reset"}`:              true,
		`{"kind":"reset","text":["a"]}`: false,
		`{"kind":"stall","text":["a"]}`: true,
		`{"kind":"answer","tool_calls":[{"ability":"write_file","arguments":{"path":"a","content":""}}]}`: true,
		`{"kind":"answer"}`:                            false,
		`{"kind":"answer","text":[""]}`:                false,
		`{"kind":"empty","text":["a"]}`:                false,
		`{"kind":"error"}`:                             false,
		`{"kind":"error","error":{"code":"teapot"}}`:   false,
		`{"kind":"cut","error":{"code":"overloaded"}}`: false,
		`{"kind":"silence"}`:                           false,
		`{"text":["a"]}`:                               false,
		`{"kind":"answer","text":["a"],"note":"b"}`:    false,
		`{"kind":"answer","tool_calls":[{"ability":"run_command","arguments":{"path":"a"}}]}`: false,
		`{"kind":"answer","tool_calls":[{"ability":"dance","arguments":{}}]}`:                 false,
	}
	for reply, want := range tests {
		raw := []byte(strings.Replace(good, "REPLY", reply, 1))
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if got := schema.Validate(v) == nil; got != want {
			t.Errorf("%s: the schema says %v", reply, got)
		}
		var sc contract.Scenario
		err := json.Unmarshal(raw, &sc)
		if err == nil {
			err = sc.Validate()
		}
		if got := err == nil; got != want {
			t.Errorf("%s: the program says %v (%v)", reply, got, err)
		}
	}
}
