package consume

import (
	"encoding/json"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/play/gate"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Run is what the daemon's whole run of a recorded child comes to.
type Run struct {
	RuntimeDef RuntimeDef `json:"runtimeDef"`
	// PromptFile is the place of the prompt in the registry. The recording does
	// not depend on it: what a played child is asked does not matter.
	PromptFile string `json:"promptFile"`
	Cwd        string `json:"cwd"`
	// WaitsForStdin says that the child lives on after its turn until the host
	// closes its stdin.
	WaitsForStdin bool        `json:"waitsForStdin"`
	Exit          Exit        `json:"exit"`
	ExpectedRun   ExpectedRun `json:"expectedRun"`
}

// RuntimeDef says how OpenDesign starts the agent, as far as a played child is
// concerned.
type RuntimeDef struct {
	ID           string             `json:"id"`
	StreamFormat string             `json:"streamFormat"`
	EventParser  string             `json:"eventParser,omitempty"`
	StdinMode    contract.StdinMode `json:"stdinMode"`
	ArgvTemplate []string           `json:"argvTemplate"`
}

// Exit is how the child ended: Code is nil when Signal ended it.
type Exit struct {
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
}

// ExpectedRun is what the daemon's run must come to.
type ExpectedRun struct {
	// StdinClosedAt is the number of lines of stdout after which the daemon
	// closes stdin: 0 for at once, null where there is none or the child's end
	// closes it.
	StdinClosedAt        *int       `json:"stdinClosedAt"`
	TurnCompletedCleanly bool       `json:"turnCompletedCleanly"`
	Events               []RunEvent `json:"events"`
	Status               RunStatus  `json:"status"`
}

// RunEvent is one event that the daemon sends.
type RunEvent struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// RunStatus is the daemon's last word.
type RunStatus struct {
	Status    string  `json:"status"` // succeeded, failed or canceled
	Error     *string `json:"error"`
	ErrorCode *string `json:"errorCode"`
	ExitCode  *int    `json:"exitCode"`
	Signal    *string `json:"signal"`
}

// run returns nil for a run that the daemon does not make so, or that cannot be
// played.
func (m *maker) run(o *store.Observed, t *transcript.Transcript, d *contract.Dialect, reading *replay.Reading) *Run {
	in := reading.Classifier
	if in == nil {
		return nil
	}
	rec, err := play.FromTranscript(t, o.Command.StdinMode)
	if err != nil {
		return nil
	}
	runtime, _ := opendesign.RuntimeOf(o.Agent)
	code, signal, _ := t.Exit()
	r := &Run{
		RuntimeDef: RuntimeDef{ID: o.Agent, StreamFormat: runtime.StreamFormat, EventParser: runtime.Kind, StdinMode: rec.Stdin, ArgvTemplate: o.Command.ArgvTemplate},
		PromptFile: "probes/" + o.Probe + "/prompt.md", Cwd: "/w", WaitsForStdin: rec.Waits(),
		Exit: Exit{code, optional(signal)},
		ExpectedRun: ExpectedRun{
			StdinClosedAt: gate.StdinCloses(m.reg, o, t, rec.Stdin, d), TurnCompletedCleanly: clean(runtime, reading), Events: []RunEvent{},
			Status: RunStatus{in.Status.Status, optional(in.Status.Error), optional(in.Status.ErrorCode), in.Status.ExitCode, optional(in.Status.Signal)},
		},
	}
	for _, e := range in.Events {
		r.ExpectedRun.Events = append(r.ExpectedRun.Events, RunEvent{e.Event, e.Data})
	}
	return r
}

// clean keeps the daemon's books on the turn, which it does for claude's stream
// alone.
func clean(r opendesign.Runtime, reading *replay.Reading) bool {
	if r.StreamFormat != "claude-stream-json" {
		return false
	}
	var book opendesign.StdinBook
	for _, e := range reading.Events {
		book.Observe(e)
	}
	return book.TurnCompletedCleanly
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
