package contract

import (
	"os"
	"strings"
	"testing"
)

// archive is a text archive: a comment, then sections that each start with a
// line "-- name --".
type archive struct {
	comment  string
	sections []section
}

type section struct{ name, text string }

func readArchive(t *testing.T, file string) *archive {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{}
	for line := range strings.Lines(string(b)) {
		name, isStart := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		name, isEnd := strings.CutSuffix(name, " --")
		switch {
		case isStart && isEnd:
			a.sections = append(a.sections, section{name: name})
		case len(a.sections) == 0:
			a.comment += line
		default:
			a.sections[len(a.sections)-1].text += line
		}
	}
	return a
}

// get returns the text of a section, and whether it is there.
func (a *archive) get(name string) (string, bool) {
	for _, s := range a.sections {
		if s.name == name {
			return s.text, true
		}
	}
	return "", false
}

// checkGolden compares got with a section, or writes it with -update.
func (a *archive) checkGolden(t *testing.T, file, name, got string) {
	t.Helper()
	want, _ := a.get(name)
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s:\n%swant:\n%s", name, got, want)
		return
	}
	out := a.comment
	for _, s := range a.sections {
		if s.name == name {
			s.text = got
		}
		out += "-- " + s.name + " --\n" + s.text
	}
	if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}
