// Package serve answers over HTTP what the registry knows: the pages and
// documents of package site, and the questions about this machine that only a
// program can answer. It answers GET and HEAD alone, to whoever names it by a
// name that it knows, and changes nothing.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/site"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Limits on what a client can use up.
const (
	MaxQuery       = 2 << 10  // bytes of a query; more is 414
	maxHeader      = 16 << 10 // bytes of a request's head; more is 431
	headerTimeout  = 5 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
	probeTimeout   = 10 * time.Minute
	maxConnections = 2000 // at once; further ones get 503
)

// Config is what a server needs.
type Config struct {
	Registry *store.Registry
	// Checker classifies the CLIs of this machine. Its Index is the server's
	// business.
	Checker compat.Checker
	// Program is the absolute path of this program, which runs the local probes;
	// Arguments are those that every call gets, such as --registry=DIR.
	Program   string
	Arguments []string
	// Requests is the review queue.
	Requests *requests.Store
	// Hosts are names, beside those of the loopback device, by which clients
	// may call this server.
	Hosts []string
	Now   func() time.Time
	// Fault is told of every fault of ours; nil tells nobody.
	Fault func(error)
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config Config
	now    atomic.Pointer[snapshot]
	reload sync.Mutex
	probes chan struct{}   // holds the one local probe that runs
	client *machine.Client // of whoever holds probes; nil before the first
	// connections is maxConnections; tests make it small, and the times short.
	connections       int
	header, probeTime time.Duration
}

// snapshot is a registry as it was at one time, with what was made of it.
type snapshot struct {
	site    *site.Site
	version fs.FileInfo // of the matrix, which every new record changes
	checked atomic.Int64
	cache   cache
	// observations are sorted when they are first asked for.
	sorted       sync.Once
	observations []placedObservation
}

// New reads the registry.
func New(c Config) (*Server, error) {
	s := newServer(c)
	snap, err := s.read()
	if err != nil {
		return nil, err
	}
	s.now.Store(snap)
	return s, nil
}

func newServer(c Config) *Server {
	s := &Server{config: c, probes: make(chan struct{}, 1), connections: maxConnections, header: headerTimeout, probeTime: probeTimeout}
	s.config.Checker.Versions = &compat.Versions{StateDir: c.Checker.StateDir}
	return s
}

func (s *Server) read() (*snapshot, error) {
	snap := &snapshot{}
	snap.version, _ = fs.Stat(s.config.Registry.FS(), matrix.Path) // nil for none
	var err error
	snap.site, err = site.Load(s.config.Registry, site.Options{Live: true, RecordURL: "~api/v1/records/"})
	snap.checked.Store(s.config.Now().UnixNano())
	return snap, err
}

// checkEvery is how often the registry is looked at for new records.
const checkEvery = 2 * time.Second

// current returns the registry as it is, and reads it again when it has
// changed. A registry that cannot be read any more leaves the last one.
func (s *Server) current() *snapshot {
	snap := s.now.Load()
	now := s.config.Now().UnixNano()
	last := snap.checked.Load()
	if now-last < int64(checkEvery) || !snap.checked.CompareAndSwap(last, now) {
		return snap
	}
	info, err := fs.Stat(s.config.Registry.FS(), matrix.Path)
	if err != nil || snap.version != nil && info.ModTime().Equal(snap.version.ModTime()) && info.Size() == snap.version.Size() {
		return snap
	}
	s.reload.Lock()
	defer s.reload.Unlock()
	fresh, err := s.read()
	if err != nil {
		s.fault(fmt.Errorf("reading the registry again: %w", err))
		return snap
	}
	s.now.Store(fresh)
	return fresh
}

func (s *Server) fault(err error) {
	if s.config.Fault != nil {
		s.config.Fault(err)
	}
}

// checker returns the classifier of a snapshot.
func (s *Server) checker(snap *snapshot) *compat.Checker {
	k := s.config.Checker
	k.Index, k.Registry, k.Now = snap.site.Index, s.config.Registry, s.config.Now
	return &k
}

// Serve answers on a listener until the context ends, then lets running answers
// finish for a moment.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.header, ReadTimeout: s.header, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnContext: remember, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(&listener{Listener: l, free: newCounter(s.connections)}) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(limited); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ending: %w", err)
	}
	return nil
}
