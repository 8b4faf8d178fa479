package compat

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Versions remembers what installed programs say of themselves, for a server
// that is asked again and again. A program is asked anew when its file changes,
// and once a minute, since a file may start another one.
type Versions struct {
	StateDir string // the private state folder
	mu       sync.Mutex
	known    map[string]knownVersion // by agent and file
	asking   singleflight.Group
}

type knownVersion struct {
	file    os.FileInfo
	at      time.Time
	version agents.Version
	err     error
}

// An answer counts this long while the file stays the same; that there was none
// is forgotten sooner, for the machine may have been busy.
const (
	versionLasts = time.Minute
	faultLasts   = 5 * time.Second
)

// holds reports whether the answer still counts for the file.
func (k *knownVersion) holds(file os.FileInfo) bool {
	lasts := versionLasts
	if k.err != nil {
		lasts = faultLasts
	}
	return os.SameFile(k.file, file) && k.file.Size() == file.Size() && k.file.ModTime().Equal(file.ModTime()) && time.Since(k.at) < lasts
}

// Ask returns the version of an installed program, as capture.InstalledVersion
// does. Several who ask at once wait for one answer; nobody who gives up takes
// it from the others.
func (v *Versions) Ask(ctx context.Context, a *contract.Agent, program string) (agents.Version, error) {
	key := a.ID + "\x00" + program
	file, err := os.Stat(program)
	if err != nil {
		return agents.Version{}, err
	}
	v.mu.Lock()
	k, ok := v.known[key]
	v.mu.Unlock()
	if ok && k.holds(file) {
		return k.version, k.err
	}
	answer := v.asking.DoChan(key, func() (any, error) {
		version, err := capture.InstalledVersion(context.WithoutCancel(ctx), v.StateDir, a, program)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.known == nil {
			v.known = map[string]knownVersion{}
		}
		v.known[key] = knownVersion{file, time.Now(), version, err}
		return version, err
	})
	select {
	case <-ctx.Done():
		return agents.Version{}, ctx.Err()
	case r := <-answer:
		version, _ := r.Val.(agents.Version)
		return version, r.Err
	}
}
