// Package provider is the model provider that hermetic captures talk to
// (DESIGN D1): it plays a probe's scenario over the OpenAI Responses, OpenAI
// Chat Completions and Anthropic Messages APIs, on loopback only. It owns what
// goes over the wire; what a scenario may say is contract.Scenario.
//
// It never keeps a credential or the content of a request: the log holds
// names, counts and shapes.
package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Options vary how a scenario is delivered, never what it says.
type Options struct {
	// Workdir is the child's working directory as the child sees it. Tools
	// that want absolute paths get paths below it.
	Workdir string
	// TextChunk is the length of a delta in runes: 0 as the scenario says,
	// negative for one delta a text.
	TextChunk int
	// WriteBytes is the length of a single write to the socket; 0 writes
	// each event at once.
	WriteBytes int
	// Delay replaces the scenario's post_tool_delay_ms if it is not nil.
	Delay *time.Duration
}

// Server plays one scenario for one run of a CLI.
type Server struct {
	opts    Options
	http    *http.Server
	closing chan struct{} // closed by Close; ends stalls and delays

	mu       sync.Mutex
	play     *play
	baseURL  string
	closed   bool
	serveErr error
	handlers sync.WaitGroup
	served   chan struct{} // closed when the accept loop has ended; nil before Start
	log      []*RequestLog
}

// play is a scenario under way.
type play struct {
	scenario contract.Scenario
	attempts map[int]int   // requests seen, by tool results; guarded by the server's mu
	replied  chan struct{} // closed when the first reply is out
	answered sync.Once     // closes replied
}

func newPlay(sc contract.Scenario) *play {
	return &play{scenario: sc, attempts: map[int]int{}, replied: make(chan struct{})}
}

// New makes a server for a valid scenario.
func New(sc contract.Scenario, opts Options) (*Server, error) {
	if err := sc.Validate(); err != nil {
		return nil, fmt.Errorf("using scenario: %w", err)
	}
	s := &Server{play: newPlay(sc), opts: opts, closing: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 30 * time.Second,
		// The default logger writes peers' mistakes to stderr.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return s, nil
}

// Play makes the server play another scenario from now on, for the next run in
// the same place, and forgets what the run before asked. That run must be over.
func (s *Server) Play(sc contract.Scenario) error {
	if err := sc.Validate(); err != nil {
		return fmt.Errorf("using scenario: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.play, s.log = newPlay(sc), nil
	return nil
}

// errClosed is returned when a closed server is asked to serve.
var errClosed = errors.New("the model provider is closed")

// Start serves on l in the background. When it returns, BaseURL is known. A
// listener that is not on loopback is refused and stays open.
func (s *Server) Start(l net.Listener) error {
	if !isLoopback(l.Addr()) {
		return fmt.Errorf("serving the model provider on %q: not a loopback address; listen on 127.0.0.1 or ::1", l.Addr())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if s.baseURL != "" {
		return errors.New("the model provider serves already; make one server a run")
	}
	s.baseURL = "http://" + l.Addr().String()
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		err := s.http.Serve(loopbackOnly{l})
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		s.mu.Lock()
		s.serveErr = err
		s.mu.Unlock()
	}()
	return nil
}

// Serve is Start, and returns when Close was called or the listener broke.
func (s *Server) Serve(l net.Listener) error {
	if err := s.Start(l); err != nil {
		return err
	}
	<-s.served
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serveErr
}

// BaseURL is "http://host:port", without a path, or "" before Start. The APIs
// lie below /v1; a CLI whose base URL includes the version gets BaseURL()+"/v1".
func (s *Server) BaseURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baseURL
}

// Replied is closed when the first reply of the scenario has been sent as far
// as it goes: a stalled one when its silence begins.
func (s *Server) Replied() <-chan struct{} { return s.playing().replied }

// Close ends every answer, stalled ones too, and returns when none is left.
// It may be called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	served := s.served
	s.mu.Unlock()
	err := s.http.Close()
	if served != nil {
		<-served
	}
	s.handlers.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the model provider: %w", err)
	}
	return nil
}

// enter counts a handler in, unless the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	return true
}

// wait pauses for d; it returns false if the client left or the server closed
// before.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// delay is the pause before an answer that follows a tool result, and before the
// end of a connection whose answer was cut.
func (x *exchange) delay() time.Duration {
	if d := x.server.opts.Delay; d != nil {
		return *d
	}
	return time.Duration(x.play.scenario.PostToolDelayMS) * time.Millisecond
}

// loopbackOnly drops connections from elsewhere. A loopback address has no
// outside peers; this holds even where packet rules rewrite addresses.
type loopbackOnly struct{ net.Listener }

func (l loopbackOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if isLoopback(c.RemoteAddr()) {
			return c, nil
		}
		_ = c.Close() // refused; there is nobody to tell
	}
}

func isLoopback(a net.Addr) bool {
	if a == nil || a.Network() != "tcp" {
		return false
	}
	ap, err := netip.ParseAddrPort(a.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
