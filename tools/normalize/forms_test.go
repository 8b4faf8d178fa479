package normalize_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
	"pgregory.net/rapid"
)

// A frame of a form that was met adds to a shape what it would add alone.
func TestFormsChangeNoShape(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &all[rapid.IntRange(0, len(all)-1).Draw(t, "stream")]
		var b strings.Builder
		for range rapid.IntRange(2, 30).Draw(t, "lines") {
			line := string(rapid.SampledFrom(s.frames).Draw(t, "frame"))
			switch v, err := rawjson.Parse([]byte(line)); rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				if err == nil {
					line = string(respell(t, v, nil))
				}
			case 1, 2:
				if err == nil && len(scalars(v)) > 0 {
					from, to := rapid.SampledFrom(scalars(v)).Draw(t, "scalar").Range()
					value := rapid.SampledFrom([]string{`""`, `"x"`, `"a b"`, `"toolu_1"`, "0", "1", "1e3"}).Draw(t, "value")
					line = line[:from] + value + line[to:]
				}
			case 3:
				line = strings.Replace(line, "}", `,"type":"again","z":1,"z":"y"}`, 1)
			}
			b.WriteString(line + "\n")
		}
		shape := func(n *normalize.Normalizer) string {
			x, notes, err := n.Shape(stdout(b.String()), contract.LevelSyntheticMock)
			j, _ := json.Marshal(x)
			return fmt.Sprintf("%s %+v %v", j, notes, err)
		}
		quick, err := normalize.New(s.d)
		slow, err2 := normalize.New(s.d)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if got, want := shape(quick), shape(slow.Plod()); got != want {
			t.Fatalf("%s:\n%s\nwant\n%s\nof\n%s", s.name, got, want, b.String())
		}
	})
}

func scalars(v rawjson.Value) (list []rawjson.Value) {
	for c := range v.Children() {
		list = append(list, scalars(c)...)
	}
	if k := v.Kind(); k == rawjson.String || k == rawjson.Number {
		list = append(list, v)
	}
	return list
}
