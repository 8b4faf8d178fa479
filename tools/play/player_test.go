package play

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/transcripttest"
)

const (
	initialize   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	initialized  = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`
	newSession   = `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}`
	session      = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"<uuid:1>"}}`
	prompt       = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}}`
	mayI         = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{}}`
	allowed      = `{"jsonrpc":"2.0","id":0,"result":{"outcome":{}}}`
	mayIAlso     = `{"jsonrpc":"2.0","id":"b","method":"fs/read_text_file","params":{}}`
	allowedAlso  = `{"jsonrpc":"2.0","id":"b","result":{}}`
	update       = `{"jsonrpc":"2.0","method":"session/update","params":{}}`
	answered     = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
	user         = `{"type":"user","message":{"role":"user","content":[]}}`
	turnIsOver   = `{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":1,"output_tokens":1},"stop_reason":"end_turn"}`
	conversation = "< " + initialize + "\n> " + initialized + "\n< " + newSession + "\n> " + session + "\n< " + prompt +
		"\n> " + mayI + "\n> " + mayIAlso + "\n< " + allowed + "\n< " + allowedAlso + "\n> " + update + "\n> " + answered + "\nexit 0"
)

// dialogue plays a fixture against a host that is given each line of stdout and
// says what to write, where "EOF" closes stdin. first is written at the start.
func dialogue(t *testing.T, tr *transcript.Transcript, first []string, host func(line string) []string) (stdout string, end Ending, err error) {
	t.Helper()
	rec, err := FromTranscript(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	said := make(chan []string, 1000)
	go func() {
		defer inW.Close()
		for lines := range said {
			for _, l := range lines {
				if l == "EOF" {
					return
				}
				fmt.Fprintln(inW, l)
			}
		}
	}()
	said <- first
	var seen strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(outR)
		for lines.Scan() {
			seen.WriteString(lines.Text() + "\n")
			if host != nil {
				said <- host(lines.Text())
			}
		}
	}()
	end, err = Play(rec, Options{Stdin: inR, Stdout: outW, Stderr: io.Discard})
	outW.Close()
	<-read
	close(said)
	inR.Close()
	return seen.String(), end, err
}

// A client that counts its requests in its own way is understood, and gets its
// own ids back; the agent's ids are the recording's.
func TestClientWithOtherIDs(t *testing.T) {
	replies := map[string][]string{
		`"id":"a"`: {strings.Replace(newSession, `"id":2`, `"id":"x\u0031"`, 1)},
		`"id":"x`:  {strings.Replace(prompt, `"id":3`, `"id":1`, 1)},
		`"id":"b"`: {allowedAlso, allowed}, // in another order than recorded
		`end_turn`: {"EOF"},
	}
	stdout, end, err := dialogue(t, transcripttest.Of(strings.Split(conversation, "\n")...), []string{strings.Replace(initialize, `"id":1`, `"id":"a"`, 1)},
		func(line string) []string {
			for mark, reply := range replies {
				if strings.Contains(line, mark) {
					return reply
				}
			}
			return nil
		})
	if err != nil || end != (Ending{}) {
		t.Fatalf("end %v, error %v", end, err)
	}
	want := strings.Join([]string{
		strings.Replace(initialized, `"id":1`, `"id":"a"`, 1), strings.Replace(session, `"id":2`, `"id":"x\u0031"`, 1),
		mayI, mayIAlso, update, strings.Replace(answered, `"id":3`, `"id":1`, 1),
	}, "\n") + "\n"
	if stdout != want {
		t.Errorf("stdout:\n%swant:\n%s", stdout, want)
	}
}

// What a host does differently is named.
func TestViolations(t *testing.T) {
	acp := strings.Split(conversation, "\n")
	for _, c := range []struct {
		name  string
		lines []string
		said  []string
		want  string // part of the complaint, "" for none
	}{
		{"another request", acp, []string{newSession}, `step 2 of the recording: the client sent "request session/new" where the recorded one sent "request initialize"`},
		{"no frame", acp, []string{"hello"}, `the client sent a line that is no frame`},
		{"an error instead of an answer", acp, []string{initialize, newSession, prompt, `{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}`, "EOF"}, "stdin was closed"},
		{"the end too soon", acp, []string{initialize, "EOF"}, "stdin was closed"},
		{"one frame more", acp, []string{initialize, newSession, prompt, allowed, allowedAlso, prompt}, `the client sent "request session/prompt" after the end`},
		{"an answer to nothing", acp, []string{initialize, newSession, prompt, allowed, allowedAlso, `{"jsonrpc":"2.0","id":77,"result":{}}`}, `the client sent "answer" to "77" after the end`},
		{"a turn cut short", []string{"< " + user, "> " + `{"type":"system","subtype":"init"}`, "< " + user, "> " + turnIsOver, "exit 0"}, []string{user, "EOF"}, "stdin was closed"},
		{"another turn", []string{"< " + user, "> " + turnIsOver, "exit 0"}, []string{user, user}, `the client sent "user" after the end`},
		{"garbage that was recorded", []string{"< " + initialize, "< garbage", "> " + initialized, "exit 1"}, []string{initialize, "other garbage"}, ""},
		{"no end where none was waited for", []string{"< " + initialize, "> " + initialized, "exit 1"}, []string{initialize}, ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			_, _, err := dialogue(t, transcripttest.Of(c.lines...), c.said, nil)
			var v *Violation
			if c.want == "" {
				if err != nil {
					t.Errorf("complaint: %v", err)
				}
				return
			}
			if !errors.As(err, &v) || !strings.Contains(v.Error(), c.want) {
				t.Errorf("complaint %v, want one with %q", err, c.want)
			}
		})
	}
}

// The end of stdin counts as early until the step is played that ends the turn.
func TestEarlyEnd(t *testing.T) {
	h := newHost(strings.NewReader(""))
	h.step.Store(3)
	for range h.frames {
	}
	if h.earlyEnd(h.at()+1) == nil || h.earlyEnd(h.at()) != nil || h.earlyEnd(-1) != nil {
		t.Errorf("stdin ended in step %d", h.at())
	}
}

func (h *host) at() int { return int(h.endedAt.Load()) }

// A stream-json child lives until its stdin ends, and dies without it if the
// turn never ended.
func TestStreamJSON(t *testing.T) {
	first := `{"type":"system","subtype":"init"}`
	stdout, end, err := dialogue(t, transcripttest.Of("< "+user, "> "+first, "> "+turnIsOver, "exit 3"), []string{user}, func(line string) []string {
		if strings.Contains(line, "result") {
			return []string{"EOF"}
		}
		return nil
	})
	if err != nil || end.Code != 3 || stdout != first+"\n"+turnIsOver+"\n" {
		t.Errorf("end %v, error %v, stdout %q", end, err, stdout)
	}
	if _, end, err := dialogue(t, transcripttest.Of("< "+user, "> "+first, "exit SIGSEGV"), []string{user}, nil); err != nil || end.Signal != "SIGSEGV" {
		t.Errorf("a crash in the turn: end %v, error %v", end, err)
	}
}

func TestPromptIsReadToItsEnd(t *testing.T) {
	rec, err := FromTranscript(transcripttest.Of("< prompt", "> {}", "! note", "> {}", "exit 0"), "")
	if err != nil {
		t.Fatal(err)
	}
	stdin := strings.NewReader("a prompt\nof two lines")
	var stdout, stderr bytes.Buffer
	end, err := Play(rec, Options{Stdin: stdin, Stdout: &stdout, Stderr: &stderr})
	if err != nil || end != (Ending{}) || stdout.String() != "{}\n{}\n" || stderr.String() != "note\n" || stdin.Len() != 0 {
		t.Errorf("end %v, error %v, stdout %q, stderr %q, %d bytes of the prompt unread", end, err, stdout.String(), stderr.String(), stdin.Len())
	}
}

// A recording without an end is none.
func TestNotPlayable(t *testing.T) {
	if _, err := FromTranscript(transcripttest.Of("> {}"), ""); !errors.Is(err, ErrNotPlayable) {
		t.Errorf("error %v", err)
	}
}

// What a CLI wrote to its session file is not played: it passed through no pipe.
func TestSessionFileIsNotPlayed(t *testing.T) {
	tr := transcripttest.Of("> {}", "exit 0")
	tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToFile, Stream: transcript.Session, Data: []byte("{}\n")})
	rec, err := FromTranscript(tr, "")
	if err != nil || len(rec.steps) != len(tr.Records)-1 {
		t.Errorf("%d steps of %d records, %v", len(rec.steps), len(tr.Records), err)
	}
}

// The stdin mode is told from what was written there.
func TestStdinMode(t *testing.T) {
	for want, line := range map[contract.StdinMode]string{
		contract.StdinNone: "> {}", contract.StdinText: "< prompt", contract.StdinJSONLOpen: "< " + user, contract.StdinRPC: "< " + initialize,
	} {
		rec, err := FromTranscript(transcripttest.Of(line, "exit 0"), "")
		if err != nil || rec.Stdin != want {
			t.Errorf("%s: mode %q, error %v", want, rec.Stdin, err)
		}
	}
	rec, err := FromTranscript(transcripttest.Of(`< {"id":1,"type":"prompt","message":"x"}`, "exit 0"), "")
	if err != nil || rec.Stdin != contract.StdinRPC {
		t.Errorf("pi: mode %q, error %v", rec.Stdin, err)
	}
}

// Foreign frames never change what is not an answer, and never crash.
func FuzzFrames(f *testing.F) {
	for _, l := range strings.Split(conversation, "\n") {
		f.Add([]byte(l), "1", "99")
	}
	f.Add([]byte(`{"id":1,"type":"response","id":2}`), "2", "true")
	f.Fuzz(func(t *testing.T, data []byte, recorded, live string) {
		m := ids{recorded: live}
		got := m.toClient(data)
		if !bytes.Contains(data, []byte(recorded)) && !bytes.Equal(got, data) {
			t.Errorf("%q became %q although it has no id %q", data, got, recorded)
		}
		if bytes.Count(got, []byte("\n")) != bytes.Count(data, []byte("\n"))+strings.Count(live, "\n")*strings.Count(string(got), live) && !strings.Contains(live, "\n") {
			t.Errorf("%q has another number of lines than %q", got, data)
		}
		if out := (ids{}).toClient(data); !bytes.Equal(out, data) {
			t.Errorf("without ids %q became %q", data, out)
		}
	})
}

// A damaged fixture or bundle is refused or becomes a recording; neither makes
// trouble.
func FuzzRecordings(f *testing.F) {
	var b bytes.Buffer
	if err := transcripttest.Of("< prompt", "> {}", "exit 0").WriteSanitized(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("agent-contracts bundle\x00\x01\x02\x05\x03abc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if tr, err := transcript.ReadSanitized(bytes.NewReader(b)); err == nil {
			_, _ = FromTranscript(tr, "")
		}
		if r, err := transcript.ReadBundle(bytes.NewReader(b)); err == nil {
			if rec, err := FromBundle(r, ""); err == nil && len(rec.steps) == 0 {
				t.Error("a recording without steps")
			}
		}
	})
}
