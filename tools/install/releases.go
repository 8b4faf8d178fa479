package install

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Releases is what npm says about a package's releases.
type Releases struct {
	Tags map[string]string // dist-tags: latest, next …
	// Published has the time of each release, where the registry tells it.
	Published map[string]time.Time
}

// FindReleases asks npm, which brings its own cache by ETag, the proxies and the
// registry that this machine is set up for.
func FindReleases(ctx context.Context, agent *contract.Agent, opts Options) (*Releases, error) {
	j, err := newJob(agent, opts)
	if err != nil {
		return nil, err
	}
	pkg := j.npm.Package
	out, err := j.cache.runNPM(ctx, "asking the registry for the releases of "+pkg, j.cache.root, "view", pkg, "dist-tags", "time", "--json")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Tags map[string]string `json:"dist-tags"`
		Time map[string]any    `json:"time"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("reading the registry's releases of %s: %w: %w", pkg, err, ErrNPM)
	}
	r := &Releases{Tags: answer.Tags, Published: map[string]time.Time{}}
	for v, at := range answer.Time {
		text, _ := at.(string) // "unpublished" is an object
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			r.Published[v] = t
		}
	}
	return r, nil
}
