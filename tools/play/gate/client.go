package gate

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture/acpclient"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// told is what a recorded client was told before its session started, as far
// as its frames tell.
type told struct {
	opts        rpc.Options
	strict      bool   // it offers files or terminals, which the consumer does not
	mode        string // the session mode that it asked for
	auth        string // the method by which it authenticated
	attach      []acpclient.Attachment
	close       bool   // it closed the session
	resume      bool   // it asked for the sessions, or took one up without its history
	hello       []byte // its first lines, if they are not what a client sends
	cancelAfter int    // -1: it did not cancel
	files       files  // for each file request of the agent: what it got
}

// readClient reads the client's side of a transcript.
func readClient(t *transcript.Transcript) told {
	c := told{opts: rpc.Options{Cwd: "/w", Prompt: "What a played agent is asked does not matter."}, cancelAfter: -1}
	said := 0
	wants := map[string]bool{} // ids of the agent's file requests
	var first []byte
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Dir == transcript.Process {
			continue
		}
		line := rec.Line()
		v, err := rawjson.Parse(line)
		if err != nil {
			v = rawjson.Value{}
		}
		switch {
		case rec.Stream == transcript.Stdout:
			said++
			if strings.HasPrefix(v.Get("method").Str(), "fs/") {
				wants[string(v.Get("id").Raw())] = true
			}
		case rec.Stream == transcript.Stdin:
			if said == 0 {
				first = append(first, line...)
			}
			if !v.Get("method").Exists() && wants[string(v.Get("id").Raw())] {
				c.files = append(c.files, refusal(v.Get("error")))
			}
			c.frame(v, said)
		}
	}
	if v, err := rawjson.Parse(firstLine(first)); err != nil || v.Get("method").IsStr(rpc.StageInitialize) && string(v.At("params", "protocolVersion").Raw()) != "1" {
		c.hello = first
	}
	return c
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

// frame takes one frame of the client's; said is how many lines the agent had
// printed before.
func (c *told) frame(v rawjson.Value, said int) {
	params := v.Get("params")
	switch v.Get("method").Str() {
	case rpc.StageInitialize:
		c.strict = params.At("clientCapabilities", "fs").Exists()
	case rpc.StageNew:
		for range params.Get("mcpServers").Children() {
			c.opts.MCPServers = append(c.opts.MCPServers, rpc.MCPServer{Name: "server", Command: "/w/server", Env: []rpc.EnvVar{{Name: "NAME", Value: "value"}}})
		}
	case rpc.StageLoad:
		c.opts.ResumeSessionID = params.Get("sessionId").Str()
	case "session/list":
		c.resume = true
	case "session/resume":
		c.resume, c.opts.ResumeSessionID = true, params.Get("sessionId").Str()
	case rpc.StageSetModel:
		c.opts.Model = params.Get("modelId").Str()
	case rpc.StageSetOption:
		c.opts.Model = params.Get("value").Str()
	case "session/set_mode":
		c.mode = params.Get("modeId").Str()
	case "authenticate":
		c.auth = params.Get("methodId").Str()
	case "session/close":
		c.close = true
	case rpc.StagePrompt:
		for p := range params.Get("prompt").Children() {
			c.part(p)
		}
	case "session/cancel":
		c.cancelAfter = said
	}
	switch v.Get("type").Str() {
	case "new_session":
		c.opts.ParentSession = v.Get("parentSession").Str()
	case "prompt":
		for range v.Get("images").Children() {
			c.opts.Images = append(c.opts.Images, rpc.Image{Data: "AAAA", MimeType: "image/png"})
		}
	case "abort":
		c.cancelAfter = said
	}
}

// part takes one part of a prompt; the first is the words.
func (c *told) part(p rawjson.Value) {
	if p.Get("type").IsStr("text") {
		return
	}
	path := fmt.Sprintf("/w/p%d.png", len(c.opts.ImagePaths)+1)
	c.opts.ImagePaths = append(c.opts.ImagePaths, path)
	a := acpclient.Attachment{Path: path, MIMEType: "image/png"}
	if p.Get("type").IsStr("resource") {
		a.MIMEType = "text/plain"
	}
	c.attach = append(c.attach, a)
}

// files are the workspace of a played agent: the refusal that the recorded one
// got for each request, nil for none.
type files []error

func (f *files) next() (refusal error) {
	if len(*f) > 0 {
		refusal, *f = (*f)[0], (*f)[1:]
	}
	return refusal
}

// refusal is what makes an acpclient answer with the recorded error.
func refusal(recorded rawjson.Value) error {
	switch {
	case !recorded.Exists():
		return nil
	case recorded.Get("code").Float() == acpclient.CodeNotFound:
		return fs.ErrNotExist
	}
	return fs.ErrPermission
}

// ReadFile implements acpclient.Files.
func (f *files) ReadFile(string) ([]byte, error) { return []byte("content\n"), f.next() }

// WriteFile implements acpclient.Files.
func (f *files) WriteFile(string, []byte) error { return f.next() }
