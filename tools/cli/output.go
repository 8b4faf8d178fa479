package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// format is the value of --format.
type format string

func (a *app) formatFlag(c *cobra.Command, f *format, allowed ...string) {
	c.Flags().StringVar((*string)(f), "format", allowed[0], "output: "+strings.Join(allowed, " or "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

func (f format) check(allowed ...string) error {
	for _, w := range allowed {
		if string(f) == w {
			return nil
		}
	}
	return usage("unknown --format %q: want %s", string(f), strings.Join(allowed, " or "))
}

// printJSON writes one value, indented.
func (a *app) printJSON(v any) error {
	b, err := contract.Encode(v)
	if err != nil {
		return err
	}
	if a.machine != nil {
		a.machine.values = append(a.machine.values, b)
		a.machine.types = append(a.machine.types, reflect.TypeOf(v))
		return nil
	}
	_, err = a.env.Stdout.Write(b)
	return err
}

// table writes rows in aligned columns; the first row is the heading.
func table(w io.Writer, rows [][]string) error {
	var width []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// warn writes one line for people that --quiet does not silence.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.env.Stderr, "%s\n", oneLine(fmt.Sprintf(format, args...)))
}

// countEvery is how often work that is counted says how far it is in a log.
const countEvery = 10 * time.Second

// counted returns a progress function that redraws one line on a terminal,
// "12/345 what", and elsewhere, where lines stay, writes one now and then; nil
// with --quiet.
func (a *app) counted(what string) func(done, all int) {
	if a.quiet {
		return nil
	}
	if !a.env.Terminal {
		last := a.env.Now()
		return func(done, all int) {
			if now := a.env.Now(); done < all && now.Sub(last) >= countEvery {
				last = now
				a.talk("%d/%d %s", done, all, what)
			}
		}
	}
	return func(done, all int) {
		end := ""
		if done == all {
			end = "\r\x1b[K"
		}
		fmt.Fprintf(a.env.Stderr, "\r\x1b[K%d/%d %s%s", done, all, what, end)
	}
}
