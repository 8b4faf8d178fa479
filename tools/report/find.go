package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// AmbiguousError says that an id fits several records.
type AmbiguousError struct {
	ID    string
	First []string // some of their places
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s fits more than one record: %s", e.ID, strings.Join(e.First, ", "))
}

// minID is how many hex digits an abbreviated signature has at least.
const minID = 8

// Find returns the place of the record that an id names, "" if there is none:
// a shape by its signature (renamed ones by their alias), a fixture by the
// signature and its own digits ("sha256-<shape>.<content>"), or an observation
// by its place without folder and ending. Signatures may be abbreviated.
func Find(reg *store.Registry, id string) (string, error) {
	if hex, ok := strings.CutPrefix(strings.Replace(id, ":", "-", 1), "sha256-"); ok && len(hex) >= minID {
		return findShape(reg, id, hex)
	}
	if strings.Count(id, "/") != 3 {
		return "", nil
	}
	if place := path.Join("observations", id+".observation.json"); reg.Exists(place) {
		return place, nil
	}
	return "", nil
}

func findShape(reg *store.Registry, id, hex string) (string, error) {
	b := builder{reg: reg}
	if err := b.readAliases(); err != nil {
		return "", err
	}
	hex = b.aliases.Resolve(contract.Digest("sha256:" + hex)).Hex()
	folder, suffix := "shapes", ".shape.json"
	if strings.Contains(hex, ".") {
		folder, suffix = "fixtures", ".jsonl"
	}
	files, err := reg.Walk(folder, suffix)
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return !strings.HasPrefix(path.Base(f), "sha256-"+hex) })
	switch len(files) {
	case 0:
		return "", nil
	case 1:
		return files[0], nil
	}
	return "", &AmbiguousError{id, files[:2]}
}

// InputOf is what adapters read of a shape: its first fixture. The transcript
// is nil if the registry has none.
func InputOf(reg *store.Registry, s *contract.Shape, d *contract.Dialect) (replay.Input, error) {
	place := store.FixturePath(s.ProtocolFamily, s.Signature, "", true)
	if !reg.Exists(place) {
		return replay.Input{}, nil
	}
	side, err := Fixture(reg, d, place, d.Parser)
	if err != nil {
		return replay.Input{}, err
	}
	return side.Input, nil
}
