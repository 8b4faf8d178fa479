package health_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// copied is a copy of what the repository holds about one version of an agent,
// and one observation in it whose reading is a success.
func copied(t *testing.T) (reg *store.Registry, observation string) {
	t.Helper()
	root, dir := os.DirFS(filepath.Join("..", "..")), t.TempDir()
	for _, folder := range []string{"registry", "probes", "observations/codex/0.133.0", "evidence/codex/0.133.0"} {
		sub, err := fs.Sub(root, folder)
		if err == nil {
			err = os.CopyFS(filepath.Join(dir, filepath.FromSlash(folder)), sub)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reg, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	obs, err := reg.Observations("codex")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range obs {
		for _, named := range []string{o.Shape.Path, o.Extensions.Fixture, o.Extensions.ReferenceGolden, o.ParserReplay.Golden} {
			if named != "" {
				copyFile(t, root, dir, named)
			}
		}
		if o.Probe == "chat-tool-success" && o.Extensions.RunResult == "success" {
			observation = o.Path
		}
	}
	if observation == "" {
		t.Fatal("the repository has no successful chat-tool-success of codex 0.133.0")
	}
	return reg, observation
}

func copyFile(t *testing.T, root fs.FS, dir, place string) {
	t.Helper()
	b, err := fs.ReadFile(root, place)
	to := filepath.Join(dir, filepath.FromSlash(place))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// everything returns every file of a registry by place.
func everything(t *testing.T, reg *store.Registry) map[string]string {
	t.Helper()
	files, err := reg.Walk(".", "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := reg.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(b)
	}
	return out
}

func claims(t *testing.T, reg *store.Registry) string {
	t.Helper()
	b, _, err := matrix.Check(reg)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	failed = contract.UserCorrection{
		RunResult: contract.RunFailed, Failure: &contract.CorrectedFailure{Category: contract.CategoryToolError, Detail: "tool_error"},
		Reason: "The tool refused.", Evidence: []string{"https://example.org/1"}, By: "someone",
	}
	later = time.Date(2999, 1, 1, 0, 0, 0, 123e6, time.UTC)
)

// A correction adds one valid file, and neither a record nor a claim changes.
func TestCorrectionChangesNothingElse(t *testing.T) {
	reg, place := copied(t)
	before, claimed := everything(t, reg), claims(t, reg)
	path, isNew, err := health.Correct(context.Background(), reg, place, failed, later)
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if !strings.HasSuffix(path, "/2999-01-01T000000.123Z.chat-tool-success.evidence.json") {
		t.Errorf("it is at %s", path)
	}
	after := everything(t, reg)
	if after[path] == "" {
		t.Errorf("%s is not there", path)
	}
	delete(after, path)
	for f, text := range before {
		if after[f] != text {
			t.Errorf("%s changed", f)
		}
		delete(after, f)
	}
	for f := range after {
		if f != ".lock" {
			t.Errorf("%s is new", f)
		}
	}
	if claims(t, reg) != claimed {
		t.Error("the matrix changed")
	}
	result, err := validate.Run(reg, []string{path})
	if err != nil || len(result.Problems) > 0 {
		t.Errorf("the record: %v %v", result, err)
	}
	records, err := health.Load(reg)
	if err != nil {
		t.Fatal(err)
	}
	report, err := health.Build(records, health.Options{Now: later})
	if err != nil {
		t.Fatal(err)
	}
	corrected := 0
	for _, row := range report.Rows {
		corrected += row.UserCorrections
		for _, r := range row.History {
			if r.Observation == place && (len(r.Corrections) != 1 || r.Corrections[0] != path || r.RunResult != "success") {
				t.Errorf("the run is %+v", r)
			}
		}
	}
	if corrected != 1 {
		t.Errorf("%d corrections are counted", corrected)
	}
}

func TestCorrectionIsMadeOnce(t *testing.T) {
	reg, place := copied(t)
	ctx := context.Background()
	first, _, err := health.Correct(ctx, reg, place, failed, later)
	if err != nil {
		t.Fatal(err)
	}
	again, isNew, err := health.Correct(ctx, reg, place, failed, later.Add(time.Hour))
	if err != nil || isNew || again != first {
		t.Errorf("again: %s %v %v", again, isNew, err)
	}
	// Another correction of the same millisecond stands beside it.
	other := failed
	other.Reason = "It did not even start."
	second, isNew, err := health.Correct(ctx, reg, place, other, later)
	if err != nil || !isNew || !strings.Contains(second, "000000.124Z") {
		t.Errorf("another: %s %v %v", second, isNew, err)
	}
}

func TestRefusedCorrections(t *testing.T) {
	reg, place := copied(t)
	before := everything(t, reg)
	secret := failed
	secret.Reason = "The key was " + "ghp_" + rand.Text() + rand.Text()[:10]
	for _, c := range []struct {
		name  string
		place string
		u     contract.UserCorrection
		is    func(error) bool
	}{
		{"what the reading says already", place, contract.UserCorrection{RunResult: contract.RunSuccess, Reason: "It did."}, func(err error) bool {
			var same *health.NothingToCorrectError
			return errors.As(err, &same) && same.Says == "success"
		}},
		{"a secret", place, secret, func(err error) bool {
			var leak *health.LeakError
			return errors.As(err, &leak) && !strings.Contains(err.Error(), secret.Reason[12:])
		}},
		{"a run that is not there", "observations/codex/none.observation.json", failed, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"no reason", place, contract.UserCorrection{RunResult: contract.RunFailed}, func(err error) bool { return strings.Contains(err.Error(), "does not validate") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := health.Correct(context.Background(), reg, c.place, c.u, later); err == nil || !c.is(err) {
				t.Errorf("got %v", err)
			}
			for f := range everything(t, reg) {
				if _, there := before[f]; !there && f != ".lock" {
					t.Errorf("%s was written", f)
				}
			}
		})
	}
}

// The cause of a failure can be corrected while the result stands.
func TestCauseIsCorrected(t *testing.T) {
	reg, _ := copied(t)
	obs, err := reg.Observations("codex")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range obs {
		if o.Probe != "auth-failure" || o.Extensions.RunResult != "failed" {
			continue
		}
		same := &health.NothingToCorrectError{}
		_, _, err := health.Correct(context.Background(), reg, o.Path, contract.UserCorrection{RunResult: contract.RunFailed, Reason: "It failed."}, later)
		if !errors.As(err, &same) || !strings.HasPrefix(same.Says, "failed (auth/") {
			t.Fatalf("got %v", err)
		}
		if _, isNew, err := health.Correct(context.Background(), reg, o.Path, failed, later); err != nil || !isNew {
			t.Errorf("another cause: %v %v", isNew, err)
		}
		return
	}
	t.Fatal("the repository has no failed auth-failure of codex")
}
