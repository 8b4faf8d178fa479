package contract

import (
	"encoding/json"
	"testing"
)

func TestScenarioFault(t *testing.T) {
	for fault, ok := range map[string]bool{
		`{"kind":"malformed_json","line":2}`:                                  true,
		`{"kind":"malformed_json","line":2,"exit_code":1}`:                    true,
		`{"kind":"malformed_json"}`:                                           false,
		`{"kind":"partial_line"}`:                                             true,
		`{"kind":"partial_line","line":1}`:                                    false,
		`{"kind":"unknown_event","line":1,"frames":{"codex":{"type":"new"}}}`: true,
		`{"kind":"unknown_event","line":1,"frames":{"codex":"new"}}`:          false,
		`{"kind":"unknown_event","line":1,"frames":{}}`:                       false,
		`{"kind":"unknown_event","line":1}`:                                   false,
		`{"kind":"no_output","exit_code":3}`:                                  true,
		`{"kind":"no_output"}`:                                                false,
		`{"kind":"exit_code","exit_code":256}`:                                false,
		`{"kind":"exit_code","exit_code":0}`:                                  true,
		`{"kind":"lightning"}`:                                                false,
		`{"kind":"no_output","exit_code":1,"why":"x"}`:                        false,
	} {
		doc := []byte(`{"schema_version":1,"model":"m","max_retries":0,"timeouts":{"wall_ms":1,"idle_ms":1},"turns":[],"fault":` + fault + `}`)
		var s Scenario
		err := json.Unmarshal(doc, &s)
		if err == nil {
			err = s.Validate()
		}
		if (err == nil) != ok {
			t.Errorf("%s: error %v", fault, err)
		}
		if problems := Validate(KindScenario, "probes/x/scenario.json", doc); HasErrors(problems) == ok {
			t.Errorf("%s: the schema says %v", fault, problems)
		}
	}
}
