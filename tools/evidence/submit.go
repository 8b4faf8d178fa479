package evidence

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Submit packs the files of one observation, after the checks that whoever gets
// the bundle makes too. Errors: *RefusedError for what would be refused there.
func Submit(reg *store.Registry, place string) (*Bundle, error) {
	if kind, ok := contract.KindOf(place); !ok || kind != contract.KindObservation || !fs.ValidPath(place) {
		return nil, fmt.Errorf("%q is not the place of an observation: %w", place, fs.ErrNotExist)
	}
	o := &contract.Observation{}
	if err := reg.ReadJSON(place, o); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range slices.DeleteFunc(filesOf(o, place), func(f string) bool { return f == "" }) {
		b, err := reg.ReadFile(f)
		if err != nil {
			return nil, err
		}
		files[f] = b
	}
	if e := errorCaseOf(place); reg.Exists(e) {
		b, err := reg.ReadFile(e)
		if err != nil {
			return nil, err
		}
		files[e] = b
	}
	shape := &contract.Shape{}
	if err := store.Decode(o.Shape.Path, files[o.Shape.Path], shape); err != nil {
		return nil, err
	}
	shape.ValidityLevel = contract.LevelRuntimeObserved // what one capture shows, whatever more is known here
	b, err := contract.Encode(shape)
	if err != nil {
		return nil, err
	}
	files[o.Shape.Path] = b
	bundle := newBundle(place, files)
	_, err = check(reg, bundle)
	return bundle, err
}

// filesOf are the places of the files of an observation; "" for one that it
// does not have.
func filesOf(o *contract.Observation, place string) []string {
	return []string{place, store.EvidenceOf(place), o.Shape.Path, o.Extensions.Fixture, o.Extensions.ReferenceGolden, o.ParserReplay.Golden}
}
