package requests

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Whatever a host hands back under whatever data_schema, it is taken or refused
// for a reason; what is taken arrives as it was given.
func FuzzAnswer(f *testing.F) {
	f.Add(value, `{"value":"staging"}`)
	f.Add(value, `{"output":"staging"}`)
	f.Add(`{"type":"object"}`, `{"a":[1,2.5,null,{"b":"é"}]}`)
	f.Add(`{"$ref":"#/x"}`, `{}`)
	f.Add(`{"type":"object","required":["value"],"properties":{"value":{"pattern":"("}}}`, `{"value":"x"}`)
	f.Add(`[]`, `{"value":"x","value":"y"}`)
	f.Fuzz(func(t *testing.T, schema, data string) {
		q := InputQuestion("which environment?", json.RawMessage(schema))
		r, err := q.request("r", "s", 0, now)
		if err != nil {
			return // nobody is asked such a thing
		}
		a := byHand(*r, data)
		if err := Check(r, &a); err != nil {
			var refused *RefusedError
			if !errors.As(err, &refused) || len(refused.Problems) == 0 {
				t.Errorf("refused without a reason: %v", err)
			}
			return
		}
		b, err := contract.Encode(a)
		must(t, err)
		back, problems := contract.Decode[contract.Answer](&contract.Validator{}, "", b)
		if contract.HasErrors(problems) || !same(back, &a) {
			t.Errorf("%q came back as %q (%v)", data, back.Data, problems)
		}
	})
}
