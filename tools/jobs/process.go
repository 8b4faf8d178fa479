package jobs

import "time"

// Host is what a record may be judged by: a process is only known to the
// machine that it runs on, since its boot, in its own process namespace.
type Host struct {
	ID        string `json:"id"`
	Boot      string `json:"boot"`
	Namespace string `json:"namespace"`
}

// Incarnation is one life of a process. A pid alone is reused; together with
// the moment of its start, in raw clock ticks since the boot, it is not.
type Incarnation struct {
	Host       Host   `json:"host"`
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
}

// Finding is what could be established of an incarnation.
type Finding int

// The findings. Unknown is the answer wherever the evidence is weaker than a
// proof: another machine, another namespace, a refused look.
const (
	Unknown Finding = iota
	Alive
	Gone
)

// Process is what the system tells of a pid now.
type Process struct {
	StartTicks uint64
	Dead       bool // it ended and only waits to be collected
}

// System is the machine that looks. Tests replace its parts.
type System struct {
	Now  func() time.Time
	Host func() Host
	// Process returns nil without an error when there is definitely no process
	// with this pid, and an error when that could not be found out.
	Process func(pid int) (*Process, error)
	// Signal sends a signal to the process group that a leader leads.
	Signal func(leader int, signal string) error
}

// find establishes whether an incarnation lives (specification 000, D6 and its
// reconciler's constraints).
func (s *System) find(i *Incarnation) Finding {
	here := s.Host()
	switch {
	case i == nil || i.PID <= 0 || i.StartTicks == 0:
		return Unknown
	case here.ID == "" || i.Host.ID != here.ID || i.Host.Boot == "" || here.Boot == "":
		return Unknown
	case i.Host.Boot != here.Boot:
		return Gone // nothing outlives a boot of its machine
	case i.Host.Namespace == "" || i.Host.Namespace != here.Namespace:
		return Unknown
	}
	p, err := s.Process(i.PID)
	switch {
	case err != nil:
		return Unknown
	case p == nil || p.Dead || p.StartTicks != i.StartTicks:
		return Gone
	}
	return Alive
}

// incarnation names the process that has the pid now; nil where the system
// cannot tell.
func (s *System) incarnation(pid int) *Incarnation {
	p, err := s.Process(pid)
	if err != nil || p == nil || p.StartTicks == 0 {
		return nil
	}
	return &Incarnation{Host: s.Host(), PID: pid, StartTicks: p.StartTicks}
}
