package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// compatibility answers the two routes of the specification; rest is what
// follows /api/agents/.
func (s *Server) compatibility(w http.ResponseWriter, r *http.Request, snap *snapshot, rest string) (*reply, error) {
	agent, one := strings.CutSuffix(rest, "/cli-compatibility")
	if !one {
		agent = ""
	}
	if !one && rest != "cli-compatibility" || strings.Contains(agent, "/") && one {
		return nil, &problem{Status: http.StatusNotFound, Text: "there is nothing at this address"}
	}
	p, err := params(r, "probe")
	if err != nil {
		return nil, err
	}
	probe, err := flag(p, "probe")
	if err != nil {
		return nil, err
	}
	if one {
		if _, err := snap.site.Index.Agent(agent); err != nil {
			return nil, unknownAgent(err)
		}
	}
	switch {
	case probe:
		return s.probed(w, r, agent)
	case !one:
		list, err := s.installed(r.Context(), snap)
		if err != nil {
			return nil, err
		}
		return compatibilityReply(list, list)
	}
	answer, err := s.checker(snap).Check(r.Context(), agent)
	if err != nil {
		return nil, err
	}
	return compatibilityReply(answer.Response, []contract.CompatibilityResponse{answer.Response})
}

// installed classifies every CLI on PATH. They are asked for their versions
// side by side.
func (s *Server) installed(ctx context.Context, snap *snapshot) ([]contract.CompatibilityResponse, error) {
	k := s.checker(snap)
	ids := k.Installed()
	out := make([]contract.CompatibilityResponse, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i, id := range ids {
		group.Go(func() error {
			answer, err := k.Check(ctx, id)
			if err == nil {
				out[i] = answer.Response
			}
			return err
		})
	}
	return out, group.Wait()
}

// compatibilityReply tags an answer by what it says, not by when: a client that
// asks again learns that nothing changed.
func compatibilityReply(body any, answers []contract.CompatibilityResponse) (*reply, error) {
	timeless := make([]contract.CompatibilityResponse, len(answers))
	for i, a := range answers {
		a.GeneratedAt = ""
		timeless[i] = a
	}
	b, err := json.Marshal(timeless)
	if err != nil {
		return nil, err
	}
	out, err := ok(body)
	if err != nil {
		return nil, err
	}
	out.tag = tagOf(b)
	return out.finish(), nil
}

func unknownAgent(err error) error {
	var unknown *agents.UnknownAgentError
	if errors.As(err, &unknown) {
		return &problem{Status: http.StatusNotFound, Text: err.Error()}
	}
	return err
}

func flag(p map[string]string, name string) (bool, error) {
	switch v, given := p[name]; {
	case !given, v == "0":
		return false, nil
	case v == "1":
		return true, nil
	}
	return false, badRequest(name+" is 0 or 1", "")
}

// classify answers for any version what the compatibility route answers for the
// installed one.
func (s *Server) classify(r *http.Request, snap *snapshot) (*reply, error) {
	p, err := params(r, "agent", "version", "platform", "shape", "live")
	if err != nil {
		return nil, err
	}
	if p["agent"] == "" || p["version"] == "" {
		return nil, badRequest("agent and version are needed", "such as agent=codex&version=0.133.0")
	}
	platform := contract.HostPlatform()
	if v := p["platform"]; v != "" {
		if platform = contract.Platform(v); !platform.Valid() {
			return nil, badRequest(fmt.Sprintf("there is no platform %q", clip(v)), "")
		}
	}
	now := s.config.Now().UTC().Format(time.RFC3339)
	found := matrix.Probed{}
	if v, probed := p["shape"]; probed {
		found.Done, found.At = true, now
		if v != "none" {
			if found.Shape, err = contract.ParseDigest(v); err != nil {
				return nil, badRequest("shape is no signature, and not none", "such as sha256: and 64 hexadecimal digits")
			}
		}
	}
	if found.Live, err = flag(p, "live"); err != nil {
		return nil, err
	}
	if _, err := snap.site.Index.Agent(p["agent"]); err != nil {
		return nil, unknownAgent(err)
	}
	c, err := snap.site.Index.Classify(p["agent"], p["version"], platform, found)
	if err != nil {
		return nil, badRequest(fmt.Sprintf("%q is no version of %s", clip(p["version"]), p["agent"]), "")
	}
	d := contract.CompatibilityResponse{SchemaVersion: contract.SchemaVersion, GeneratedAt: now, Agent: c.Agent.ID, InstalledVersion: &c.Version, Platform: platform, Status: c.Status, Policy: c.Policy, Evidence: c.Evidence}
	return compatibilityReply(d, []contract.CompatibilityResponse{d})
}

// machine is the page about the CLIs of this machine.
func (s *Server) machine(r *http.Request, snap *snapshot) (*reply, error) {
	if _, err := params(r); err != nil {
		return nil, err
	}
	list, err := s.installed(r.Context(), snap)
	if err != nil {
		return nil, err
	}
	f, err := snap.site.Machine(list)
	if err != nil {
		return nil, err
	}
	out := &reply{status: http.StatusOK, File: site.File{Type: f.Type, Body: f.Body}}
	return out.finish(), nil
}
