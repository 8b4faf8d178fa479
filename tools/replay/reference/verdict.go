package reference

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Ending is how the process ended, as the harness saw it.
type Ending struct {
	ExitCode *int
	Signal   string // "SIGTERM", "" if no signal ended the child
	// Cancelled says that the caller or the probe's script wanted the run to stop.
	Cancelled bool
	// TimedOut and Idle say that the harness ended a run that took too long,
	// or that was silent for too long.
	TimedOut, Idle bool
	// Killed says that the harness ended the run for another reason.
	Killed bool
	// NotStarted says that there never was a process.
	NotStarted bool
	// ArgsTooLong says that it was for an argument that the system does not take.
	ArgsTooLong bool
}

// EndingOf reads the process events of a transcript.
func EndingOf(t *transcript.Transcript) Ending {
	var e Ending
	for i := range t.Records {
		r := &t.Records[i]
		if r.Dir != transcript.Process {
			continue
		}
		switch r.Event {
		case transcript.EventExit:
			e.ExitCode, e.Signal = r.ExitCode, r.Signal
			return e // what follows only cleans up
		case transcript.EventTimeout:
			e.TimedOut = true
			e.Idle = r.Reason == transcript.ReasonIdleTimeout
		case transcript.EventKill:
			switch {
			case r.Cancels():
				e.Cancelled = true
			case r.Reason != transcript.ReasonLeftover:
				e.Killed = true
			}
		case transcript.EventSpawn:
			e.ArgsTooLong = r.Reason == transcript.ReasonArgsTooLong
			e.NotStarted = e.ArgsTooLong || r.Reason == transcript.ReasonNotStarted
		}
	}
	return e
}

// outcome is what the frames of a run came to, before the process's end is
// looked at.
type outcome struct {
	// reported is Reading.ReportedResult.
	reported string
	// ended says that the family's terminal frame closed the last turn, ok
	// that it and everything around it mean success.
	ended, ok bool
	// texts are error texts, the strongest first; code is what a structured
	// field says without words. Both count only when not ok.
	texts []string
	code  *verdict
	// textEnds says that a run of this family may end without its terminal
	// frame if text was the last thing: Claude and Copilot were seen to lose
	// the last line (cases 029, 058, 094). Codex runs without turn.completed
	// are incomplete (case 007).
	textEnds bool
	// plain says that stdout is text and has no frames.
	plain bool
	// before is the stage of a run that failed before it said anything.
	before contract.FailureStage
	// endless says that the format has no terminal frame.
	endless bool
	// cancelled says that the CLI reported a cancellation.
	cancelled bool
	// exits says what an exit code of this family means, nil for an unknown
	// one. printsErrors reports whether a stderr line (lower case) is the error
	// of a run whose frames say success, printsRetries whether it is a retry
	// notice. All may be nil.
	exits                       func(code int) *verdict
	printsErrors, printsRetries func(line string) bool
}

// exit reads the exit code in the family's own table.
func (o *outcome) exit(e Ending) *verdict {
	if o.exits == nil || e.ExitCode == nil || e.Signal != "" {
		return nil
	}
	return o.exits(*e.ExitCode)
}

// judge decides RunResult and Failure. The precedence is rule 1 of the cases:
// structured terminal frame, structured error without later success, what the
// harness did, exit code, stderr.
func (r *Reader) judge(e Ending) {
	o := r.format.outcome()
	out := r.run.out
	out.ReportedResult = o.reported
	r.before = contract.StageFirstTokenWait
	if o.before != "" {
		r.before = o.before
	}
	if o.plain || r.frames == 0 && o.textEnds && len(r.plain) > 0 {
		r.judgePlain(e, o)
	} else {
		r.judgeFrames(e, o)
	}
	if out.RunResult == contract.RunSuccess {
		r.judgeSession()
	}
	r.run.close()
	if out.RunResult == contract.RunFailed {
		out.LastWords = r.outsideFrames()
	}
	if out.RunResult == contract.RunSuccess {
		out.WeakSuccess = strings.TrimSpace(out.Text) == "" && len(out.Tools) == 0
	}
}

func (r *Reader) judgeFrames(e Ending, o outcome) {
	switch {
	case o.ended && o.ok:
		r.judgeSuccess(o)
	case o.cancelled:
		r.cancel()
	case o.ended || len(o.texts) > 0 || o.code != nil:
		if o.code == nil {
			o.code = o.exit(e)
		}
		v := classify(evidence{agent: r.agent, texts: o.texts, code: o.code, weak: r.stderr, started: r.started()})
		switch {
		case v != nil:
			r.fail(*v)
		case e.Cancelled:
			r.cancel()
		default:
			r.fail(streamError)
		}
	default:
		r.judgeEnd(e, o)
	}
	if !o.ended && !o.endless {
		r.run.out.signal(SignalMissingTerminal)
	}
}

// judgeSuccess decides a run whose frames say success. A family whose CLI is
// known to say so after an error has its stderr asked first.
func (r *Reader) judgeSuccess(o outcome) {
	if o.printsErrors == nil {
		r.succeedIfAlive()
		return
	}
	for l := range strings.Lines(string(r.stderr)) {
		norm := normalizeText(l)
		if !o.printsErrors(norm) {
			continue
		}
		v := classifyText(r.agent, norm)
		if v == nil {
			v = &streamError
		}
		r.run.failed(strings.TrimSpace(l))
		r.fail(*v)
		return
	}
	r.succeedIfAlive()
}

// judgeEnd decides a run whose frames stop before the terminal one.
func (r *Reader) judgeEnd(e Ending, o outcome) {
	alive := r.run.last == didText && !r.run.open()
	switch {
	case e.Cancelled:
		r.cancel()
	case e.TimedOut:
		r.judgeTimeout(e, o)
	case e.NotStarted || !clean(e) || e.Killed:
		r.judgeExit(e, o)
	case alive && o.textEnds:
		r.succeed()
	default:
		if v := r.lastWords(); v != nil {
			r.fail(*v)
		} else if r.sawLife() && r.run.last == didText {
			r.fail(terminatedUnknown)
		} else {
			r.fail(emptyOutput)
		}
	}
}

// lastWords classifies the texts outside the frames: a retry notice that
// nothing followed, stdout lines that are no frames, stderr.
func (r *Reader) lastWords() *verdict {
	var texts []string
	if r.run.notice != "" {
		texts = append(texts, r.run.notice)
	}
	if len(r.plain) > 0 {
		texts = append(texts, string(r.plain[max(0, len(r.plain)-maxPlainBytes):]))
	}
	return classify(evidence{agent: r.agent, texts: texts, weak: r.stderr, started: r.started()})
}

// started reports whether the CLI itself ran. An adapter of ACP speaks before
// the CLI behind it does.
func (r *Reader) started() bool {
	_, adapter := r.format.(*acp)
	return r.frames > 0 && !adapter
}

// outsideFrames joins the same texts for a reader: what is not blank of them.
func (r *Reader) outsideFrames() string {
	var texts []string
	for _, t := range []string{r.run.notice, strings.Join(tellingLines(r.stderr), "\n"), string(bytes.TrimSpace(stripTerminal(r.plain)))} {
		if t = strings.TrimSpace(t); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// judgeTimeout decides a run that the harness ended for its length. A run that
// hangs in a login or in its retries failed for that reason (research,
// error-texts row 23).
func (r *Reader) judgeTimeout(e Ending, o outcome) {
	if o.printsRetries != nil {
		for l := range strings.Lines(string(r.stderr)) {
			if o.printsRetries(normalizeText(l)) {
				r.run.notice = l
			}
		}
	}
	if v := r.lastWords(); v != nil && (v.Category == contract.CategoryAuth || r.run.notice != "") {
		r.fail(*v)
		return
	}
	v := timedOut
	if e.Idle {
		v = inactive
	}
	r.fail(v)
}

// judgeExit decides by exit code or signal; words on stdout or stderr say more
// unless the process crashed.
func (r *Reader) judgeExit(e Ending, o outcome) {
	byExit := exitVerdict(e)
	known := o.exit(e)
	if known != nil {
		byExit = *known
	}
	if v := r.lastWords(); v != nil && (byExit.Detail != "process_crashed" && byExit.Detail != "interrupted" || o.exits != nil && v.Category == contract.CategoryAuth) {
		byExit = *v
	}
	r.fail(byExit)
}

// judgePlain decides a run that printed text instead of frames.
func (r *Reader) judgePlain(e Ending, o outcome) {
	text := string(bytes.TrimSpace(stripTerminal(r.plain)))
	isError := wholeTextIsError(r.agent, text)
	if isError == nil && (o.plain || clean(e)) {
		r.run.text(text)
	}
	switch {
	case e.Cancelled:
		r.cancel()
	case e.TimedOut:
		if text != "" {
			o.printsRetries = nil // an answer followed
		}
		r.judgeTimeout(e, o)
	case e.NotStarted || !clean(e) || e.Killed:
		r.judgeExit(e, o)
	case isError != nil:
		r.fail(*isError)
	case text != "":
		r.succeed()
	default:
		if v := r.lastWords(); v != nil {
			r.fail(*v)
		} else {
			r.fail(emptyOutput)
		}
	}
	if o.plain && e.ExitCode != nil {
		r.run.out.Terminals = 1
	} else {
		r.run.out.signal(SignalMissingTerminal)
	}
}

// sawLife is rule 2 of the cases: text, a tool call or tokens.
func (r *Reader) sawLife() bool {
	if len(r.run.out.Tools) > 0 || r.run.out.TokensSeen() {
		return true
	}
	for _, s := range r.run.segs {
		if !s.dropped && s.text.Len() > 0 {
			return true
		}
	}
	return false
}

func (r *Reader) succeedIfAlive() {
	if r.sawLife() {
		r.succeed()
		return
	}
	r.fail(emptyOutput)
}

func (r *Reader) succeed() { r.run.out.RunResult = contract.RunSuccess }

func (r *Reader) cancel() {
	stage := contract.StageFirstTokenWait
	if r.run.open() || r.run.last == didAsk {
		stage = contract.StageToolExecution
	}
	r.run.out.RunResult = contract.RunCancelled
	r.run.out.Failure = &contract.FailureClassification{
		Category: contract.CategoryUserCancel, Detail: "user_cancelled", Stage: stage, UserAction: contract.ActionNone,
	}
}

// fail sets the failure. A verdict without a stage gets the one that the run
// had reached.
func (r *Reader) fail(v verdict) {
	f := contract.FailureClassification(v)
	if f.Stage == "" {
		f.Stage = r.stage()
	}
	r.run.out.RunResult = contract.RunFailed
	r.run.out.Failure = &f
}

func (r *Reader) stage() contract.FailureStage {
	switch {
	case r.run.open() || r.run.last == didToolResult || r.run.last == didAsk:
		return contract.StageToolExecution
	case r.run.last == didText:
		return contract.StageChildClose
	}
	return r.before
}

// clean reports whether the process ended by itself and says that all is
// well, or nobody saw it end.
func clean(e Ending) bool {
	return e.Signal == "" && (e.ExitCode == nil || *e.ExitCode == 0)
}
