package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// icons mark the severities in texts for people.
var icons = map[string]string{"breaking": "🔴", "warning": "🟡", "info": "⚪"}

// Markdown writes a diff report for people. It follows from the record alone.
func Markdown(w io.Writer, r *contract.DriftReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s: %s\n\n", r.Agent, r.CLIVersion, r.Verdict)
	fmt.Fprintf(&b, "| | shape | dialect |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| before | `%s` | %s |\n| after | `%s` | %s |\n\n", r.Older.Signature, r.Older.Dialect, r.Newer.Signature, r.Newer.Dialect)
	b.WriteString("## Changes\n\n")
	SignalTable(&b, r.Signals)
	b.WriteString("\n## Seen in\n\n| platform | probe | profile | version before |\n|---|---|---|---|\n")
	for _, c := range r.Cells {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Platform, c.Probe, c.Profile, c.OlderVersion)
	}
	b.WriteString("\nA release between the two versions may have made the change.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// ComparisonMarkdown writes a comparison of two named runs for people.
func ComparisonMarkdown(w io.Writer, names [2]string, verdict contract.Verdict, signals []contract.DriftSignal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\nFrom %s to %s\n\n", verdict, code(names[0]), code(names[1]))
	SignalTable(&b, signals)
	_, err := io.WriteString(w, b.String())
	return err
}

// SignalTable writes changes as a Markdown table, or a line that says that
// there are none.
func SignalTable(b *strings.Builder, signals []contract.DriftSignal) {
	if len(signals) == 0 {
		b.WriteString("No signal.\n")
		return
	}
	b.WriteString("| severity | change | frames | who reads it |\n|---|---|---|---|\n")
	for _, s := range signals {
		severity := icons[s.Severity] + " " + s.Severity
		if s.Ignored != "" {
			severity = "ignored: " + inCell(s.Ignored)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", severity, code(Spell(s)), code(frames(s)), prose(Who(s)))
	}
}

// Spell is a signal in a line, with the other name of what was renamed.
func Spell(s contract.DriftSignal) string {
	out := spelling(s).String()
	if s.Renamed != "" {
		out += fmt.Sprintf(" (renamed: %s)", s.Renamed)
	}
	return out
}

func frames(s contract.DriftSignal) string {
	return strings.TrimSpace(s.EventType + " " + strings.Join(s.Kinds, ", "))
}

// maxPaths is how many paths a table names.
const maxPaths = 4

// Who says which adapters read what changed; "" if that was not measured.
func Who(s contract.DriftSignal) string {
	var parts []string
	if !slices.ContainsFunc(s.Readers, func(r contract.DriftReader) bool { return r.Effect != contract.EffectNotMeasured }) {
		return ""
	}
	for _, r := range s.Readers {
		words := map[contract.DriftEffect]string{
			contract.EffectNeverReads: "never reads it", contract.EffectNew: "does not know it", contract.EffectNotMeasured: "not measured",
		}[r.Effect]
		if r.Effect == contract.EffectReads {
			words = "reads " + cmp.Or(strings.Join(r.Paths[:min(len(r.Paths), maxPaths)], ", "), "it")
			if n := len(r.Paths) - maxPaths; n > 0 {
				words += fmt.Sprintf(" and %d more", n)
			}
		}
		parts = append(parts, r.Adapter+" "+words)
	}
	return strings.Join(parts, "; ")
}

// code is a text as inline code that ends nowhere else, also in a table.
func code(s string) string {
	s = inCell(s)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// inCell keeps a text within one cell of a table, and from a terminal.
func inCell(s string) string {
	return contract.Printable(strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ").Replace(s))
}

// prose is a text for a cell. The names in it are a CLI's: what could be a tag, a
// mention or a link is shown as code.
func prose(s string) string {
	if strings.ContainsAny(s, "<@*`\\") || strings.Contains(s, "](") || strings.Contains(s, "://") {
		return code(s)
	}
	return inCell(s)
}

// Annotations writes one GitHub workflow command a change: an error for a
// breaking one, a warning or a notice for others. title names the comparison.
func Annotations(w io.Writer, title string, signals []contract.DriftSignal) error {
	for _, s := range signals {
		level := map[string]string{"breaking": "error", "warning": "warning"}[s.Severity]
		if level == "" || s.Ignored != "" {
			level = "notice"
		}
		text := Spell(s)
		if readers := Who(s); readers != "" {
			text += " (" + readers + ")"
		}
		if s.Ignored != "" {
			text += ", ignored: " + s.Ignored
		}
		if _, err := fmt.Fprintf(w, "::%s title=%s::%s\n", level, property(title), message(text)); err != nil {
			return err
		}
	}
	return nil
}

// message escapes the data of a workflow command, property also what ends one
// of its properties.
func message(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = contract.Printable(l)
	}
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(strings.Join(lines, "\n"))
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s))
}

// Worst returns the strongest severity that counts, "" for none.
func Worst(signals []contract.DriftSignal) string {
	for _, severity := range []string{"breaking", "warning", "info"} {
		if slices.ContainsFunc(signals, func(s contract.DriftSignal) bool { return s.Severity == severity && s.Ignored == "" }) {
			return severity
		}
	}
	return ""
}
