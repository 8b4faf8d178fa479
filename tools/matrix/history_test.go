package matrix

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A history says of each version what an explanation of that version says.
func TestHistoriesAgreeWithExplain(t *testing.T) {
	r := records(
		seen{version: "1.10.0", probe: rep, shape: "B"}, seen{version: "1.2.0", probe: rep, shape: "A"}, seen{version: "1.0.0", probe: rep, shape: "A"},
		seen{version: "1.0.0", probe: "p", shape: "X"}, seen{version: "1.10.0", probe: "p", shape: "X"},
		seen{version: "1.2.0", probe: rep, shape: "C", profile: "compatible"}, seen{version: "1.1.0", probe: contract.VersionProbeID, shape: "V"},
		seen{version: "1.0.0", probe: rep, shape: "D", minute: 1}, seen{version: "1.0.0", probe: rep, shape: "A", minute: 2})
	list, err := Histories(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Agent != "a" || list[0].Platform != "linux-x64" {
		t.Fatalf("histories of %d agents and platforms, want one", len(list))
	}
	var versions []string
	for _, v := range list[0].Versions {
		versions = append(versions, v.Version)
		e, err := Explain(r, "a", v.Version, "linux-x64", "", "linux-x64")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e.Probes, v.Probes); d != "" {
			t.Errorf("%s: probes, explanation against history:\n%s", v.Version, d)
		}
		if d := cmp.Diff(e.SetAside, v.SetAside, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: set aside, explanation against history:\n%s", v.Version, d)
		}
	}
	if want := []string{"1.0.0", "1.1.0", "1.2.0", "1.10.0"}; !slices.Equal(versions, want) {
		t.Errorf("versions %v, want %v", versions, want)
	}
}
