package compat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// State says how a check went.
type State string

// The states of a check.
const (
	StateOK      State = "ok"
	StateNote    State = "note"    // works, and there is something to know
	StateRepair  State = "repair"  // something does not work until it is repaired
	StateUnknown State = "unknown" // it could not be looked at
)

// Finding is one line of a diagnosis.
type Finding struct {
	Check  string      `json:"check"`
	State  State       `json:"state"`
	Detail string      `json:"detail"`
	Next   matrix.Step `json:"next"` // without text when there is nothing to do
}

// Places are the folders that a diagnosis looks at.
type Places struct {
	Cache        string // of installed releases
	UserRegistry string // the user's own registry, which need not exist
	FromBinary   bool   // the registry is the one in the program
}

// commandTimeout bounds `node --version` and `npm --version`.
const commandTimeout = 20 * time.Second

// Diagnose checks what matters for captures and for the CLIs of this machine.
// It changes nothing.
func (k *Checker) Diagnose(ctx context.Context, p Places) ([]Finding, error) {
	path := k.path()
	out := []Finding{
		{"program", StateOK, "agent-contracts " + contract.ToolVersion + " on " + string(contract.HostPlatform()), matrix.Step{}},
		k.registry(p),
		command(ctx, path, "node", "captures need it for CLIs that are JavaScript; one that fits is installed from npm where it is missing", StateNote),
		command(ctx, path, "npm", "captures cannot install releases; --bin captures a program that is there", StateRepair),
		folder("cache", p.Cache, 0o022),
		folder("state", k.StateDir, 0o022),
		folder("raw store", filepath.Join(k.StateDir, "raw"), 0o077),
		reach(k.StateDir),
		isolation(ctx),
	}
	for _, id := range k.Installed() {
		r, err := k.Check(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			out = append(out, Finding{id, StateUnknown, err.Error(), matrix.Step{}})
			continue
		}
		out = append(out, finding(r))
	}
	if last := out[len(out)-1]; last.Check == "isolation" {
		out = append(out, Finding{"agents", StateNote, "no agent CLI is on PATH", matrix.Step{Text: "install one, or capture releases without installing them", Command: "agent-contracts capture codex"}})
	}
	return out, nil
}

func finding(r *Result) Finding {
	d := &r.Response
	f := Finding{Check: d.Agent, State: StateNote, Next: r.Next}
	if d.InstalledVersion == nil {
		f.State, f.Detail = StateUnknown, strings.Join(r.Why, "; ")
		return f
	}
	f.Detail = fmt.Sprintf("%s %s, %s (%s)", r.Program, *d.InstalledVersion, d.Status, d.Policy.AllowRun)
	switch r.Answer() {
	case matrix.AnswerYes:
		f.State = StateOK
	case matrix.AnswerNo:
		f.State = StateRepair
	}
	return f
}

// registry says which registry is used and how old its claims are.
func (k *Checker) registry(p Places) Finding {
	where := k.Registry.Dir()
	if p.FromBinary {
		where = "the one in this program"
		if _, err := os.Stat(p.UserRegistry); err == nil {
			where += " (your own captures are in " + p.UserRegistry + ")"
		}
	}
	f := Finding{Check: "registry", State: StateOK}
	at, err := time.Parse(time.RFC3339, k.Index.GeneratedAt)
	if err != nil || k.Index.GeneratedAt < "1971" {
		f.State, f.Detail = StateNote, where+" has no observations: nothing is claimed"
		f.Next = matrix.Step{Text: "capture something", Command: "agent-contracts capture codex"}
		return f
	}
	days := int(k.Now().Sub(at).Hours() / 24)
	f.Detail = fmt.Sprintf("%s, newest record %s (%d days old)", where, at.Format(time.DateOnly), days)
	for _, a := range k.Index.Agents() {
		if a.FreshnessDays > 0 && a.Tier == 0 && days > a.FreshnessDays {
			f.State = StateNote
			f.Next = matrix.Step{Text: fmt.Sprintf("its records of %s may be stale (limit %d days)", a.ID, a.FreshnessDays), Command: "agent-contracts health"}
			break
		}
	}
	return f
}

func command(ctx context.Context, path, name, without string, missing State) Finding {
	f := Finding{Check: name, State: missing, Detail: "not on PATH: " + without}
	if missing != StateOK {
		f.Next = matrix.Step{Text: "install Node.js with npm, https://nodejs.org"}
	}
	program := FindProgram(&contract.Agent{Commands: []string{name}}, path)
	if program == "" {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	b, err := cmd.Output()
	version, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if err != nil || version == "" || len(version) > 40 {
		return Finding{name, StateUnknown, program + " does not say its version", matrix.Step{Text: "run it by hand", Command: name + " --version"}}
	}
	return Finding{name, StateOK, program + " " + version, matrix.Step{}}
}

// folder checks a folder of ours: it may be missing, and is then made on first
// use; nobody in forbidden may have rights on it.
func folder(check, dir string, forbidden fs.FileMode) Finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return toBeMade(check, dir)
	case err != nil:
		return Finding{check, StateUnknown, fmt.Sprintf("%s: %v", dir, err), matrix.Step{Text: "check who owns it"}}
	case !info.IsDir():
		return Finding{check, StateRepair, dir + " is not a folder", matrix.Step{Text: "move it away", Command: "mv " + dir + " " + dir + ".old"}}
	}
	mode := info.Mode().Perm()
	if runtime.GOOS != "windows" && mode&forbidden != 0 {
		return Finding{check, StateRepair, fmt.Sprintf("%s has mode %04o: others have rights that they must not have", dir, mode), matrix.Step{Text: "take them away", Command: fmt.Sprintf("chmod %04o %s", mode&^forbidden, dir)}}
	}
	if err := writable(dir); err != nil {
		return Finding{check, StateRepair, dir + " cannot be written", ownFolders}
	}
	return Finding{check, StateOK, fmt.Sprintf("%s, mode %04o", dir, mode), matrix.Step{}}
}

var ownFolders = matrix.Step{Text: "check who owns it, or set XDG_STATE_HOME and XDG_CACHE_HOME to folders of yours"}

// toBeMade checks the folder in which a folder of ours will be made.
func toBeMade(check, dir string) Finding {
	above := filepath.Dir(dir)
	for above != filepath.Dir(above) {
		if _, err := os.Stat(above); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = filepath.Dir(above)
	}
	if err := writable(above); err != nil {
		return Finding{check, StateRepair, dir + " is not there, and cannot be made: " + above + " cannot be written", ownFolders}
	}
	return Finding{check, StateOK, dir + ": made on first use", matrix.Step{}}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reach says whether a child can enter the folders that captures make for it:
// root's children run as another user.
func reach(state string) Finding {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		return Finding{"child", StateOK, "CLIs run as you, in an empty HOME", matrix.Step{}}
	}
	for d := state; d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && info.Mode().Perm()&0o001 == 0 {
			return Finding{"child", StateRepair, "CLIs run as an unprivileged user, who cannot enter " + d, matrix.Step{Text: "set XDG_STATE_HOME to a folder that every user may enter"}}
		}
	}
	return Finding{"child", StateOK, "CLIs run as the user nobody, in an empty HOME", matrix.Step{}}
}

// isolation says whether a child can be kept from the network.
func isolation(ctx context.Context) Finding {
	s, err := harness.NewSandbox(ctx, harness.Options{})
	if err != nil {
		return Finding{"isolation", StateRepair, "no CLI can be started: " + err.Error(), matrix.Step{}}
	}
	defer s.Close()
	if s.Isolated() {
		return Finding{"isolation", StateOK, "CLIs run in a network namespace that has loopback only", matrix.Step{}}
	}
	return Finding{"isolation", StateNote, "CLIs share this machine's network: " + s.Problem(), matrix.Step{Text: "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or user.max_user_namespaces), or run in a container"}}
}
