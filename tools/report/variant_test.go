package report

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// A version that shows a new shape beside the old one is a server variant when a
// live provider was asked, and no release made it; an emulated one chooses nothing.
func TestSecondShapeOfALiveProvider(t *testing.T) {
	const before, after = "0.42.0", "0.44.0"
	for provider, want := range map[contract.ProviderKind]bool{contract.ProviderLive: true, contract.ProviderEmulated: false} {
		reg := registry(t, "codex", "chat-text-success")
		obs, err := reg.Observations("codex")
		must(t, err)
		for _, o := range obs {
			o.Extensions.Provider = provider
			put(t, reg, o.Path, o.Observation)
			if o.CLIVersion == before {
				o.CLIVersion = after
				put(t, reg, strings.ReplaceAll(o.Path, before, after), o.Observation)
			}
		}
		reports, _, err := Diffs(context.Background(), reg, now, nil)
		must(t, err)
		n := 0
		for _, r := range reports {
			if r.CLIVersion != after {
				continue
			}
			n++
			if got := r.Verdict == contract.VerdictServerVariant; got != want {
				t.Errorf("%s: %s", provider, r.Verdict)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d changes", provider, n)
		}
	}
}

func put(t *testing.T, reg *store.Registry, place string, o contract.Observation) {
	t.Helper()
	b, err := json.Marshal(o)
	must(t, err)
	file := filepath.Join(reg.Dir(), filepath.FromSlash(place))
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, b, 0o644))
}
