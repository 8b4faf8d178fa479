package capture

import (
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// knowing returns what a registry with these observations of one probe knows.
func knowing(versions ...string) (*knowledge, knownScope) {
	k := &knowledge{seen: map[knownScope]map[contract.Digest]map[string]bool{}, obs: map[knownScope][]*store.Observed{}}
	var s knownScope
	for i, v := range versions {
		r := result(v, "shape of "+v, "x")
		o := &store.Observed{Path: v, Observation: *r.Observation}
		o.Capture.CapturedAt = now.Add(time.Duration(i) * time.Minute).Format(capturedAtLayout)
		s = scopeOf(r.Cell)
		k.obs[s] = append(k.obs[s], o)
		k.learn(s, v, o.Shape.Signature)
	}
	return k, s
}

func TestBaseline(t *testing.T) {
	a := agent(t, newRegistry(t), "codex")
	for _, c := range []struct {
		name    string
		known   []string
		version string
		want    string // version of the baseline, "" for none
	}{
		{"nothing known", nil, "0.133.0", ""},
		{"the nearest older", []string{"0.20.0", "0.44.0", "0.40.0", "0.144.0"}, "0.133.0", "0.44.0"},
		{"numbers, not letters", []string{"0.9.0", "0.100.0", "0.20.0"}, "0.133.0", "0.100.0"},
		{"itself", []string{"0.44.0", "0.133.0", "0.144.0"}, "0.133.0", "0.133.0"},
		{"the nearest newer without an older", []string{"0.144.0", "0.171.0", "0.155.0"}, "0.133.0", "0.144.0"},
		{"a prerelease is older", []string{"0.133.0-alpha.9"}, "0.133.0", "0.133.0-alpha.9"},
		{"what is no version says nothing", []string{"nightly"}, "0.133.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, s := knowing(c.known...)
			got := k.baseline(s, a, c.version)
			if got == nil && c.want != "" || got != nil && got.CLIVersion != c.want {
				t.Errorf("baseline %+v, want version %q", got, c.want)
			}
		})
	}
	k, s := knowing("0.44.0")
	for _, other := range []knownScope{
		{"claude", s.probe, s.profile, s.platform}, {s.agent, "auth-failure", s.profile, s.platform},
		{s.agent, s.probe, contract.ProfileCompatible, s.platform}, {s.agent, s.probe, s.profile, "win32-arm64"},
	} {
		if got := k.baseline(other, a, "0.133.0"); got != nil {
			t.Errorf("%+v has the baseline of %+v", other, s)
		}
	}
}

// Of one version the newest observation counts, whatever the order of reading.
func TestBaselineIsTheNewestOfItsVersion(t *testing.T) {
	a := agent(t, newRegistry(t), "codex")
	k, s := knowing("0.44.0", "0.44.0", "0.44.0")
	newest := k.obs[s][2]
	k.obs[s][0], k.obs[s][2] = k.obs[s][2], k.obs[s][0]
	if got := k.baseline(s, a, "0.133.0"); got != newest {
		t.Errorf("baseline of %s, want that of %s", got.Capture.CapturedAt, newest.Capture.CapturedAt)
	}
}

func TestKnowledge(t *testing.T) {
	k, s := knowing("0.44.0")
	old, fresh := stubShape("shape of 0.44.0").Signature, contract.Sum([]byte("fresh"))
	if !k.has(s, old) || k.has(s, fresh) {
		t.Error("what is known is not")
	}
	if k.otherShape(s, "0.44.0", old) || !k.otherShape(s, "0.44.0", fresh) || k.otherShape(s, "0.133.0", fresh) {
		t.Error("another shape of the same version is another signature, and of the same version only")
	}
	k.learn(s, "0.133.0", fresh)
	if !k.has(s, fresh) {
		t.Error("a repeat of a new shape would be new again")
	}
}

func TestNewestKnown(t *testing.T) {
	reg := newRegistry(t)
	a := agent(t, reg, "codex")
	if v, err := newestKnown(reg, a); err != nil || v != "" {
		t.Errorf("an empty registry knows %q, %v", v, err)
	}
	for _, v := range []string{"0.9.0", "0.133.0", "0.44.0"} {
		r := result(v, "s", "x")
		must(t, publish(t.Context(), reg, []*CellResult{r}, retained([]*CellResult{r}), nil))
	}
	if v, err := newestKnown(reg, a); err != nil || v != "0.133.0" {
		t.Errorf("newest is %q, %v", v, err)
	}
}
