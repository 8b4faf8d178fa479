package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

func testGrid(versions string, tracks map[string]string) grid {
	a := &contract.Agent{ID: "a", RepresentativeProbe: "rep"}
	f := &facts{platform: "linux-x64", versions: strings.Fields(versions), at: map[track]map[string]fact{}}
	for probe, cells := range tracks {
		for i, text := range strings.Fields(cells) {
			known := fact{state: matrix.ProbeObserved, shape: contract.Sum([]byte(text[:1])), runs: 1, reading: contract.ReplayCompatible}
			switch text[1:] {
			case "-":
				known.state = matrix.ProbeInterpolated
			case "!":
				known.reading = contract.ReplayIncompatible
			}
			if text == "?" {
				known = fact{state: matrix.ProbeDisputed}
			}
			if text != "." {
				f.put(track{contract.ProfileProduction, contract.FamilyEvents, probe}, f.versions[i], known)
			}
		}
	}
	x, err := matrix.NewIndex(&contract.SupportMatrix{}, &contract.AgentsFile{}, nil)
	if err != nil {
		panic(err)
	}
	s := &Site{Index: x}
	return s.grid(a, f)
}

// show writes a row as people see it: the letter, joined to the one before by
// "=", in brackets if interpolated, with "!" if lossy.
func show(r *row) string {
	var b strings.Builder
	for _, c := range r.Cells {
		text := c.Letter
		switch {
		case c.State == matrix.ProbeInterpolated:
			text = "(" + text + ")"
		case text == "" && c.State == matrix.ProbeDisputed:
			text = "?"
		case text == "":
			text = "."
		}
		if c.Lossy {
			text += "!"
		}
		if c.Joined {
			b.WriteString("=")
		} else {
			b.WriteString(" ")
		}
		b.WriteString(text)
	}
	return strings.TrimSpace(b.String())
}

func TestGrid(t *testing.T) {
	for _, c := range []struct{ cells, want, changed string }{
		{"x x x x", "A=A=A=A", "0000"},
		{"x x y x", "A=A B A", "0011"},
		{"x x- x y!", "A=(A)=A B!", "0001"},
		{"x . x y", "A . A B", "0001"},
		{"x . y .", "A . B .", "0010"},
		{"x ? x x", "A ? A=A", "0000"},
		{". . . z", ". . . A", "0000"},
		{"? ? ? ?", "? ? ? ?", "0000"},
	} {
		g := testGrid("1.0.0 1.1.0 1.2.0 1.3.0", map[string]string{"rep": c.cells})
		if got := show(&g.Groups[0].Rows[0]); got != c.want {
			t.Errorf("%s: drawn %s, want %s", c.cells, got, c.want)
		}
		changed := ""
		for _, col := range g.Columns {
			changed += fmt.Sprint(col.Changed)
		}
		if changed != c.changed {
			t.Errorf("%s: changes %s, want %s", c.cells, changed, c.changed)
		}
	}
}

// The representative probe comes first, and the more shapes than colours there
// are, the more the letters count.
func TestGridLettersGoOn(t *testing.T) {
	var versions, cells []string
	for i := range 30 {
		versions = append(versions, fmt.Sprintf("1.%d.0", i))
		cells = append(cells, string(rune('A'+i)))
	}
	g := testGrid(strings.Join(versions, " "), map[string]string{"rep": strings.Join(cells, " "), "auth-failure": ". . x"})
	r := g.Groups[0].Rows[0]
	if !r.Representative || r.Shapes != 30 {
		t.Errorf("the first row is %s with %d shapes", r.Probe, r.Shapes)
	}
	if a, b := r.Cells[8], r.Cells[27]; a.Letter != "I" || a.Color != 1 || b.Letter != "B2" || b.Color != 4 {
		t.Errorf("cells %s in colour %d and %s in colour %d", a.Letter, a.Color, b.Letter, b.Color)
	}
	seen := map[string]bool{}
	for _, c := range r.Cells {
		if seen[c.Letter] {
			t.Errorf("two shapes are called %s", c.Letter)
		}
		seen[c.Letter] = true
	}
}

// Every version is in one stretch, and a stretch begins with a whole band.
func TestGridWindow(t *testing.T) {
	var versions []string
	for i := range 2*mostColumns + 3 {
		versions = append(versions, fmt.Sprintf("1.%d.0", i))
	}
	var got []string
	for n := 2; n >= 0; n-- {
		g := testGrid(strings.Join(versions, " "), map[string]string{"rep": strings.Repeat("x ", len(versions)), "auth-failure": "x"})
		if !g.window(n) {
			t.Fatalf("stretch %d is empty", n)
		}
		for _, c := range g.Columns {
			got = append(got, c.Version)
		}
		if g.Groups[0].Rows[0].Cells[0].Joined {
			t.Errorf("stretch %d begins in the middle of a band", n)
		}
		if rows := len(g.Groups[0].Rows); rows > 1 && n < 2 {
			t.Errorf("stretch %d shows %d probes, of which one has no capture there", n, rows)
		}
	}
	if strings.Join(got, " ") != strings.Join(versions, " ") {
		t.Errorf("the stretches have %v", got)
	}
	g := testGrid("1.0.0", map[string]string{"rep": "x"})
	if g.window(1) {
		t.Error("there is a second stretch of one version")
	}
}

// Where much was captured a stretch has fewer versions, so that its page has room.
func TestGridStretchesByCaptures(t *testing.T) {
	versions, rows := make([]string, 20), map[string]string{}
	for i := range versions {
		versions[i] = fmt.Sprintf("1.%d.0", i)
	}
	for i := range mostCells / 10 {
		rows[fmt.Sprintf("probe-%d", i)] = strings.Repeat("x ", len(versions))
	}
	g := testGrid(strings.Join(versions, " "), rows)
	if got, want := fmt.Sprint(g.stretches()), "[[10 20] [0 10]]"; got != want {
		t.Errorf("the stretches are %s, want %s", got, want)
	}
}

// Signs and words say what colours say, for every status.
func TestChips(t *testing.T) {
	signs := map[string]string{}
	for _, s := range contract.SupportStatuses {
		for _, observed := range []bool{true, false} {
			c := chipOf(s, contract.AllowRunFor(s, observed))
			if c.Word == "" || c.Sign == "" {
				t.Errorf("%s has the chip %+v", s, c)
			}
			if old := signs[c.Tone]; old != "" && old != c.Sign {
				t.Errorf("tone %s has the signs %s and %s", c.Tone, old, c.Sign)
			}
			signs[c.Tone] = c.Sign
		}
	}
	if len(signs) != 4 {
		t.Errorf("tones and signs %v, want four", signs)
	}
}
