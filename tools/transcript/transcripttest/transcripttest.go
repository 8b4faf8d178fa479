// Package transcripttest makes transcripts for tests out of lines that a
// reader takes in at a glance.
package transcripttest

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Of makes the transcript of a child that was started. Each line is one record:
// "< " was written to the child ("< prompt" is a whole prompt by reference),
// "> " and "! " were printed on stdout and stderr, and "exit N", "exit SIGTERM",
// "kill REASON SIGTERM" and "timeout REASON SIGTERM" befell it.
func Of(lines ...string) *transcript.Transcript {
	out := &transcript.Transcript{Records: []transcript.Record{{Dir: transcript.Process, Event: transcript.EventSpawn}}}
	for _, l := range lines {
		out.Records = append(out.Records, record(l))
	}
	return out
}

// TwoWay is Of for a two-way protocol: what is a JSON object on stdin and stdout
// is a frame.
func TwoWay(lines ...string) *transcript.Transcript {
	out := Of(lines...)
	for i := range out.Records {
		r := &out.Records[i]
		if s := strings.TrimSuffix(string(r.Data), "\n"); r.Stream != transcript.Stderr && strings.HasPrefix(s, "{") {
			r.Frame, r.Data = []byte(s), nil
		}
	}
	return out
}

func record(line string) transcript.Record {
	word, rest, _ := strings.Cut(line, " ")
	r := transcript.Record{Dir: transcript.CLIToServer, Data: []byte(rest + "\n")}
	switch word {
	case "<":
		r.Dir, r.Stream = transcript.ServerToCLI, transcript.Stdin
		if rest == "prompt" {
			r.Data, r.DataRef = nil, "prompt"
		}
	case ">":
		r.Stream = transcript.Stdout
	case "!":
		r.Stream = transcript.Stderr
	case "exit":
		r = transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, Signal: rest}
		var code int
		if _, err := fmt.Sscan(rest, &code); err == nil {
			r.ExitCode, r.Signal = &code, ""
		}
	default:
		r = transcript.Record{Dir: transcript.Process, Event: word}
		r.Reason, r.Signal, _ = strings.Cut(rest, " ")
	}
	return r
}
