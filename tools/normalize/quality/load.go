package quality

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Load reads the first fixture of each shape of a registry whose place starts
// with one of the prefixes; no prefix means all.
func Load(reg *store.Registry, prefixes []string) ([]Fixture, error) {
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	files, err := reg.Walk("shapes", ".shape.json")
	if err != nil {
		return nil, err
	}
	var out []Fixture
	for _, f := range files {
		var s contract.Shape
		if err := reg.ReadJSON(f, &s); err != nil {
			return nil, err
		}
		place := store.FixturePath(s.ProtocolFamily, s.Signature, "", true)
		if !wanted(place, prefixes) {
			continue
		}
		b, err := reg.ReadFile(place)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a shape that rests on sources alone
		}
		if err != nil {
			return nil, err
		}
		t, err := transcript.ReadSanitized(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
		d := families.Dialect(s.Extensions.Dialect)
		if d == nil {
			return nil, fmt.Errorf("%s has dialect %q, which registry/families.json does not have", f, s.Extensions.Dialect)
		}
		out = append(out, Fixture{place, d, t})
	}
	return out, nil
}

func wanted(place string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(place, strings.TrimPrefix(p, "./")) {
			return true
		}
	}
	return len(prefixes) == 0
}
