package jobs

import (
	"errors"
	"fmt"
)

// Status is what a run is doing, or how it ended. The vocabulary is open:
// readers show it and never branch on it (D4).
type Status string

// The statuses that this program writes.
const (
	StatusPreparing    Status = "preparing"
	StatusRunning      Status = "running"
	StatusSuspended    Status = "suspended"
	StatusUnknown      Status = "unknown" // its process cannot be judged from here
	StatusExited       Status = "exited"  // its process is gone and recorded no end
	StatusCompleted    Status = "completed"
	StatusInconclusive Status = "inconclusive" // it ran to its end and cannot know
	StatusFailed       Status = "failed"
	StatusCancelled    Status = "cancelled"
	StatusKilled       Status = "killed" // by the signal that we delivered, without a word of its own
)

// Outcome says whether the work came out right. The set is closed (D4).
type Outcome string

// The outcomes.
const (
	Succeeded     Outcome = "succeeded"
	Failed        Outcome = "failed"
	Cancelled     Outcome = "cancelled"
	Indeterminate Outcome = "indeterminate"
)

// outcomes classifies every status: what a run that ended with it came to, ""
// for one that no run ends with. This is the only place that decides it; a
// status that is missing here fails a test.
var outcomes = map[Status]Outcome{
	StatusPreparing:    "",
	StatusRunning:      "",
	StatusSuspended:    "",
	StatusUnknown:      "",
	StatusExited:       Indeterminate,
	StatusKilled:       Indeterminate,
	StatusInconclusive: Indeterminate,
	StatusCompleted:    Succeeded,
	StatusFailed:       Failed,
	StatusCancelled:    Cancelled,
}

// The reason codes of ends and of waiting (FINE-PRINT 22 and 24).
const (
	ReasonDrift           = "drift"
	ReasonCannotKnow      = "cannot_know"
	ReasonRedactionFailed = "redaction_failed"
	ReasonPartial         = "partial"
	ReasonAwaitingAnswer  = "awaiting_answer"
	ReasonSpawnFailed     = "spawn_failed"
	ReasonRefused         = "refused"      // the command refused its input
	ReasonInterrupted     = "interrupted"  // by a signal, and it said so
	ReasonProcessGone     = "process_gone" // established by the reaper
	ReasonSignalled       = "signalled"    // the same, after a signal that we delivered
	ReasonFault           = "fault"        // of this program
)

// End is how a run ended. Once it is recorded nothing changes it.
type End struct {
	Status     Status  `json:"status"`
	Outcome    Outcome `json:"outcome"`
	ReasonCode string  `json:"reason_code"` // "" for none
	FinishedAt string  `json:"finished_at"`
	// By is who established it.
	By string `json:"by"`
	// Generation is the incarnation of the run that ended.
	Generation int `json:"generation"`
}

// Who can establish an end.
const (
	byRun      = "run"
	byProducer = "producer" // which could not start it
	byKill     = "kill"     // of a run that had no process
	byReaper   = "reaper"
)

// newEnd classifies a status that a run ends with.
func newEnd(s Status, reason, by string) (*End, error) {
	o := outcomes[s]
	if o == "" {
		return nil, fmt.Errorf("no run ends as %q", s)
	}
	return &End{Status: s, Outcome: o, ReasonCode: reason, By: by}, nil
}

// ErrEnded says that a run has its end already: the newer decision stays.
var ErrEnded = errors.New("the run has ended")

// ErrSuperseded says that a run has a newer incarnation than the one that
// wanted to decide about it, or waits for an answer.
var ErrSuperseded = errors.New("the run was suspended or resumed meanwhile")
