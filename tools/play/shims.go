package play

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// commands are the names under which OpenDesign v0.19.2 starts an agent where
// that is not the agent's id (its runtime registry, bin and fallbackBins).
var commands = map[string][]string{
	"amr":           {"vela"},
	"antigravity":   {"agy"},
	"byok-opencode": {"opencode-cli"},
	"claude":        {"claude", "openclaude"},
	"codebuddy":     {"codebuddy", "cbc"},
	"deepseek":      {"deepseek", "codewhale"},
	"grok-build":    {"grok"},
	"kiro":          {"kiro-cli"},
	"opencode":      {"opencode", "opencode-cli"},
	"qoder":         {"qodercli"},
	"reasonix":      {"reasonix", "dsnix"},
	"trae-cli":      {"traecli"},
	"vibe":          {"vibe-acp"},
}

// Shim is one file that InstallShims wrote.
type Shim struct{ Path, Agent string }

// InstallShims writes a program for each agent that has a recording into a
// folder, under every name by which it is started. Each becomes this program's
// play command for that agent, with the given arguments before its own: it can
// stand in for the CLI on PATH. A shim of a former call is replaced; any other
// file is left alone and an error.
func (l *Library) InstallShims(dir, program string, args []string) ([]Shim, error) {
	all, err := l.records("")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("installing shims: %w", err)
	}
	var out []Shim
	done := map[string]bool{}
	for i := range all {
		agent := all[i].Agent
		if done[agent] {
			continue
		}
		done[agent] = true
		names := commands[agent]
		if names == nil {
			names = []string{agent}
		}
		for _, name := range names {
			place, text := shim(dir, name, program, append(slices.Clone(args), "--as", agent))
			if old, err := os.ReadFile(place); err == nil && !strings.Contains(string(old), shimMark) {
				return out, fmt.Errorf("installing shims: %q is there already and no shim of ours: choose an empty folder", place)
			}
			if err := store.WriteAtomic(place, []byte(text), 0o755); err != nil {
				return out, fmt.Errorf("installing shims: %w", err)
			}
			out = append(out, Shim{place, agent})
		}
	}
	slices.SortFunc(out, func(a, b Shim) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

const shimMark = "stands in for a CLI (agent-contracts play)"

// shim returns the place and text of one shim.
func shim(dir, name, program string, args []string) (place, text string) {
	if runtime.GOOS == "windows" {
		quoted := `"` + program + `" play`
		for _, a := range args {
			quoted += ` "` + a + `"`
		}
		return filepath.Join(dir, name+".cmd"), "@rem " + shimMark + "\r\n@" + quoted + " -- %*\r\n"
	}
	quoted := Quote(program) + " play"
	for _, a := range args {
		quoted += " " + Quote(a)
	}
	return filepath.Join(dir, name), "#!/bin/sh\n# " + shimMark + "\nexec " + quoted + " -- \"$@\"\n"
}

// plain are words that mean themselves to a shell.
var plain = lazyregexp.New(`^[A-Za-z0-9_./:@+-]+$`)

// Quote spells a word for a shell.
func Quote(s string) string {
	if plain.Get().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Answer is what a shim prints and exits with when a host asks it for its
// version or its help instead of running a turn; "" for a turn. A version is
// the recorded line; the help names the flags that the recorded command had,
// since hosts look for those.
func (l *Library) Answer(agent string, s Selection, args []string) (string, error) {
	version := []string{"--version"}
	file := &contract.AgentsFile{}
	if l.Registry.ReadJSON(store.AgentsFile, file) == nil {
		if a := file.Agent(agent); a != nil && a.VersionProbe != nil {
			version = a.VersionProbe.Args
		}
	}
	help := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if !slices.Equal(args, version) && !slices.Equal(args, []string{"--version"}) && !help {
		return "", nil
	}
	list, err := l.candidates(agent, s)
	if err != nil {
		return "", err
	}
	if s.Trace != "" {
		list = slices.DeleteFunc(list, func(o *store.Observed) bool { return o != traced(list, s.Trace) })
	}
	if len(list) == 0 {
		return "", &NoMatchError{What: fmt.Sprintf("OD_MOCKS_TRACE=%s: no recording of %s has that id", s.Trace, agent)}
	}
	o := l.newest(list)
	if !help {
		line := o.Extensions.VersionOutput
		if line == "" {
			line = o.CLIVersion
		}
		return line + "\n", nil
	}
	text := "Usage: " + agent + " [flags]\n"
	for _, a := range o.Command.ArgvTemplate {
		if strings.HasPrefix(a, "-") {
			text += "  " + a + "\n"
		}
	}
	return text, nil
}
