package cli

import (
	"context"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
)

// adapters are the words for --adapter and the adapters' own names.
var adapters = map[string]string{
	"reference":   replay.AdapterReference,
	"open-design": replay.AdapterOpenDesign,
}

// consumer is who reads: an adapter that is built in or a program.
type consumer struct {
	read  func(context.Context, replay.Input) (*replay.Reading, error)
	close func() error
}

// consumer returns the adapter that --adapter names.
func (a *app) consumer(f *replayFlags) (*consumer, error) {
	if name := adapters[f.adapter]; name != "" {
		return &consumer{
			read: func(ctx context.Context, in replay.Input) (*replay.Reading, error) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				return replay.Run(name, in)
			},
			close: func() error { return nil },
		}, nil
	}
	command, err := external.Split(f.adapter)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "see agent-contracts replay --help"}
	}
	p := external.New(external.Options{Command: command, Dir: a.env.Dir, Timeout: f.timeout})
	return &consumer{read: p.Read, close: func() error {
		err := p.Close()
		if n := p.Stderr(); n > 0 && err == nil {
			a.talk("adapter %s wrote %s on stderr, not shown because they may quote the run", oneLine(p.Name()), count(int(n), "byte"))
		}
		return err
	}}, nil
}
