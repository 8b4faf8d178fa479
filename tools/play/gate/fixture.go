package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// longest bounds a run that does not come to its end.
const longest = 2 * time.Minute

// fixture is one fixture under test.
type fixture struct {
	opts    Options
	record  *store.Observed
	sandbox *harness.Sandbox
	dir     string

	dialect *contract.Dialect
	want    *transcript.Transcript // the fixture
	mode    contract.StdinMode
}

// played is a live run.
type played struct {
	transcript *transcript.Transcript
	script     *script
	result     harness.Result
}

func (f *fixture) run(ctx context.Context, families *contract.Families) (Row, error) {
	o := f.record
	row := Row{Fixture: o.Extensions.Fixture, Agent: o.Agent, Family: o.ProtocolFamily, Probe: o.Probe, Status: StatusOK}
	if f.dialect = families.Dialect(o.Extensions.Dialect); f.dialect == nil {
		return row, fmt.Errorf("registry/families.json has no dialect %q", o.Extensions.Dialect)
	}
	b, err := f.opts.Registry.ReadFile(o.Extensions.Fixture)
	if err != nil {
		return row, err
	}
	if f.want, err = transcript.ReadSanitized(bytes.NewReader(b)); err != nil {
		return row, err
	}
	rec, err := play.FromTranscript(f.want, o.Command.StdinMode)
	if errors.Is(err, play.ErrNotPlayable) {
		row.Status, row.Findings = StatusNotPlayed, []string{"the recorded child was not started, or its end was not recorded"}
		return row, nil
	}
	if err != nil {
		return row, err
	}
	f.mode = rec.Stdin
	row, err = f.attempt(ctx, row)
	if err == nil && row.Status == StatusDiffers && f.stalls() {
		// A loaded machine may not even have started the child in that time.
		f.opts.Silence *= patience
		row.Status, row.Findings = StatusOK, nil
		row, err = f.attempt(ctx, row)
	}
	return row, err
}

// patience is how many times longer a child that stalls is given the second
// time.
const patience = 6

// attempt plays the fixture once and judges the run.
func (f *fixture) attempt(ctx context.Context, row Row) (Row, error) {
	live, err := f.live(ctx)
	if err != nil {
		return row, err
	}
	f.judge(&row, live)
	if len(row.Findings) > 0 {
		row.Status = StatusDiffers
	}
	return row, nil
}

// stalls says that the end of the run is a matter of this machine's clock.
func (f *fixture) stalls() bool {
	return slices.ContainsFunc(f.want.Records, func(r transcript.Record) bool {
		return r.Reason == transcript.ReasonIdleTimeout || r.Reason == transcript.ReasonWallTimeout
	})
}

// live plays the fixture once in the harness.
func (f *fixture) live(ctx context.Context) (*played, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	place := filepath.Join(f.dir, "bundle")
	if err := os.Remove(place); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	bundle, err := transcript.CreateBundle(place)
	if err != nil {
		return nil, err
	}
	permission, err := f.permission()
	if err != nil {
		return nil, err
	}
	h := newHost(f.want, f.mode, f.dialect, permission)
	s := &script{host: h, closedAt: -1}
	spec := harness.Spec{
		Path: f.opts.Program[0], Args: append(append([]string{}, f.opts.Program[1:]...), f.path()),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: f.dir,
		Stdin: harness.Stdin{Mode: f.mode, Data: h.begin()}, Script: s, Bundle: bundle,
		Limits: harness.Limits{Wall: longest},
	}
	f.surround(&spec, s, cancel)
	result, err := f.sandbox.Run(ctx, spec)
	_, cerr := bundle.Close()
	if err = errors.Join(err, cerr); err != nil {
		return nil, err
	}
	r, err := transcript.OpenBundle(place)
	if err != nil {
		return nil, err
	}
	t, err := transcript.Assemble(r)
	return &played{t, s, result}, errors.Join(err, r.Close())
}

// path is the fixture's file.
func (f *fixture) path() string {
	return filepath.Join(f.opts.Registry.Dir(), filepath.FromSlash(f.record.Extensions.Fixture))
}

// permission is what the probe's client answers, where it has one of its own.
func (f *fixture) permission() (contract.ClientPermission, error) {
	if f.mode != contract.StdinRPC || f.record.Probe == "" {
		return "", nil
	}
	p, err := capture.LoadProbe(f.opts.Registry, f.record.Probe)
	if err != nil || p.Scenario.Client == nil {
		return "", err
	}
	return p.Scenario.Client.Permission, nil
}

// surround makes happen to the child what befell the recorded one.
func (f *fixture) surround(spec *harness.Spec, s *script, cancel func()) {
	lines, size := 0, int64(0)
	for i := range f.want.Records {
		rec := &f.want.Records[i]
		if rec.Dir != transcript.Process {
			if rec.Dir == transcript.CLIToServer {
				lines += bytes.Count(rec.Line(), []byte("\n"))
				size += int64(len(rec.Line()))
			}
			continue
		}
		switch {
		case rec.Event == transcript.EventExit:
			return
		case rec.Reason == transcript.ReasonIdleTimeout:
			spec.Limits.Idle = f.opts.Silence
		case rec.Reason == transcript.ReasonWallTimeout:
			spec.Limits.Wall = f.opts.Silence
		case rec.Reason == transcript.ReasonOutputLimit:
			spec.Limits.Bytes = size
		case rec.Reason == transcript.ReasonInterrupt && lines == 0:
			spec.Interrupt = &harness.Interrupt{Signal: rec.Signal, After: f.opts.Silence}
		case rec.Reason == transcript.ReasonInterrupt:
			s.happen, s.after = func() []harness.Action { return []harness.Action{{Signal: rec.Signal}} }, lines
		case rec.Reason == transcript.ReasonTerminated:
			// It did not exit although its stdin had ended; the host's patience is
			// no matter of the recording.
			s.happen, s.after = func() []harness.Action { return []harness.Action{{Terminate: s.closedAt >= 0}} }, lines
		case rec.Reason == transcript.ReasonCancelled && lines == 0:
			time.AfterFunc(f.opts.Silence, cancel)
		case rec.Reason == transcript.ReasonCancelled:
			s.happen, s.after = func() []harness.Action { cancel(); return nil }, lines
		}
	}
}

// exitText is an exit code or signal for people.
func exitText(code *int, signal string) string {
	if code != nil {
		return strconv.Itoa(*code)
	}
	return signal
}
