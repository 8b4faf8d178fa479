package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/provider"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// makeSession runs the probe that comes before this one, in the same place, and
// returns the session that it left. That run is no observation: its bundle
// stays only if there is nothing to resume, and rec.problem then says why.
func (c *capturer) makeSession(ctx context.Context, job *cellJob, rec *recorded, sandbox *harness.Sandbox, server *provider.Server) (string, error) {
	first := *job
	first.probe = job.probe.Before
	first.cell.Probe = agents.FirstRun(job.agent, job.probe.ID, first.probe.ID, job.cell.Profile)
	minted := agents.NewUUID()
	if err := c.prepare(&first, rec, minted, minted); err != nil {
		return "", err
	}
	if err := c.record(ctx, &first, rec, sandbox, server.Replied()); err != nil {
		return "", err
	}
	raw, err := assemble(rec.bundle)
	if err != nil {
		return "", err
	}
	dialect := dialectOf(c.families, rec.launch.Dialect, raw)
	if dialect == nil {
		rec.problem = fmt.Sprintf("dialect %q is not in registry/families.json", rec.launch.Dialect)
		return "", nil
	}
	reading, err := replay.Reference(replay.Input{Transcript: raw, Agent: job.agent.ID, Dialect: dialect})
	if err != nil {
		return "", err
	}
	if reading.RunResult != contract.RunSuccess {
		rec.problem = fmt.Sprintf("there is no session to resume: the run of %s before it came to %q", first.probe.ID, reading.RunResult)
		return "", nil
	}
	place, file, err := agents.SessionPlace(job.agent, job.version.Version, job.cell.Probe, job.cell.Profile)
	if err != nil {
		return "", err
	}
	session := minted
	switch {
	case file != "":
		session, place = leftSession(rec.ws.home, file), "file "+file
	case place != "":
		session = printedSession(raw, place)
	}
	if session == "" {
		rec.problem = fmt.Sprintf("there is no session to resume: the run of %s before it left no %s", first.probe.ID, place)
		return "", nil
	}
	return session, errors.Join(server.Play(job.probe.Scenario), os.Remove(rec.bundle))
}

// printedSession returns the first text at that place in a frame of stdout, or
// "".
func printedSession(t *transcript.Transcript, place string) string {
	for line := range t.Lines(transcript.CLIToServer, transcript.Stdout) {
		v, err := rawjson.Parse(line)
		if err != nil {
			continue
		}
		if id := v.At(strings.Split(place, ".")...); id.Kind() == rawjson.String && id.Str() != "" {
			return id.Str()
		}
	}
	return ""
}

// leftSession returns the one file under HOME that fits the pattern, "" if there
// is none or more than one: which of them is meant nobody could say.
func leftSession(home, pattern string) string {
	found, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern)))
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// texts are what the provider says as the model in all runs of the probe.
func (p *Probe) texts() []string {
	out := p.Scenario.Texts()
	if p.Before != nil {
		out = append(out, p.Before.Scenario.Texts()...)
	}
	return out
}

// hasImage reports whether the workspace holds an image for the model.
func (p *Probe) hasImage() bool {
	for _, f := range p.Files {
		if path.Ext(f.Path) == ".png" {
			return true
		}
	}
	return false
}
