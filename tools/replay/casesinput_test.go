package replay_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// caseInput is the input of a case or of one of its variants.
type caseInput struct {
	agent, dialect string
	stdout, stderr []byte
	process        *caseProcess
	records        *transcript.Transcript // instead of the above
	cancelled      bool
}

func (c *foreignCase) load() (*caseInput, error) {
	in := &caseInput{agent: c.Agent, dialect: c.dialect(), process: c.Input.Process}
	for _, name := range c.Input.Files {
		b, err := os.ReadFile(filepath.Join(c.dir, filepath.Base(name)))
		if err != nil {
			return nil, fmt.Errorf("cannot read %s", name)
		}
		switch {
		case strings.HasPrefix(c.Input.Format, "transcript-jsonl") && strings.HasSuffix(name, ".jsonl"):
			if in.records, err = transcript.ReadSanitized(bytes.NewReader(b)); err != nil {
				return nil, err
			}
			in.end()
		case name == "stderr.txt":
			in.stderr = b
		case strings.HasSuffix(name, ".hex"):
			if b, err = hex.DecodeString(strings.Join(strings.Fields(string(b)), "")); err != nil {
				return nil, err
			}
			if strings.HasPrefix(name, "stderr") {
				in.stderr = b
			} else {
				in.stdout = b
			}
		case name == "chunks.json":
			var chunks []string
			if err := json.Unmarshal(b, &chunks); err != nil {
				return nil, err
			}
			if in.stdout, err = hex.DecodeString(strings.Join(chunks, "")); err != nil {
				return nil, err
			}
		case name == "input.jsonl" || name == "stdout.txt" || name == "version.txt":
			in.stdout = b
		case strings.HasPrefix(name, "help"): // of another process than the run
		default:
			return nil, fmt.Errorf("input file %s", name)
		}
	}
	return in, nil
}

func (in *caseInput) read() (*reference.Reading, error) {
	t := in.records
	if t == nil {
		t = &transcript.Transcript{}
		t.Records = append(t.Records, records(transcript.Stdout, in.stdout)...)
		t.Records = append(t.Records, records(transcript.Stderr, in.stderr)...)
		t.Records = append(t.Records, in.ending()...)
	}
	return reference.Read(t, &contract.Dialect{ID: in.dialect}, in.agent)
}

func records(s transcript.Stream, b []byte) []transcript.Record {
	var out []transcript.Record
	for line := range bytes.Lines(b) {
		out = append(out, transcript.Record{Dir: transcript.CLIToServer, Stream: s, Data: line, Deviations: transcript.ByteDeviations(line)})
	}
	return out
}

func (in *caseInput) ending() []transcript.Record {
	p := in.process
	if p == nil {
		return nil
	}
	var out []transcript.Record
	switch {
	case in.cancelled:
		out = append(out, transcript.Record{Dir: transcript.Process, Event: transcript.EventKill, Signal: "SIGTERM", Reason: transcript.ReasonCancelled})
	case p.TimedOut:
		reason := transcript.ReasonWallTimeout
		if p.Trigger == "inactivity_watchdog" {
			reason = transcript.ReasonIdleTimeout
		}
		out = append(out, transcript.Record{Dir: transcript.Process, Event: transcript.EventTimeout, Signal: "SIGTERM", Reason: reason})
	}
	return append(out, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: p.ExitCode, Signal: p.Signal})
}

// end adds to the records what only the case says of the process's end.
func (in *caseInput) end() {
	last := func(event string) int {
		return slices.IndexFunc(in.records.Records, func(r transcript.Record) bool { return r.Event == event })
	}
	exit := last(transcript.EventExit)
	if exit < 0 {
		in.records.Records = append(in.records.Records, in.ending()...)
	} else if p := in.process; p != nil && p.TimedOut && last(transcript.EventTimeout) < 0 && last(transcript.EventKill) < 0 {
		in.records.Records = slices.Insert(in.records.Records, exit, in.ending()[0])
	}
}

// variants runs the small changes of the input that have another verdict.
func (j *judge) variants(in *caseInput) {
	var list []map[string]json.RawMessage
	if raw, ok := j.c.Expect["variants"]; ok && json.Unmarshal(raw, &list) != nil {
		j.skipped = append(j.skipped, "variants")
		return
	}
	var control map[string]json.RawMessage
	if raw, ok := j.c.Expect["control"]; ok && json.Unmarshal(raw, &control) == nil {
		list = append(list, control)
	}
	for i, v := range list {
		name := fmt.Sprintf("variant %d ", i+1)
		changed, ok := in.vary(v)
		if !ok {
			j.skipped = append(j.skipped, strings.TrimSpace(name))
			continue
		}
		expect := maps.Clone(v)
		for _, k := range changes {
			delete(expect, k)
		}
		j.expect(name, changed, expect)
	}
}

// changes are the members of a variant that change the input.
var changes = []string{"message", "extra_stderr", "stdout", "stderr", "exit_code", "cancel_requested", "no_kill_record", "drop_frames", "timed_out",
	"no_response", "text", "agent"}

// vary applies a variant; false if it asks for a change that is not known.
func (in *caseInput) vary(v map[string]json.RawMessage) (*caseInput, bool) {
	out := *in
	if in.process != nil {
		p := *in.process
		out.process = &p
	}
	if in.records != nil {
		out.records = &transcript.Transcript{Records: slices.Clone(in.records.Records)}
	}
	known := false
	for k, raw := range v {
		if !slices.Contains(changes, k) {
			if statements[k] == nil {
				return nil, false
			}
			if k == "run_result" {
				out.change(k, raw)
			}
			continue
		}
		known = true
		if !out.change(k, raw) {
			return nil, false
		}
	}
	return &out, known
}

func (in *caseInput) change(key string, raw json.RawMessage) bool {
	switch key {
	case "message":
		in.stdout = withMessage(in.stdout, word(raw))
	case "extra_stderr":
		in.stderr = append(slices.Clone(in.stderr), word(raw)+"\n"...)
	case "stdout":
		in.stdout = []byte(word(raw))
	case "stderr":
		in.stderr = []byte(word(raw))
	case "exit_code":
		return in.process != nil && json.Unmarshal(raw, &in.process.ExitCode) == nil
	case "timed_out":
		return in.process != nil && json.Unmarshal(raw, &in.process.TimedOut) == nil
	case "run_result":
		if strings.HasSuffix(word(raw), " if cancel requested") {
			in.cancelled = true
		}
	case "text":
		in.stderr = []byte(word(raw) + "\n")
	case "agent":
		in.agent = word(raw)
	case "no_response":
		in.hangInQuestion()
	case "cancel_requested":
		in.cancelled = true
		if in.records != nil {
			for i := range in.records.Records {
				if r := &in.records.Records[i]; r.Event == transcript.EventKill {
					r.Reason = transcript.ReasonCancelled
				}
			}
		}
	case "no_kill_record":
		in.dropRecords(func(r *transcript.Record) bool { return r.Event == transcript.EventKill })
	case "drop_frames":
		tag := []byte(`"type":"` + word(raw) + `"`)
		in.dropRecords(func(r *transcript.Record) bool { return bytes.Contains(r.Line(), tag) })
	}
	return true
}

func (in *caseInput) dropRecords(drop func(*transcript.Record) bool) {
	if in.records == nil {
		return
	}
	in.records.Records = slices.DeleteFunc(in.records.Records, func(r transcript.Record) bool { return drop(&r) })
}

// withMessage replaces the message of every error frame of Codex.
func withMessage(stdout []byte, message string) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(stdout) {
		var f map[string]any
		if json.Unmarshal(line, &f) != nil {
			out.Write(line)
			continue
		}
		switch f["type"] {
		case "error":
			f["message"] = message
		case "turn.failed":
			f["error"] = map[string]any{"message": message}
		}
		b, err := json.Marshal(f)
		if err != nil {
			return stdout
		}
		out.Write(append(b, '\n'))
	}
	return out.Bytes()
}

// hangInQuestion ends the records at the CLI's last question, which nobody
// answers until the harness loses patience.
func (in *caseInput) hangInQuestion() {
	if in.records == nil {
		return
	}
	last := 0
	for i := range in.records.Records {
		if bytes.Contains(in.records.Records[i].Line(), []byte(`"type":"extension_ui_request"`)) {
			last = i
		}
	}
	in.records.Records = append(in.records.Records[:last+1],
		transcript.Record{Dir: transcript.Process, Event: transcript.EventTimeout, Signal: "SIGTERM", Reason: transcript.ReasonIdleTimeout},
		transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, Signal: "SIGTERM"})
}

// stderrOfProducts judges a case with one stderr for each product of a name.
func (j *judge) stderrOfProducts() bool {
	files := slices.DeleteFunc(slices.Clone(j.c.Input.Files), func(n string) bool {
		return !strings.HasPrefix(n, "stderr.") || n == "stderr.txt" || strings.HasSuffix(n, ".hex")
	})
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(j.c.dir, filepath.Base(name)))
		if err != nil {
			j.skipped = append(j.skipped, name)
			continue
		}
		for k := range j.c.Expect {
			j.read[k] = true
		}
		j.expect(name+" ", &caseInput{agent: j.c.Agent, dialect: j.c.dialect(), process: j.c.Input.Process, stderr: b}, j.c.Expect)
	}
	return len(files) > 0
}

// modelLists judges a case of model lists: the models of stdout.txt, and for a
// second file stdout.X.txt those of the member models_X.
func (j *judge) modelLists() {
	for _, name := range j.c.Input.Files {
		middle, ok := strings.CutPrefix(strings.TrimSuffix(name, ".txt"), "stdout")
		raw, has := j.c.Expect["models"+strings.Replace(middle, ".", "_", 1)]
		if !ok || !has {
			continue
		}
		var want []string
		b, err := os.ReadFile(filepath.Join(j.c.dir, filepath.Base(name)))
		if err != nil || json.Unmarshal(raw, &want) != nil {
			j.skipped = append(j.skipped, name)
			continue
		}
		if got := reference.Models(string(b)); !slices.Equal(got, want) {
			j.bad("%s lists %v, want %v", name, got, want)
		}
		j.checked = append(j.checked, name)
	}
}

// wordLists judges a case that lists texts: those of texts.txt mean a hard
// quota, those of not_limits.txt no limit at all.
func (j *judge) wordLists() {
	for _, name := range j.c.Input.Files {
		b, err := os.ReadFile(filepath.Join(j.c.dir, filepath.Base(name)))
		if err != nil || name != "texts.txt" && name != "not_limits.txt" {
			continue
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			f := reference.ClassifyText(j.c.Agent, line)
			limit := f != nil && f.Category == contract.CategoryRateLimit
			switch {
			case line == "":
			case name == "texts.txt" && (!limit || f.Detail != "hard_quota" || f.Retryable):
				j.bad("%q is no hard quota: %+v", line, f)
			case name == "not_limits.txt" && limit:
				j.bad("%q is taken for a limit", line)
			}
		}
		j.checked = append(j.checked, name)
	}
}
