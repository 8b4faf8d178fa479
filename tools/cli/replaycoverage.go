package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/coverage"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
)

// coverageDocument is what replay --coverage --format json says of one FILE.
type coverageDocument struct {
	File string `json:"file"`
	*coverage.Report
}

// coverOne prints which paths of one transcript the consumer reads.
func (a *app) coverOne(ctx context.Context, consumer *consumer, in *input, d *contract.Dialect, out *replayOutput) (int, error) {
	ri := replay.Input{Transcript: in.transcript, Agent: d.Parser, Dialect: d}
	read := func(ri replay.Input) (*replay.Reading, error) {
		r, err := consumer.read(ctx, ri)
		var broken *external.Error
		if errors.As(err, &broken) && ctx.Err() == nil && !errors.Is(err, external.ErrTimeout) {
			err = fmt.Errorf("%w: %w", coverage.ErrBroken, err)
		}
		return r, err
	}
	r, err := coverage.Of(ri, read, coverage.DefaultLimits)
	var notRun *coverage.NotRunError
	switch {
	case errors.As(err, &notRun), errors.Is(err, coverage.ErrNoFrames), errors.Is(err, coverage.ErrUnstable):
		a.warn("%s: %s", in.name, err)
		return ExitCannotKnow, nil
	case err != nil:
		return 0, err
	}
	if out.format == "json" {
		out.coverages = append(out.coverages, coverageDocument{in.name, r})
		return ExitOK, nil
	}
	return ExitOK, a.printCoverage(in.name, r)
}

func (a *app) printCoverage(name string, r *coverage.Report) error {
	w := bufio.NewWriter(a.env.Stdout)
	fmt.Fprintf(w, "%s: %s on %s: %s read, %d never read", name, r.Adapter, r.Dialect, count(r.Read, "path"), r.NeverRead)
	if r.NotLookedAt > 0 {
		fmt.Fprintf(w, ", %d not looked at: the transcript is too large to try them all", r.NotLookedAt)
	}
	fmt.Fprintln(w)
	for _, k := range r.Kinds {
		state := string(k.State)
		if state == "" {
			state = "not looked at"
		}
		fmt.Fprintf(w, "%s: %s, %s\n", k.FrameKind, state, count(k.Frames, "frame"))
		for _, list := range []struct {
			words string
			paths []string
		}{{"read", k.Read}, {"never read", k.NeverRead}, {"not looked at", k.NotLookedAt}} {
			if len(list.paths) > 0 {
				fmt.Fprintf(w, "  %s: %s\n", list.words, strings.Join(list.paths, ", "))
			}
		}
	}
	return w.Flush()
}
