package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/run"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// exitHost is the exit code of a played child whose host did something else
// than the recorded one (docs/PLAY.md).
const exitHost = 64

// judge holds a live run against its fixture.
func (f *fixture) judge(row *Row, live *played) {
	find := func(format string, args ...any) { row.Findings = append(row.Findings, fmt.Sprintf(format, args...)) }
	code, signal, ended := live.transcript.Exit()
	wantCode, wantSignal, wantEnded := f.want.Exit()
	row.Exit, row.Ended = exitText(code, signal), ended
	row.Stdin = f.closed(live.script.closedAt)
	if code != nil && *code == exitHost && (wantCode == nil || *wantCode != exitHost) {
		find("the host did not do what the recorded one did: %s", lastLine(live.transcript.Bytes(transcript.CLIToServer, transcript.Stderr)))
		return
	}
	if want := exitText(wantCode, wantSignal); row.Exit != want || ended != wantEnded {
		find("exit %s by %s, recorded %s by %s", row.Exit, ended, want, wantEnded)
	}
	for _, s := range []transcript.Stream{transcript.Stdout, transcript.Stderr} {
		if !bytes.Equal(live.transcript.Bytes(transcript.CLIToServer, s), f.want.Bytes(transcript.CLIToServer, s)) {
			find("%s is not as recorded", s)
		}
	}
	if want := f.closed(f.closes()); row.Stdin != want {
		find("stdin was closed at %s, by the recording at %s", row.Stdin, want)
	}
	if live.result.StdinEnd == "unread" {
		find("the child did not take all of its stdin")
	}
	f.readings(row, merge(f.want, live.transcript, f.mode), find)
}

// closed is when the host closed stdin, for people.
func (f *fixture) closed(line int) string {
	switch {
	case f.mode == contract.StdinNone || f.mode == contract.StdinPromptFile:
		return "none"
	case f.mode == contract.StdinText:
		return "at once"
	case line < 0:
		return "never"
	}
	return "line " + strconv.Itoa(line)
}

// closes returns the line of stdout after which the recording says that stdin
// is closed; -1 for never. For stream-json the consumer's reading of the whole
// fixture says so, for a two-way protocol its session, without any process.
func (f *fixture) closes() int {
	switch f.mode {
	case contract.StdinJSONLOpen:
		r, err := replay.OpenDesign(replay.Input{Transcript: f.want, Agent: f.record.Agent, Dialect: f.dialect})
		if err != nil {
			return -1
		}
		var book opendesign.StdinBook
		for i, e := range r.Events {
			if book.Observe(e) && r.Origins[i] >= 0 {
				return r.Origins[i] + 1
			}
		}
	case contract.StdinRPC:
		permission, _ := f.permission()
		s := &script{host: newHost(f.want, f.mode, f.dialect, permission), closedAt: -1}
		s.host.begin()
		for line := range f.want.Lines(transcript.CLIToServer, transcript.Stdout) {
			s.Output(transcript.Stdout, line)
		}
		return s.closedAt
	}
	return -1
}

// readings normalizes and reads the live run as both adapters do.
func (f *fixture) readings(row *Row, t *transcript.Transcript, find func(string, ...any)) {
	want, _, err := normalize.Shape(f.want, f.dialect, contract.LevelRuntimeObserved)
	if err != nil {
		find("the fixture has no shape: %v", err)
		return
	}
	got, _, err := normalize.Shape(t, f.dialect, contract.LevelRuntimeObserved)
	if err != nil || got.Signature != want.Signature {
		find("the played run has another shape")
	}
	in := replay.Input{Transcript: t, Agent: f.record.Agent, Dialect: f.dialect}
	goldens := map[string]string{replay.AdapterOpenDesign: f.record.ParserReplay.Golden, replay.AdapterReference: f.record.Extensions.ReferenceGolden}
	for _, adapter := range replay.Adapters {
		r, err := replay.Run(adapter, in)
		if err != nil {
			find("the %s adapter cannot read the played run: %v", adapter, err)
			continue
		}
		if r.Classifier != nil {
			row.Daemon = daemon(r)
			if shown, whole := shownStderr(r); whole && shown != string(t.Bytes(transcript.CLIToServer, transcript.Stderr)) {
				find("the daemon shows another stderr than the child printed")
			}
		}
		if problem := f.against(goldens[adapter], r); problem != "" {
			find("%s", problem)
		}
	}
}

// against holds a reading against its golden: events, result and failure.
func (f *fixture) against(golden string, r *replay.Reading) string {
	if golden == "" {
		return ""
	}
	have, err := replay.GoldenBytes(r)
	if err != nil {
		return err.Error()
	}
	want, err := f.opts.Registry.ReadFile(golden)
	if err != nil {
		return "the golden cannot be read: " + err.Error()
	}
	if bytes.Equal(have, want) {
		return ""
	}
	var a, b replay.Golden
	if json.Unmarshal(have, &a) != nil || json.Unmarshal(want, &b) != nil {
		return fmt.Sprintf("the %s golden is no golden", r.Adapter)
	}
	if a.Reading.RunResult != b.Reading.RunResult {
		return fmt.Sprintf("the %s adapter reads %s, its golden %s", r.Adapter, a.Reading.RunResult, b.Reading.RunResult)
	}
	if x, y := category(a.Reading.Failure), category(b.Reading.Failure); x != y {
		return fmt.Sprintf("the %s adapter classifies %s, its golden %s", r.Adapter, x, y)
	}
	return fmt.Sprintf("the %s adapter reads other events than its golden has", r.Adapter)
}

func category(f *contract.FailureClassification) string {
	if f == nil {
		return "no failure"
	}
	return string(f.Category) + "/" + f.Detail
}

// daemon says how the consumer's daemon closed the run.
func daemon(r *replay.Reading) string {
	reason := ""
	for _, e := range r.Classifier.Events {
		var d struct {
			Type   string `json:"type"`
			Reason string `json:"rpc_close_reason"`
		}
		if e.Event == "diagnostic" && json.Unmarshal(e.Data, &d) == nil && d.Type == "runtime_close" {
			reason = d.Reason
		}
	}
	return r.Classifier.Status.Status + " (" + reason + ")"
}

// shownStderr joins the stderr that the daemon showed; whole says that none of
// it was dropped for its length. v0.19.2 filters only the agent amr, of
// which there is no fixture.
func shownStderr(r *replay.Reading) (text string, whole bool) {
	for _, e := range r.Classifier.Events {
		var d struct {
			Chunk string `json:"chunk"`
		}
		if e.Event == "stderr" && json.Unmarshal(e.Data, &d) == nil {
			text += d.Chunk
		}
	}
	return text, len(r.Classifier.Events) < run.KeptEvents
}

// merge puts the records of a live run into the order of its fixture. stdout
// and stderr are two pipes, and no order between them is promised; within each
// the order is the child's. A prompt that was read to its end is the fixture's.
func merge(want, live *transcript.Transcript, mode contract.StdinMode) *transcript.Transcript {
	type queue struct {
		dir    transcript.Dir
		stream transcript.Stream
	}
	rest := map[queue][]transcript.Record{}
	for _, r := range live.Records {
		q := queue{r.Dir, r.Stream}
		rest[q] = append(rest[q], r)
	}
	out := &transcript.Transcript{}
	for _, w := range want.Records {
		q := queue{w.Dir, w.Stream}
		switch list := rest[q]; {
		case w.Stream == transcript.Session: // no player writes that file: what it said stands
			out.Records = append(out.Records, w)
		case len(list) == 0:
		case w.DataRef != "" || w.Stream == transcript.Stdin && mode == contract.StdinText:
			out.Records = append(out.Records, w)
			rest[q] = list[1:]
		default:
			r := list[0]
			if w.Frame != nil { // a well-formed frame of a two-way protocol
				r.Frame, r.Data = bytes.TrimRight(r.Data, "\r\n"), nil
			}
			if bytes.Equal(r.Line(), w.Line()) { // what redaction noted of a line holds for the same line
				r.Deviations = w.Deviations
			}
			out.Records = append(out.Records, r)
			rest[q] = list[1:]
		}
	}
	if mode == contract.StdinText {
		delete(rest, queue{transcript.ServerToCLI, transcript.Stdin})
	}
	for _, r := range live.Records { // what the recording does not have
		q := queue{r.Dir, r.Stream}
		if list := rest[q]; len(list) > 0 {
			out.Records = append(out.Records, list[0])
			rest[q] = list[1:]
		}
	}
	return out
}

func lastLine(b []byte) string {
	var last []byte
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("error: ")) {
			last = line
		}
	}
	return string(bytes.TrimSpace(bytes.TrimPrefix(last, []byte("error: "))))
}
