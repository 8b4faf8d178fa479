package opendesign

import "fmt"

// Exit is what OpenDesign knows about a run when its child has closed. The
// JSON names are OpenDesign's.
type Exit struct {
	CancelRequested       bool   `json:"cancelRequested"`
	Code                  *int   `json:"code"`   // nil when a signal ended the child
	Signal                string `json:"signal"` // "" without
	ACPCleanCompletion    bool   `json:"acpCleanCompletion"`
	ArtifactQuietShutdown bool   `json:"artifactQuietShutdownRequested"`
	TurnCompletedCleanly  bool   `json:"turnCompletedCleanly"`
	ArtifactProduced      bool   `json:"artifactProducedThisRun"`
}

// The statuses of a run.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
	Canceled  = "canceled"
)

// CloseStatus returns the status of a run whose close was not decided before
// (report on OpenDesign v0.19.2, section 4, "Order at child close", item 10).
func CloseStatus(x Exit) string {
	signalled := x.Code == nil
	switch {
	case x.CancelRequested:
		return Canceled
	case !signalled && *x.Code == 0:
		return Succeeded
	case x.ACPCleanCompletion && (signalled && x.Signal == "SIGTERM" || !signalled && *x.Code == 130 && x.Signal == ""):
		return Succeeded
	case x.ArtifactQuietShutdown && signalled && (x.Signal == "SIGTERM" || x.Signal == "SIGKILL"):
		return Succeeded
	case !signalled && x.ArtifactProduced, x.TurnCompletedCleanly:
		return Succeeded
	}
	return Failed
}

// Result returns the result for a status: success, cancelled, or failed for
// every other word.
func Result(status string) string {
	switch status {
	case Succeeded:
		return "success"
	case Canceled:
		return "cancelled"
	}
	return "failed"
}

// ErrorCode returns the error code of a finished run, or "": the code that
// was set, else, for a failed run, one made from the signal or exit code.
func ErrorCode(status, set, signal string, code *int) string {
	switch {
	case Result(status) == "success":
		return ""
	case set != "" || Result(status) == "cancelled":
		return set
	case signal != "":
		return "AGENT_SIGNAL_" + signal
	case code != nil && *code != 0:
		return fmt.Sprintf("AGENT_EXIT_%d", *code)
	}
	return "AGENT_TERMINATED_UNKNOWN"
}
