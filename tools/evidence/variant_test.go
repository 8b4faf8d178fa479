package evidence

import (
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// twoShapes is a registry whose live provider showed one run two shapes.
func twoShapes(t *testing.T) (reg *store.Registry, first, second store.Observed) {
	t.Helper()
	from := sampled(t)
	dir := t.TempDir() + "/registry"
	must(t, store.Create(dir, from))
	reg, err := store.Open(dir)
	must(t, err)
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"jo"}],"agents":[]}`)
	first, other := one(t, from, "chat-text-success"), one(t, from, "chat-tool-success")
	second = first
	second.Shape, second.Extensions.Fixture = other.Shape, other.Extensions.Fixture
	for i, o := range []*store.Observed{&first, &second} {
		o.Extensions.Provider = contract.ProviderLive
		o.Capture.CapturedAt = later.Add(time.Duration(i) * time.Hour).Format(time.RFC3339Nano)
		o.Path, err = placeIn(&o.Observation)
		must(t, err)
		b, err := contract.Encode(o.Observation)
		must(t, err)
		write(t, reg, o.Path, string(b))
		add(t, reg, from, o.Shape.Path)
		add(t, reg, from, o.Extensions.Fixture)
	}
	tx, err := reg.Begin(t.Context())
	must(t, err)
	must(t, matrix.RefreshAll(reg, tx, nil, nil))
	must(t, tx.Commit())
	return reg, first, second
}

// What the live provider shows one version beside another shape becomes a server
// variant, and stops to be one when the promotion is taken back.
func TestPromoteToServerVariant(t *testing.T) {
	reg, first, second := twoShapes(t)
	before := everything(t, reg)
	p, asked := promoter(t, reg, "jo", true)
	made, isNew, err := p.Promote(t.Context(), Promotion{Observation: second.Path, To: contract.LevelServerVariant})
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}
	if l := levelOf(t, reg, &second); l != contract.LevelServerVariant {
		t.Errorf("its shape is %s", l)
	}
	if l := levelOf(t, reg, &first); l != contract.LevelRuntimeObserved {
		t.Errorf("the other shape is %s", l)
	}
	_, _, err = Withdraw(t.Context(), reg, Withdrawal{Record: made.Path, Reason: "It was another model.", By: "jo"}, later.Add(time.Minute))
	must(t, err)
	if l := levelOf(t, reg, &second); l != contract.LevelRuntimeObserved {
		t.Errorf("without the promotion its shape is %s", l)
	}
	p.Now = func() time.Time { return later.Add(2 * time.Minute) }
	if again, isNew, err := p.Promote(t.Context(), Promotion{Observation: second.Path, To: contract.LevelServerVariant}); err != nil || !isNew || again.Path == made.Path || *asked != 2 {
		t.Errorf("promoted again after it was taken back: %s, %v, %v, asked %d times", again.Path, isNew, err, *asked)
	}
	if added := onlyAdded(t, before, everything(t, reg)); len(added) != 9 { // two promotions, their attestations, a withdrawal, two requests with their answers
		t.Errorf("history is not kept: new are %q", added)
	}
}
