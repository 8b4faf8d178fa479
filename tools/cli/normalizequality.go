package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/normalize/quality"
)

type qualityFlags struct {
	sensitivity, stability bool
	format                 format
}

func (q *qualityFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&q.sensitivity, "sensitivity", false, "measure which changes of a run give another shape")
	c.Flags().BoolVar(&q.stability, "stability", false, "measure that the same run has one shape")
	c.Flags().StringVar((*string)(&q.format), "format", "", "with a measurement: markdown or json (default markdown)")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"markdown", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// measured is the result of a measurement.
type measured interface {
	OK() bool
	Markdown(w io.Writer) error
}

func (a *app) shapeQuality(q *qualityFlags, prefixes []string) error {
	if q.sensitivity && q.stability {
		return usage("give --sensitivity or --stability, not both")
	}
	if q.format == "" {
		q.format = "markdown"
	}
	if err := q.format.check("markdown", "json"); err != nil {
		return err
	}
	m, err := a.measureShapes(q, prefixes)
	if err != nil {
		return err
	}
	if q.format == "json" {
		err = a.printJSON(m)
	} else {
		err = m.Markdown(a.env.Stdout)
	}
	if err == nil && !m.OK() {
		err = &Exit{Code: ExitFindings}
	}
	return err
}

func (a *app) measureShapes(q *qualityFlags, prefixes []string) (measured, error) {
	reg, err := a.openRecords()
	if err != nil {
		return nil, err
	}
	for i, p := range prefixes {
		if !filepath.IsAbs(p) {
			continue
		}
		if prefixes[i], err = a.place(reg, p); err != nil {
			return nil, err
		}
	}
	fixtures, err := quality.Load(reg, prefixes)
	if err != nil {
		return nil, err
	}
	if len(fixtures) == 0 {
		return nil, usage("the registry has no fixture there")
	}
	if q.sensitivity {
		return quality.Sensitivity(fixtures, a.counted("fixtures"))
	}
	obs, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "agent-contracts-stability-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return quality.Stability(fixtures, obs, prefixes, dir, a.counted("cuts"))
}
