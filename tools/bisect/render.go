package bisect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
)

// page writes the parts of an answer as text or as Markdown.
type page struct {
	w        io.Writer
	markdown bool
	err      error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *page) heading(level int, s string) {
	if p.markdown {
		p.printf("%s %s\n\n", strings.Repeat("#", level), s)
		return
	}
	p.printf("%s\n", s)
}

// rows writes a table; the first row is the heading.
func (p *page) rows(rows [][]string) {
	if p.markdown {
		for i, r := range rows {
			for j := range r {
				r[j] = strings.ReplaceAll(r[j], "|", "\\|")
			}
			p.printf("| %s |\n", strings.Join(r, " | "))
			if i == 0 {
				p.printf("|%s\n", strings.Repeat("---|", len(r)))
			}
		}
		p.printf("\n")
		return
	}
	var width []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, r := range rows {
		line := " "
		for i, c := range r {
			line += " " + c + strings.Repeat(" ", width[i]-len([]rune(c))+1)
		}
		p.printf("%s\n", strings.TrimRight(line, " "))
	}
	p.printf("\n")
}

// line writes one statement.
func (p *page) line(format string, args ...any) {
	if p.markdown {
		format = "- " + format
	}
	p.printf(format+"\n", args...)
}

// Text writes the answer for people at a terminal.
func (r *Report) Text(w io.Writer) error { return r.write(&page{w: w}) }

// Markdown writes the answer as a page.
func (r *Report) Markdown(w io.Writer) error { return r.write(&page{w: w, markdown: true}) }

func (r *Report) write(p *page) error {
	p.heading(1, fmt.Sprintf("%s on %s, %s to %s", r.Agent, r.Platform, r.From, r.To))
	p.line("%s; captured now: %s", counted(r.Releases, "stable release"), listed(r.Captured))
	if len(r.Wanted) > 0 {
		p.line("still to capture: %s", listed(r.Wanted))
	}
	for _, s := range r.Unavailable {
		p.line("cannot be captured: %s (%s)", s, s.Reason.Meaning())
	}
	if n := len(r.Prereleases); n > 0 {
		p.line("left out: %s", counted(n, "prerelease"))
	}
	p.printf("\n")
	for _, t := range r.Tracks {
		t.write(p)
	}
	return p.err
}

func (t *TrackReport) write(p *page) {
	p.heading(2, t.String())
	rows := [][]string{{"releases", "captured", "shape"}}
	if len(t.Timeline) == 0 {
		p.line("no capture")
	}
	for _, s := range t.Timeline {
		var short []string
		for _, d := range s.Signatures {
			short = append(short, d.Short())
		}
		rows = append(rows, []string{s.span(), fmt.Sprintf("%d of %d", s.Captured, s.Releases), strings.Join(short, " or ")})
	}
	if len(t.Timeline) > 0 {
		p.rows(rows)
	}
	if len(t.Changes) > 0 {
		rows := [][]string{{"change", "for a reader", "for the consumer", "signals"}}
		for _, c := range t.Changes {
			rows = append(rows, []string{c.span(), string(c.Reader), string(c.Verdict), signals(c.Signals, 12)})
		}
		p.rows(rows)
	} else if len(t.Timeline) > 0 {
		p.line("no change between captures")
	}
	if n := len(t.Unseen); n > 0 {
		p.line("not looked at: %s. They lie between equal captures; a change that was taken back there is invisible", spans(t.Unseen))
	}
	for _, s := range t.Missing {
		p.line("no capture: %s (%s)", s, s.Reason.Meaning())
	}
	for _, v := range t.Disputed {
		p.line("disputed: the captures of %s disagree; one more decides", v)
	}
	p.printf("\n")
}

// counted spells a number of things.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// span spells a stretch: 0.44.0, or 0.44.0 – 0.121.0.
func (s Stretch) span() string {
	if s.From == s.To {
		return s.From
	}
	return s.From + " – " + s.To
}

// String spells a stretch with its number of releases.
func (s Stretch) String() string {
	if s.Releases == 1 {
		return s.From
	}
	return fmt.Sprintf("%s (%d releases)", s.span(), s.Releases)
}

// span spells a change: 0.121.0 → 0.133.0, and what lies between.
func (c Change) span() string {
	out := c.From + " → " + c.To
	switch n := len(c.Between); {
	case c.Open:
		out += fmt.Sprintf(" (%d between, to be captured)", n)
	case n > 0:
		out += fmt.Sprintf(" (%d between, none can be captured)", n)
	}
	return out
}

func spans(list []Stretch) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.String()
	}
	return strings.Join(out, ", ")
}

// signals spells the first few signals, each spelling once: kinds of one event
// type are told apart in JSON.
func signals(list []compare.Signal, most int) string {
	var all []string
	for _, s := range list {
		if word := s.String(); !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	if n := len(all); n > most {
		all = append(all[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(all, ", ")
}

func listed(versions []string) string {
	if len(versions) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d (%s)", len(versions), strings.Join(versions, ", "))
}
