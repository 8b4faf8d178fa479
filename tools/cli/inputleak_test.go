package cli

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// A file that claims to be a transcript or a recording and is none is refused
// without a byte of it.
func TestUnreadableInputSaysNothing(t *testing.T) {
	x, err := leak.Samples("github-pat", 1, rand.New(rand.NewPCG(3, 5)))
	if err != nil {
		t.Fatal(err)
	}
	s := x[0].Text
	head := `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"x"}` + "\n"
	for _, in := range []string{
		head + s, head + `{"dir":"` + s + `","stream":"stdout","at_ms":1,"data":"x"}`, head + `{"dir":"cli->server","stream":"` + s + `","at_ms":1}`,
		head + `{"dir":"cli->server","stream":"stdout","at_ms":"` + s + `"}`, head + `{"dir":"cli->server","` + s + `":1}`, head + `{"dir":"process","event":"` + s + `","at_ms":1}`,
		"agent-contracts bundle\x00" + s, "agent-contracts bundle\x00\x01\x02" + s + "\x00",
	} {
		_, err := parseInput("x.jsonl", []byte(in))
		if err != nil && strings.Contains(err.Error(), s[12:24]) {
			t.Errorf("the error for %d bytes quotes them", len(in))
		}
	}
}
