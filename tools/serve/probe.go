package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// probed answers with local probes: of one agent, or of every CLI on PATH where
// agent is "". This program runs them as a process of its own and is asked as
// any other consumer of its machine-result contract asks (specification 000), so
// that what breaks consumers breaks this first, and a probe that goes wrong
// takes no server with it.
func (s *Server) probed(w http.ResponseWriter, r *http.Request, agent string) (*reply, error) {
	done, err := s.startProbe(w)
	if err != nil {
		return nil, err
	}
	defer done()
	if agent == "" {
		list, err := probe[[]contract.CompatibilityResponse](r.Context(), s)
		if err != nil {
			return nil, err
		}
		return compatibilityReply(list, list)
	}
	one, err := probe[contract.CompatibilityResponse](r.Context(), s, agent)
	if err == nil && one.Agent != agent {
		err = noAnswer(&machine.MalformedError{What: "it is about another agent"})
	}
	if err != nil {
		return nil, err
	}
	return compatibilityReply(one, []contract.CompatibilityResponse{one})
}

// startProbe reserves the one local probe that may run: it takes a processor
// and minutes.
func (s *Server) startProbe(w http.ResponseWriter) (done func(), err error) {
	select {
	case s.probes <- struct{}{}:
	default:
		return nil, &problem{Status: http.StatusTooManyRequests, Text: "another local probe runs", headers: map[string]string{"Retry-After": "10"}}
	}
	// A recorder of a test has no deadline to move; every connection has. The
	// slack is for a program that has to be ended.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.probeTime + writeTimeout))
	return func() { <-s.probes }, nil
}

// probe runs compatibility --probe. Its errors are problems that say what became
// of the call, or ctx's.
func probe[T any](ctx context.Context, s *Server, agents ...string) (out T, err error) {
	c, err := s.connected(ctx)
	var data machine.Result[T]
	if err == nil {
		args := append(slices.Clone(s.config.Arguments), "compatibility", "--probe", "--")
		err = c.Call(ctx, &data, append(args, agents...)...)
	}
	switch v := data.Result; {
	case err != nil:
		return out, noAnswer(err)
	case v.Available && v.Value != nil:
		return *v.Value, nil
	case v.ReasonCode != nil: // it could not be established, which is not that there is none
		return out, &problem{Status: http.StatusServiceUnavailable, Text: "the local probe's answer is not available: " + *v.ReasonCode}
	}
	return out, noAnswer(&machine.MalformedError{What: "its result is neither available nor not"})
}

// connected returns the client of this program. One whose program was replaced
// by another version is given up, and the handshake made again: the right one
// may be back.
func (s *Server) connected(ctx context.Context) (*machine.Client, error) {
	if s.client != nil {
		if _, degraded := s.client.Degraded(); !degraded {
			return s.client, nil
		}
	}
	c, _, err := machine.Connect(ctx, s.config.Program, s.probeTime)
	if err == nil {
		s.client = c
	}
	return c, err
}

// refusals are the statuses of a program's refusals.
var refusals = map[machine.ErrorKind]int{
	machine.NotFound: http.StatusNotFound, machine.InvalidInput: http.StatusBadRequest, machine.Conflict: http.StatusConflict,
	machine.Unavailable: http.StatusServiceUnavailable, machine.Internal: http.StatusInternalServerError,
}

// noAnswer tells apart why a call brought none. None of it is about the CLI that
// was to be probed.
func noAnswer(err error) error {
	const without = "without probe=1 the installed version is still classified"
	var version *machine.VersionError
	var installation *machine.InstallationError
	var transport *machine.TransportError
	var malformed *machine.MalformedError
	var refused *machine.Error
	switch {
	case errors.As(err, &version):
		return &problem{Status: http.StatusServiceUnavailable, Text: "there is no local probe: the program on disk was replaced, " + err.Error(), Hint: "start the server again; " + without}
	case errors.As(err, &installation):
		return &problem{Status: http.StatusServiceUnavailable, Text: "there is no local probe: " + err.Error(), Hint: without}
	case errors.As(err, &transport), errors.As(err, &malformed):
		return &problem{Status: http.StatusBadGateway, Text: "the local probe brought no answer: " + err.Error(), Hint: without}
	case errors.As(err, &refused):
		return &problem{Status: refusals[refused.Kind], Text: refused.Message}
	}
	return err
}
