package evidence

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

var later = time.Date(2027, 1, 1, 0, 0, 0, 123e6, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sampled is a small true registry made from the committed one: codex 0.133.0
// with everything that its records name.
func sampled(t testing.TB) *store.Registry {
	t.Helper()
	root, err := store.Open(filepath.Join("..", ".."))
	must(t, err)
	dir := filepath.Join(t.TempDir(), "registry")
	must(t, store.Create(dir, root))
	reg, err := store.Open(dir)
	must(t, err)
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"jo"}],"agents":[]}`)
	obs, err := root.Observations("codex")
	must(t, err)
	obs = slices.DeleteFunc(obs, func(o store.Observed) bool {
		return o.CLIVersion != "0.133.0" || !slices.Contains([]string{"chat-text-success", "chat-tool-success", "auth-failure"}, o.Probe)
	})
	if len(obs) < 3 {
		t.Fatal("the committed registry has no codex 0.133.0")
	}
	for i := range obs {
		for _, f := range append(filesOf(&obs[i].Observation, obs[i].Path), errorCaseOf(obs[i].Path)) {
			if f != "" && root.Exists(f) {
				add(t, reg, root, f)
			}
		}
	}
	tx, err := reg.Begin(t.Context())
	must(t, err)
	must(t, matrix.Refresh(reg, tx, nil))
	must(t, tx.Commit())
	return reg
}

func add(t testing.TB, reg, from *store.Registry, f string) {
	t.Helper()
	b, err := from.ReadFile(f)
	must(t, err)
	write(t, reg, f, string(b))
}

func write(t testing.TB, reg *store.Registry, f, content string) {
	t.Helper()
	file := filepath.Join(reg.Dir(), filepath.FromSlash(f))
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(content), 0o644))
}

// one returns an observation of a probe.
func one(t testing.TB, reg *store.Registry, probe string) store.Observed {
	t.Helper()
	obs, err := reg.Observations("codex")
	must(t, err)
	i := slices.IndexFunc(obs, func(o store.Observed) bool { return o.Probe == probe && o.Extensions.Profile == "production" })
	if i < 0 {
		t.Fatalf("no observation of %s", probe)
	}
	return obs[i]
}

// valid checks that the registry is true. It has fewer captures than its
// agents file says.
func valid(t testing.TB, reg *store.Registry) {
	t.Helper()
	r, err := validate.Run(reg, nil)
	must(t, err)
	for _, p := range r.Problems {
		if p.Severity == contract.SeverityError && p.Code != "COVERAGE-UNTRUE" && p.Code != "FILE-ORPHAN" {
			t.Errorf("%s", p)
		}
	}
}

func everything(t testing.TB, reg *store.Registry) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := reg.Walk(".", "")
	must(t, err)
	for _, f := range files {
		b, err := reg.ReadFile(f)
		must(t, err)
		if f != ".lock" {
			out[f] = string(b)
		}
	}
	return out
}

// onlyAdded checks that nothing but derived files changed, and returns what is
// new.
func onlyAdded(t testing.TB, before, after map[string]string) (added []string) {
	t.Helper()
	for f, text := range after {
		old, was := before[f]
		switch {
		case !was:
			added = append(added, f)
		case old != text && f != matrix.Path && !strings.HasPrefix(f, "shapes/"):
			t.Errorf("%s changed", f)
		}
	}
	for f := range before {
		if _, is := after[f]; !is {
			t.Errorf("%s is gone", f)
		}
	}
	slices.Sort(added)
	return added
}

func levelOf(t testing.TB, reg *store.Registry, o *store.Observed) contract.ValidityLevel {
	t.Helper()
	s := &contract.Shape{}
	must(t, reg.ReadJSON(o.Shape.Path, s))
	sig, err := s.ComputeSignature()
	must(t, err)
	if sig != o.Shape.Signature || s.Signature != sig {
		t.Errorf("the signature changed: %s", sig)
	}
	return s.ValidityLevel
}

func statusOf(t testing.TB, reg *store.Registry, o *store.Observed) contract.SupportStatus {
	t.Helper()
	x, err := matrix.LoadIndex(reg)
	must(t, err)
	c, err := x.Find(o.Agent, o.CLIVersion, o.Platform)
	must(t, err)
	return c.Status
}

func reproduction(o *store.Observed) Reproduced {
	return Reproduced{Observation: o.Path, By: "sam", URL: "https://example.org/run/1", Shape: o.Shape.Signature}
}

// promoter answers every question at once, as somebody.
func promoter(t testing.TB, reg *store.Registry, by string, approved bool) (*Promoter, *int) {
	asked := 0
	p := &Promoter{Registry: reg, Requests: requests.Open(t.TempDir(), reg, func() time.Time { return later }), By: by, Now: func() time.Time { return later }}
	p.Inline = func(_ context.Context, pending []contract.Request) ([]contract.Answer, error) {
		asked++
		a, err := requests.AnswerApproval(&pending[0], requests.Approval{Approved: approved, Comment: "said"}, requests.By{Name: by, At: later})
		if err != nil {
			return nil, err
		}
		return []contract.Answer{*a}, nil
	}
	return p, &asked
}

func TestPromoteToCommunityConfirmed(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	before := everything(t, reg)
	r, isNew, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if again, isNew, err := Reproduce(t.Context(), reg, reproduction(&o), later.Add(time.Hour)); err != nil || isNew || again.Path != r.Path {
		t.Errorf("again: %s %v %v", again.Path, isNew, err)
	}
	if l := levelOf(t, reg, &o); l == contract.LevelCommunityConfirmed {
		t.Error("a reproduction alone changed the level")
	}
	p, asked := promoter(t, reg, "jo", true)
	made, isNew, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed})
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if made.Promotion.By != "jo" || made.Promotion.Reproduction.Path != r.Path || made.Promotion.Reason == "" {
		t.Errorf("%+v", made.Promotion)
	}
	if l := levelOf(t, reg, &o); l != contract.LevelCommunityConfirmed {
		t.Errorf("the shape is %s", l)
	}
	valid(t, reg)
	added := onlyAdded(t, before, everything(t, reg))
	if len(added) != 5 { // reproduction, promotion, attestation; request and answer
		t.Errorf("new are %q", added)
	}
	if _, isNew, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}); err != nil || isNew || *asked != 1 {
		t.Errorf("again: %v %v, asked %d times", isNew, err, *asked)
	}
	for _, gone := range []string{made.Path, o.Path} { // the promotion is taken back, then the observation
		if _, isNew, err := Withdraw(t.Context(), reg, Withdrawal{Record: gone, Reason: "It was the same machine.", By: "jo"}, later); err != nil || !isNew {
			t.Fatal(gone, isNew, err)
		}
		if l := levelOf(t, reg, &o); l == contract.LevelCommunityConfirmed {
			t.Errorf("without %s the shape is still %s", gone, l)
		}
		valid(t, reg)
	}
}

func TestRefusedPromotions(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	for _, c := range []struct {
		name    string
		prepare func()
		by      string
		yes     bool
		to      contract.ValidityLevel
		want    string
	}{
		{"nobody reproduced it", nil, "jo", true, contract.LevelCommunityConfirmed, "no reproduction"},
		{"confirmed is derived", nil, "jo", true, contract.LevelConfirmed, "confirmed"},
		{"no other shape", nil, "jo", true, contract.LevelServerVariant, "no other shape"},
		{"a mock", nil, "jo", true, contract.LevelSyntheticMock, "no promotion to this level"},
		{"a maintainer says no", func() { _, _, err := Reproduce(t.Context(), reg, reproduction(&o), later); must(t, err) }, "jo", false, contract.LevelCommunityConfirmed, "refused to attest: said"},
		{"withdrawn", func() {
			_, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "Wrong model.", By: "jo"}, later)
			must(t, err)
		}, "jo", true, contract.LevelCommunityConfirmed, "withdrawn: Wrong model."},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			if c.prepare != nil {
				c.prepare()
			}
			level := levelOf(t, reg, &o)
			p, _ := promoter(t, reg, c.by, c.yes)
			_, _, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: c.to})
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if levelOf(t, reg, &o) != level {
				t.Error("the level changed")
			}
		})
	}
	valid(t, reg)
}

// Where nobody is named nobody vouches: no attestation, no promotion, and none
// that was written by hand. What only takes claims away stays possible.
func TestNobodyVouchesWithoutMaintainers(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	_, _, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	must(t, err)
	p, asked := promoter(t, reg, "jo", true)
	ask := Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}
	_, _, err = p.Promote(t.Context(), ask)
	must(t, err)
	write(t, reg, store.PolicyFile, `{"schema_version":1,"agents":[]}`)
	r, err := validate.Run(reg, []string{"evidence"})
	must(t, err)
	said := 0
	for _, p := range r.Problems {
		if p.Code == "EVID-MAINTAINER" {
			said++
		}
	}
	if said != 2 { // attestation and promotion
		t.Errorf("validate says so of %d records", said)
	}
	other := one(t, reg, "auth-failure")
	_, _, err = Reproduce(t.Context(), reg, reproduction(&other), later)
	must(t, err)
	ask.Observation = other.Path
	var refused *RefusedError
	if _, _, err := p.Promote(t.Context(), ask); !errors.As(err, &refused) || !strings.Contains(refused.Next, "docs/EVIDENCE.md") || *asked != 1 {
		t.Errorf("promoted: %v", err)
	}
	if _, _, err := Attest(t.Context(), reg, &Audit{Observation: other.Path, Verdict: AuditSame}, "jo", later); !errors.As(err, &refused) {
		t.Errorf("attested: %v", err)
	}
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: other.Path, Reason: "x", By: "anybody"}, later); err != nil {
		t.Errorf("withdrawn: %v", err)
	}
}

// Only maintainers decide, once somebody says who they are.
func TestMaintainersDecide(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	_, _, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	must(t, err)
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"jo"},{"handle":"lee"}],"agents":[]}`)
	p, asked := promoter(t, reg, "mallory", true)
	inline := p.Inline
	p.Inline = func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
		if *asked == 2 {
			return nil, requests.ErrLater
		}
		return inline(ctx, pending)
	}
	var suspended *requests.SuspendedError
	if _, _, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}); !errors.As(err, &suspended) {
		t.Errorf("a stranger's yes: %v", err)
	}
	var refused *RefusedError
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "x", By: "mallory"}, later); !errors.As(err, &refused) {
		t.Errorf("a stranger withdraws: %v", err)
	}
	self := reproduction(&o)
	self.By = "lee"
	if _, _, err := Reproduce(t.Context(), reg, self, later); !errors.As(err, &refused) {
		t.Errorf("a maintainer reproduces: %v", err)
	}
	valid(t, reg)
	// A record that somebody wrote by hand does not validate.
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "x", By: "jo"}, later); err != nil {
		t.Fatal(err)
	}
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"lee"}],"agents":[]}`)
	r, err := validate.Run(reg, []string{"evidence"})
	must(t, err)
	if !slices.ContainsFunc(r.Problems, func(p contract.Problem) bool { return p.Code == "EVID-MAINTAINER" }) {
		t.Error("validate lets anybody withdraw")
	}
}

func TestWithdraw(t *testing.T) {
	reg := sampled(t)
	write(t, reg, store.PolicyFile, `{"schema_version":1,"agents":[]}`)
	o := one(t, reg, "chat-tool-success")
	if s := statusOf(t, reg, &o); s != contract.SupportVersionRangeVerified {
		t.Fatalf("the sample is %s", s)
	}
	before := everything(t, reg)
	obs, err := reg.Observations("codex")
	must(t, err)
	for i := range obs {
		if obs[i].Probe != o.Probe {
			continue
		}
		w := Withdrawal{Record: obs[i].Path, Reason: "The scenario was another one.", By: "jo"}
		made, isNew, err := Withdraw(t.Context(), reg, w, later)
		if err != nil || !isNew {
			t.Fatal(isNew, err)
		}
		if again, isNew, err := Withdraw(t.Context(), reg, w, later.Add(time.Hour)); err != nil || isNew || again.Path != made.Path {
			t.Errorf("again: %s %v %v", again.Path, isNew, err)
		}
	}
	if s := statusOf(t, reg, &o); s == contract.SupportVersionRangeVerified {
		t.Error("a version is verified by withdrawn observations")
	}
	for _, f := range onlyAdded(t, before, everything(t, reg)) {
		if !strings.HasPrefix(f, "evidence/") {
			t.Errorf("%s is new", f)
		}
	}
	valid(t, reg)

	var leak *health.LeakError
	other := one(t, reg, "auth-failure")
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: other.Path, Reason: "mail to jo.doe@" + "corp-mail.net", By: "jo"}, later); !errors.As(err, &leak) {
		t.Errorf("a reason with an address: %v", err)
	}
	var refused *RefusedError
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: store.EvidenceOf(other.Path), Reason: "x", By: "jo"}, later); !errors.As(err, &refused) {
		t.Errorf("the capture's own record: %v", err)
	}
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: other.Path, Reason: "x", By: "jo", SupersededBy: o.Path}, later); !errors.As(err, &refused) {
		t.Errorf("superseded by another probe: %v", err)
	}
	for _, place := range []string{"../x.observation.json", "observations/none.observation.json", "registry/agents.json", "evidence/none.evidence.json"} {
		if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: place, Reason: "x", By: "jo"}, later); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", place, err)
		}
	}
}
