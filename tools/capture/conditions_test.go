package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
)

func TestConditions(t *testing.T) {
	ws := &workspace{cwd: t.TempDir()}
	probe := func(change func(*Probe)) harness.Spec {
		p, spec := &Probe{}, harness.Spec{Path: "/bin/cli"}
		change(p)
		must(t, p.conditions(&spec, ws, nil))
		return spec
	}
	if spec := probe(func(*Probe) {}); spec.Path != "/bin/cli" || spec.Interrupt != nil {
		t.Errorf("a probe that changes nothing gave %+v", spec)
	}
	missing := probe(func(p *Probe) { p.EnvPolicy.Executable = contract.ExecutableMissing })
	if _, err := os.Stat(missing.Path); !errors.Is(err, fs.ErrNotExist) || !filepath.IsAbs(missing.Path) {
		t.Errorf("starts %q, which must be a path to nothing", missing.Path)
	}
	interrupt := func(after contract.InterruptPoint) *harness.Interrupt {
		return probe(func(p *Probe) { p.Scenario.Interrupt = &contract.ScenarioInterrupt{Signal: "SIGINT", After: after} }).Interrupt
	}
	if i := interrupt(contract.InterruptAfterOutput); i.Signal != "SIGINT" || i.AfterBytes != 1 || i.Quiet != 0 {
		t.Errorf("after output: %+v", i)
	}
	if i := interrupt(contract.InterruptAfterRequest); i.AfterBytes != 0 || i.Quiet != interruptQuiet {
		t.Errorf("after the request: %+v", i)
	}
	probe(func(p *Probe) { p.EnvPolicy.Workspace = contract.WorkspaceReadOnly })
	if info, err := os.Stat(ws.cwd); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("the frozen folder has mode %v, %v", info.Mode(), err)
	}
}
