package capture

import (
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A release that ends with an error before it asks the model anything or prints
// a frame refuses its argv, also where the prompt on stdin is a frame (Claude
// before 1.0.58 does not know --session-id).
func TestRefused(t *testing.T) {
	frame := func(direction string) []contract.FrameShape {
		return []contract.FrameShape{{Direction: direction, EventType: "user"}}
	}
	for _, c := range []struct {
		name   string
		frames []contract.FrameShape
		exit   contract.ExitClass
		model  int
		want   bool
	}{
		{"silent", nil, contract.ExitNonzero, 0, true},
		{"only told something", frame("server->cli"), contract.ExitNonzero, 0, true},
		{"printed a frame", frame("cli->server"), contract.ExitNonzero, 0, false},
		{"asked the model", nil, contract.ExitNonzero, 1, false},
		{"ended well", nil, contract.ExitSuccess, 0, false},
	} {
		job := &cellJob{cell: Cell{Probe: "chat-text-success", Profile: contract.ProfileProduction}, probe: &Probe{}}
		rec := &recorded{requests: contract.RequestSummary{Model: c.model}}
		d := &Derived{Fixture: []byte("{}\n"), Shape: &contract.Shape{FrameShapes: c.frames, FrameCount: len(c.frames), Exit: c.exit}}
		if got := refused(job, rec, d); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
