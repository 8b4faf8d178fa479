package compat

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// probeSlack is what a local probe may take beyond the wall limit of its run:
// the help probe, redaction, starting and ending.
const probeSlack = 90 * time.Second

// local is what a local probe came to.
type local struct {
	matrix.Probed
	shape   *contract.Shape
	dialect string
	// said tells people what happened.
	said []string
}

// probe runs the representative probe of an installed program once, hermetically
// and within its limits, in a registry and a state folder that are removed
// afterwards. A probe that cannot be run is a result that says so.
func (k *Checker) probe(ctx context.Context, a *contract.Agent, version, program string) (*local, error) {
	p, err := capture.LoadProbe(k.Registry, a.RepresentativeProbe)
	if err != nil {
		var unknown *capture.UnknownProbeError
		if errors.As(err, &unknown) || a.RepresentativeProbe == "" {
			return &local{said: []string{"it cannot be probed: this registry has no probe for it"}}, nil
		}
		return nil, err
	}
	dir, err := k.scratch()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	registry := filepath.Join(dir, "registry")
	if err := store.Create(registry, k.Registry); err != nil {
		return nil, err
	}
	reg, err := store.Open(registry)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(p.Scenario.Timeouts.WallMS)*time.Millisecond + probeSlack
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	k.tell(a, fmt.Sprintf("running %s of version %s", p.ID, version))
	at := k.Now()
	report, err := capture.Run(bounded, capture.Options{
		Registry: reg, StateDir: filepath.Join(dir, "state"), Probes: []string{p.ID}, Repeat: 1, Bin: program,
		Targets: []capture.Target{{Agent: a.ID, Profile: contract.ProfileProduction}},
		Now:     k.Now, LookupEnv: k.LookupEnv, Runner: "local/" + string(contract.HostPlatform()),
	})
	var unknown *capture.CannotKnowError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &unknown):
		return &local{said: []string{"the local probe could not be run: " + unknown.Error()}}, nil
	case err != nil && bounded.Err() != nil:
		return &local{said: []string{fmt.Sprintf("the local probe was given up after %s", limit)}}, nil
	case err != nil:
		return nil, err
	}
	return readProbe(report, at), nil
}

// scratch makes a folder for one probe. It lies in the private state folder,
// not in the system's temporary one: some CLIs treat that as theirs (DESIGN D1).
func (k *Checker) scratch() (string, error) {
	if err := makeDir(k.StateDir); err != nil {
		return "", fmt.Errorf("making a place for the local probe: %w", err)
	}
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails (package documentation)
	dir := filepath.Join(k.StateDir, "local-"+hex.EncodeToString(b[:]))
	if err := makeDir(dir); err != nil {
		return "", fmt.Errorf("making a place for the local probe: %w", err)
	}
	return dir, makeDir(filepath.Join(dir, "state"))
}

// readProbe turns the report of the one run into what it says of the shape.
func readProbe(report *capture.Report, at time.Time) *local {
	out := &local{Probed: matrix.Probed{At: at.UTC().Format(time.RFC3339)}}
	if len(report.Results) != 1 {
		out.said = append([]string{"the local probe did not run"}, report.Notes...)
		return out
	}
	res := report.Results[0]
	o := res.Observation
	switch {
	case len(res.WaitsFor) > 0:
		out.said = []string{"the local probe stopped: the CLI asks its user a question"}
	case res.Redaction != "" && res.Redaction != contract.RedactionPassed:
		// Its words are none that we know: neither is what it says.
		out.Done = true
		out.said = []string{"the local probe's run could not be read safely: " + res.Problem}
	case o == nil || res.Shape == nil:
		out.said = []string{"the local probe could not tell: " + res.Problem}
	case o.Extensions.EndReason == transcript.ReasonNotStarted:
		out.said = []string{"the local probe could not start the program"}
	default:
		out.Done, out.Shape = true, res.Shape.Signature
		out.shape, out.dialect = res.Shape, o.Extensions.Dialect
		out.said = []string{fmt.Sprintf("the local probe %s gave shape %s, run %s", o.Probe, res.Shape.Signature.Short(), o.Extensions.RunResult)}
		if o.ParserReplay.Status == contract.ReplayIncompatible {
			out.said = append(out.said, "the consumer's reading of it has "+strings.Join(res.Reasons, ", "))
		}
	}
	return out
}

// changes says what differs from the shape that is claimed for the version, or
// nothing where the registry has no such shape.
func (k *Checker) changes(c *matrix.Claim, found *local) []string {
	known, err := k.Index.Find(c.Agent.ID, c.Version, c.Platform)
	if err != nil || found.shape == nil || known.Evidence.ShapeSignature == nil {
		return nil
	}
	old, err := k.Registry.Shape(found.shape.ProtocolFamily, *known.Evidence.ShapeSignature)
	if err != nil {
		return nil // the registry in the binary has no shapes
	}
	var dialect *contract.Dialect
	if f, err := k.Registry.Families(); err == nil {
		for i := range f.Dialects {
			if f.Dialects[i].ID == found.dialect {
				dialect = &f.Dialects[i]
			}
		}
	}
	var words []string
	for _, s := range compare.Shapes(old, found.shape, dialect).Signals {
		words = append(words, s.String())
	}
	if len(words) == 0 {
		return nil
	}
	const most = 8
	if len(words) > most {
		words = append(words[:most], fmt.Sprintf("and %d more", len(words)-most))
	}
	return []string{"against the shape of the claim: " + strings.Join(words, ", ")}
}
