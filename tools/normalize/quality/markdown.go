package quality

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Markdown writes the report as a table and the list of what nothing explains.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d fixtures, one of each shape; one change at a time.\n\n", r.Fixtures)
	b.WriteString("| mutation | structural | tried | other signature | in a declared part | unexplained |\n|---|---|---|---|---|---|\n")
	for _, x := range r.Rows {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x.Declared)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, x.Declared[k]))
		}
		structural := "no"
		if x.Structural {
			structural = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %d |\n", x.Mutation, structural, x.Tried, x.Changed, strings.Join(parts, ", "), x.WrongCount)
	}
	for _, x := range r.Rows {
		for _, line := range x.Wrong {
			fmt.Fprintf(&b, "\n- %s: %s", x.Mutation, line)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// Markdown writes the result as two tables: chunkings, and cells that were
// captured repeatedly, by agent, with each that has more than one signature.
func (s *Stable) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d fixtures, one of each shape, cut anew.\n\n| bytes a chunk | runs | other signature |\n|---|---|---|\n", s.Fixtures)
	for _, c := range s.Chunkings {
		fmt.Fprintf(&b, "| %d | %d | %d |\n", c.Bytes, c.Tried, len(c.Changed))
	}
	type sum struct{ cells, captures, one int }
	sums := map[string]sum{}
	for _, c := range s.Repeated {
		x := sums[c.Agent]
		x.cells, x.captures = x.cells+1, x.captures+c.Captures
		if c.Signatures == 1 {
			x.one++
		}
		sums[c.Agent] = x
	}
	b.WriteString("\n| agent | cells captured repeatedly | captures | with one signature |\n|---|---|---|---|\n")
	for _, a := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", a, sums[a].cells, sums[a].captures, sums[a].one)
	}
	for _, c := range s.Chunkings {
		for _, f := range c.Changed {
			fmt.Fprintf(&b, "\n- chunks of %d: %s", c.Bytes, f)
		}
	}
	for _, c := range s.Repeated {
		if c.Signatures > 1 {
			fmt.Fprintf(&b, "\n- %s %s %s (%s): %d signatures in %d captures", c.Agent, c.Version, c.Probe, c.Profile, c.Signatures, c.Captures)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}
