package matrix

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func index(t testing.TB, r *Records) *Index {
	t.Helper()
	m, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewIndex(m, r.Agents, &r.Policy)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func shape(name string) contract.Digest { return contract.Sum([]byte(name)) }

// Every status of the specification, in its order, with what FINE-PRINT 17 says
// a consumer is told to do.
func TestClassify(t *testing.T) {
	base := []seen{
		{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.2.0", probe: rep, shape: "A"},
		{version: "1.3.0", probe: rep, shape: "L", status: contract.ReplayIncompatible},
		{version: "1.4.0", probe: rep, shape: "V", live: true}, {version: "1.4.0", probe: rep, shape: "W", live: true, minute: 1},
		{version: "1.5.0", probe: rep, shape: "C"},
		{version: "1.6.0", probe: rep, shape: "D"}, {version: "1.6.0", probe: rep, shape: "E", minute: 1},
		{version: "1.7.0", probe: "p", shape: "A"},
		{version: "2.0.0-alpha.1", probe: rep, shape: "A"},
	}
	policy := contract.Policy{SchemaVersion: 1, Agents: []contract.AgentPolicy{{
		Agent:               "a",
		TooOld:              []contract.TooOld{{Below: "0.5.0", Reason: "no JSON"}},
		KnownBreaking:       []contract.KnownBreaking{{VersionRanges: []string{">=0.6.0 <0.7.0", "<0.2.0"}, Reason: "hangs", Evidence: []string{"https://example.org/1"}}},
		KnownBreakingShapes: []contract.KnownBreakingShape{{Shape: shape("C"), Reason: "no text", Evidence: "https://example.org/2"}, {Shape: shape("X"), Reason: "no text", Evidence: "https://example.org/3"}},
		Overrides:           []contract.PolicyOverride{{VersionRanges: []string{"=9.9.9"}, SupportStatus: contract.SupportNewerThanVerified, AllowRun: contract.AllowRunBlock, Reason: "recalled"}, {VersionRanges: []string{"=1.7.0"}, AllowRun: contract.AllowRunAllow, Reason: "seen to work"}},
	}}}
	r := records(base...)
	r.Policy = policy
	x := index(t, r)
	probed := func(name string) Probed {
		return Probed{Done: true, Shape: shape(name), At: "2026-02-01T00:00:00Z"}
	}
	for _, c := range []struct {
		name, version string
		platform      contract.Platform
		probe         Probed
		status        contract.SupportStatus
		allow         contract.AllowRun
		action        contract.CLIAction
		answer        Answer
		source        contract.EvidenceSource
	}{
		{"too old, and first of all", "0.1.0", "linux-x64", probed("A"), "too_old", "block", "upgrade_cli", AnswerNo, "support_matrix"},
		{"too old on a platform without records", "0.4.9", "darwin-arm64", Probed{}, "too_old", "block", "upgrade_cli", AnswerNo, "support_matrix"},
		{"known breaking, whatever a probe says", "0.6.3", "linux-x64", probed("A"), "known_breaking", "block", "pin_supported_version", AnswerNo, "known_breaking"},
		{"a probe finds a verified shape", "7.0.0", "linux-x64", probed("A"), "local_shape_verified", "allow", "none", AnswerYes, "local_probe"},
		{"a probe finds it on a platform without records", "7.0.0", "darwin-arm64", probed("A"), "local_shape_verified", "allow", "none", AnswerYes, "local_probe"},
		{"a probe finds a breaking shape", "1.0.0", "linux-x64", probed("X"), "known_breaking_shape", "block", "pin_supported_version", AnswerNo, "local_probe"},
		{"a probe finds an unknown shape", "1.0.0", "linux-x64", probed("Z"), "active_shape_unknown", "warn", "report_unknown_shape", AnswerCannotKnow, "local_probe"},
		{"a probe finds a shape that the consumer does not understand", "1.3.0", "linux-x64", probed("L"), "unknown", "warn", "run_local_probe", AnswerCannotKnow, "local_probe"},
		{"a probe finds it where another shape is verified", "1.0.0", "linux-x64", probed("L"), "unknown", "warn", "run_local_probe", AnswerCannotKnow, "local_probe"},
		{"a probe whose run gave no shape", "1.0.0", "linux-x64", Probed{Done: true, At: "2026-02-01T00:00:00Z"}, "active_shape_unknown", "warn", "report_unknown_shape", AnswerCannotKnow, "local_probe"},
		{"a hermetic probe where the server chooses", "1.4.0", "linux-x64", probed("V"), "server_variant_possible", "warn", "run_local_probe", AnswerCannotKnow, "local_probe"},
		{"a live probe where the server chooses", "1.4.0", "linux-x64", Probed{Done: true, Shape: shape("V"), At: "2026-02-01T00:00:00Z", Live: true}, "local_shape_verified", "allow", "none", AnswerYes, "local_probe"},
		{"the server chooses", "1.4.0", "linux-x64", Probed{}, "server_variant_possible", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"a recorded breaking shape", "1.5.0", "linux-x64", Probed{}, "known_breaking_shape", "block", "pin_supported_version", AnswerNo, "known_breaking"},
		{"verified itself", "1.2.0", "linux-x64", Probed{}, "version_range_verified", "allow", "none", AnswerYes, "support_matrix"},
		{"with a leading zero it is another token", "1.02.0", "linux-x64", Probed{}, "version_range_verified", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"interpolated", "1.1.0", "linux-x64", Probed{}, "version_range_verified", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"interpolated pre-release", "1.2.0-beta.1", "linux-x64", Probed{}, "version_range_verified", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"verified pre-release", "2.0.0-alpha.1", "linux-x64", Probed{}, "version_range_verified", "allow", "none", AnswerYes, "support_matrix"},
		{"newer than verified", "2.0.0", "linux-x64", Probed{}, "newer_than_verified", "warn", "run_local_probe", AnswerCannotKnow, "none"},
		{"newer, and people say no", "9.9.9", "linux-x64", Probed{}, "newer_than_verified", "block", "run_local_probe", AnswerNo, "none"},
		{"the consumer loses something", "1.3.0", "linux-x64", Probed{}, "unknown", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"disputed", "1.6.0", "linux-x64", Probed{}, "unknown", "warn", "run_local_probe", AnswerCannotKnow, "support_matrix"},
		{"the representative probe is missing, and people say yes", "1.7.0", "linux-x64", Probed{}, "unknown", "allow", "none", AnswerYes, "support_matrix"},
		{"nothing on this platform", "1.2.0", "darwin-arm64", Probed{}, "unknown", "warn", "run_local_probe", AnswerCannotKnow, "none"},
		{"before everything", "0.9.0", "linux-x64", Probed{}, "unknown", "warn", "run_local_probe", AnswerCannotKnow, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := x.Classify("a", c.version, c.platform, c.probe)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.status || got.Policy.AllowRun != c.allow || got.Policy.UserAction != c.action || got.Answer() != c.answer || got.Evidence.Source != c.source {
				t.Errorf("got %s %s %s %s %s", got.Status, got.Policy.AllowRun, got.Policy.UserAction, got.Answer(), got.Evidence.Source)
			}
			if why := got.Why(); len(why) == 0 {
				t.Error("no reason is given")
			}
			if next := got.Next("linux-x64"); (next.Text == "") != (c.allow == "allow") {
				t.Errorf("next step %q", next)
			}
			if found, err := x.Find("a", c.version, c.platform); !c.probe.Done && (err != nil || found.Status != got.Status || found.Policy != got.Policy) {
				t.Errorf("Find says %s, %v", found.Status, err)
			}
		})
	}
}

// What a claim shows of its evidence is that of the representative probe.
func TestEvidence(t *testing.T) {
	x := index(t, records(
		seen{version: "1.0.0", probe: rep, shape: "A", minute: 3}, seen{version: "1.0.0", probe: "p", shape: "P", minute: 9},
		seen{version: "1.2.0", probe: rep, shape: "A", minute: 5}, seen{version: "1.2.0", probe: rep, shape: "Z", minute: 6}, seen{version: "1.2.0", probe: rep, shape: "A", minute: 7}))
	for version, at := range map[string]string{"1.0.0": "2026-01-01T00:07:00Z", "1.1.0": "2026-01-01T00:07:00Z"} {
		c, err := x.Find("a", version, "linux-x64")
		if err != nil {
			t.Fatal(err)
		}
		e := c.Evidence
		if e.ShapeSignature == nil || *e.ShapeSignature != shape("A") || *e.ObservedAt != at || *e.VersionRange != ">=1.0.0 <=1.2.0" {
			b, _ := json.Marshal(e)
			t.Errorf("%s: %s", version, b)
		}
	}
	// An outvoted shape is no supported one.
	if c, err := x.Classify("a", "1.2.0", "linux-x64", Probed{Done: true, Shape: shape("Z")}); err != nil || c.Status != contract.SupportActiveShapeUnknown {
		t.Errorf("the outvoted shape is %s, %v", c.Status, err)
	}
}

// What another probe's family says of a version is no evidence of how the
// representative probe goes there, unless people decided it.
func TestGapIsNotAnotherFamilys(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.9.0", probe: rep, shape: "B"}, seen{version: "2.0.0", probe: "p", shape: "C"},
		seen{version: "1.0.0", probe: "models", shape: "M", family: contract.FamilyPlain}, seen{version: "1.9.0", probe: "models", shape: "M", family: contract.FamilyPlain},
		seen{version: "3.0.0", probe: "models", shape: "N", family: contract.FamilyPlain})
	r.Policy = contract.Policy{SchemaVersion: 1, Agents: []contract.AgentPolicy{{Agent: "a", KnownBreaking: []contract.KnownBreaking{{VersionRanges: []string{"=1.5.0"}, Reason: "hangs", Evidence: []string{"https://example.org/1"}}}}}}
	x := index(t, r)
	for _, c := range []struct {
		version, versions string
		status            contract.SupportStatus
		probe             Probed
	}{
		{"1.0.0", "1.0.0", contract.SupportVersionRangeVerified, Probed{}},
		{"1.4.0", "", contract.SupportUnknown, Probed{}},
		{"1.4.0", "", contract.SupportLocalShapeVerified, Probed{Done: true, Shape: shape("A"), At: "2026-02-01T00:00:00Z"}},
		{"1.5.0", "=1.5.0", contract.SupportKnownBreaking, Probed{}},
		{"2.0.0", "2.0.0", contract.SupportNewerThanVerified, Probed{}}, // its family, though not its probe
		{"3.0.0", "", contract.SupportNewerThanVerified, Probed{}},
	} {
		got, err := x.Classify("a", c.version, "linux-x64", c.probe)
		if err != nil {
			t.Fatal(err)
		}
		versions := ""
		if got.Evidence.VersionRange != nil {
			versions = *got.Evidence.VersionRange
		}
		entry, err := x.SupportEntry("a", c.version, "linux-x64")
		if err != nil || got.Status != c.status || versions != c.versions || (entry == nil) != (versions == "") {
			t.Errorf("%s is %s by %q, entry %v, %v", c.version, got.Status, versions, entry, err)
		}
		if source := got.Evidence.Source; versions == "" && !c.probe.Done && (source != contract.EvidenceFromNone || got.Evidence.ObservedAt != nil) {
			t.Errorf("%s: evidence from %s", c.version, source)
		}
	}
	// Where the representative probe was never captured nobody knows its family.
	x = index(t, records(seen{version: "1.0.0", probe: "models", shape: "M", family: contract.FamilyPlain}))
	if c, err := x.Find("a", "1.0.0", "linux-x64"); err != nil || c.Entry == nil {
		t.Errorf("nothing is said of the only capture: %v, %v", c.Entry, err)
	}
}

// Builds and calendar versions are ordered by the agent's scheme.
func TestOddVersions(t *testing.T) {
	r := records(
		seen{version: "2025.11.06-8fe8a63", probe: rep, shape: "A"}, seen{version: "2025.12.01-1a2b3c4", probe: rep, shape: "A"},
		seen{version: "2026.01.02-0000001", probe: rep, shape: "B"})
	r.Agents.Agents[0].VersionProbe.Scheme = contract.SchemeBuild
	r.Policy = contract.Policy{SchemaVersion: 1, Agents: []contract.AgentPolicy{{Agent: "a", TooOld: []contract.TooOld{{Below: "2025.06.01-0000000", Reason: "no JSON"}}}}}
	x := index(t, r)
	for version, want := range map[string]contract.SupportStatus{
		"2025.11.06-8fe8a63": contract.SupportVersionRangeVerified,
		"2025.11.20-abcdef0": contract.SupportVersionRangeVerified,
		"2025.12.20-abcdef0": contract.SupportUnknown,
		"2026.02.01-abcdef0": contract.SupportNewerThanVerified,
		"2025.05.30-abcdef0": contract.SupportTooOld,
		"1.0":                contract.SupportTooOld,
	} {
		c, err := x.Find("a", version, "linux-x64")
		if err != nil || c.Status != want {
			t.Errorf("%s: %s, %v; want %s", version, c.Status, err, want)
		}
	}
	for _, bad := range []string{"", "latest", "1", "1.2.3.4.5"} {
		if _, err := x.Find("a", bad, "linux-x64"); err == nil {
			t.Errorf("%q is a version", bad)
		}
	}
	if _, err := x.Find("b", "1.0.0", "linux-x64"); err == nil {
		t.Error("an unknown agent is known")
	}
}

// Any number of observations that are removed, in any order, tells nobody to
// run more of a version that lost none of its own.
func TestManyRemovalsNeverWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := anySeen(t)
		kept := slices.DeleteFunc(slices.Clone(list), func(seen) bool { return rapid.Bool().Draw(t, "gone") })
		touched := map[string]bool{}
		for _, s := range list {
			if !slices.Contains(kept, s) {
				touched[s.version] = true
			}
		}
		before, after := indexOf(t, records(list...)), indexOf(t, records(rapid.Permutation(kept).Draw(t, "order")...))
		for _, v := range []string{"0.9.0", "1.0.0", "1.0.5", "1.1.0", "1.1.5", "1.2.0", "1.10.0", "1.11.0"} {
			b, errB := before.Find("a", v, "linux-x64")
			a, errA := after.Find("a", v, "linux-x64")
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if !touched[v] && slices.Index(permissive, a.Policy.AllowRun) > slices.Index(permissive, b.Policy.AllowRun) {
				t.Fatalf("%s lost nothing and became %s", v, a.Policy.AllowRun)
			}
		}
	})
}

// permissive orders what a consumer is told to do.
var permissive = []contract.AllowRun{contract.AllowRunBlock, contract.AllowRunWarn, contract.AllowRunAllow}

// Removing an observation never tells a consumer to run more: no other version
// gains anything, and the version itself only when what is removed contradicted
// what stays.
func TestRemovalNeverWidens(t *testing.T) {
	versions := []string{"0.9.0", "1.0.0", "1.0.5", "1.1.0", "1.1.5", "1.2.0", "1.10.0", "1.11.0"}
	rapid.Check(t, func(t *rapid.T) {
		list := fewSeen(t)
		if rapid.Bool().Draw(t, "anything") {
			list = anySeen(t)
		}
		if len(list) == 0 {
			return
		}
		gone := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
		removed := list[gone]
		before, after := indexOf(t, records(list...)), indexOf(t, records(slices.Delete(slices.Clone(list), gone, gone+1)...))
		contradicts := slices.ContainsFunc(list, func(s seen) bool {
			return s.version == removed.version && s.probe == removed.probe && (s.shape != removed.shape || s.status != removed.status)
		}) || removed.status == contract.ReplayIncompatible
		for _, v := range versions {
			b, errB := before.Find("a", v, "linux-x64")
			a, errA := after.Find("a", v, "linux-x64")
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if slices.Index(permissive, a.Policy.AllowRun) <= slices.Index(permissive, b.Policy.AllowRun) {
				continue
			}
			if v != removed.version {
				t.Fatalf("without an observation of %s, %s became %s", removed.version, v, a.Policy.AllowRun)
			}
			if !contradicts {
				t.Fatalf("without an observation that nothing contradicts, %s became %s", v, a.Policy.AllowRun)
			}
		}
	})
}

// One bad observation beside four that agree changes nothing about any version.
func TestOnePoisonedObservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []seen
		for _, v := range []string{"1.0.0", "1.1.0"} {
			for i := range 4 {
				list = append(list, seen{version: v, probe: rep, shape: "A", minute: i}, seen{version: v, probe: "p", shape: "P", minute: i})
			}
		}
		list = rapid.Permutation(list).Draw(t, "order")
		bad := seen{version: rapid.SampledFrom([]string{"1.0.0", "1.1.0"}).Draw(t, "version"), probe: rapid.SampledFrom([]string{rep, "p"}).Draw(t, "probe"), minute: rapid.IntRange(0, 400).Draw(t, "minute"),
			shape:    rapid.SampledFrom([]string{"A", "B"}).Draw(t, "shape"),
			status:   rapid.SampledFrom([]contract.ReplayStatus{contract.ReplayCompatible, contract.ReplayIncompatible, contract.ReplayNotRun}).Draw(t, "status"),
			live:     rapid.Bool().Draw(t, "live"),
			violated: rapid.Bool().Draw(t, "violated")}
		before, after := indexOf(t, records(list...)), indexOf(t, records(append(list, bad)...))
		for _, v := range []string{"0.9.0", "1.0.0", "1.0.5", "1.1.0", "1.2.0"} {
			b, errB := before.Find("a", v, "linux-x64")
			a, errA := after.Find("a", v, "linux-x64")
			if errA != nil || errB != nil || a.Status != b.Status || a.Policy != b.Policy {
				t.Fatalf("%s: %s %v became %s %v", v, b.Status, b.Policy, a.Status, a.Policy)
			}
		}
	})
}

func indexOf(t *rapid.T, r *Records) *Index {
	m, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewIndex(m, r.Agents, &r.Policy)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
