package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files and generated documents")

// testRegistry is a Resolver over files in memory.
type testRegistry map[string][]byte

// validRegistry returns a fresh copy of testdata/valid, in which every record
// is valid and every reference resolves.
func validRegistry(t testing.TB) testRegistry {
	t.Helper()
	reg := testRegistry{}
	root := filepath.Join("testdata", "valid")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		reg[filepath.ToSlash(rel)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// find returns the one place that ends in suffix.
func (r testRegistry) find(t testing.TB, suffix string) string {
	t.Helper()
	var found []string
	for place := range r {
		if strings.HasSuffix(place, suffix) {
			found = append(found, place)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d files end in %q, want one", len(found), suffix)
	}
	return found[0]
}

func readAs[T any](r testRegistry, place string) (*T, error) {
	b, ok := r[place]
	if !ok {
		return nil, fmt.Errorf("opening %s: %w", place, fs.ErrNotExist)
	}
	v := new(T)
	return v, json.Unmarshal(b, v)
}

func (r testRegistry) Agent(id string) *Agent {
	f, err := readAs[AgentsFile](r, "registry/agents.json")
	if err != nil {
		return nil
	}
	return f.Agent(id)
}

func (r testRegistry) HasProbe(id string) bool { return r["probes/"+id+"/prompt.md"] != nil }

func (r testRegistry) FileDigest(place string) (Digest, error) {
	b, ok := r[place]
	if !ok {
		return "", fmt.Errorf("opening %s: %w", place, fs.ErrNotExist)
	}
	return Sum(b), nil
}

func (r testRegistry) Shape(place string) (ShapeFacts, error) {
	s, err := readAs[Shape](r, place)
	if err != nil {
		return ShapeFacts{}, err
	}
	sig, err := s.ComputeSignature()
	return ShapeFacts{sig, s.ProtocolFamily, s.ValidityLevel}, err
}

func (r testRegistry) ResolveAlias(sig Digest) Digest {
	a, err := readAs[Aliases](r, "shapes/aliases.json")
	if err != nil {
		return sig
	}
	return a.Resolve(sig)
}

func (r testRegistry) Fixtures(sig Digest) []string {
	var out []string
	for place := range r {
		if strings.HasPrefix(place, "fixtures/") && strings.Contains(place, sig.FileName()) {
			out = append(out, place)
		}
	}
	slices.Sort(out)
	return out
}

// Fixture stands in for the normalizer: the shape of a fixture is the one in
// its name, with the members of the file derived.json where there is one.
func (r testRegistry) Fixture(place string, f ProtocolFamily, _ string) (FixtureFacts, error) {
	b, ok := r[place]
	if !ok {
		return FixtureFacts{}, fmt.Errorf("opening %s: %w", place, fs.ErrNotExist)
	}
	facts := FixtureFacts{HasStdout: bytes.Contains(b, []byte(`"stdout"`)), HasStderr: bytes.Contains(b, []byte(`"stderr"`))}
	name, _, _ := strings.Cut(filepath.Base(place), ".")
	sig, err := ParseDigest(name)
	if err != nil {
		return facts, err
	}
	facts.Shape, err = readAs[Shape](r, ShapePath(f, sig))
	if derived, ok := r["derived.json"]; ok && err == nil {
		if err = json.Unmarshal(derived, facts.Shape); err == nil {
			facts.Shape.Signature, err = facts.Shape.ComputeSignature()
		}
	}
	return facts, err
}

func (r testRegistry) ClaimedBy(sig Digest) string {
	m, err := readAs[SupportMatrix](r, "registry/support-matrix.json")
	if err != nil {
		return ""
	}
	for _, e := range m.Agents {
		for _, s := range e.ObservedShapes {
			if s.Shape == sig && e.SupportStatus == SupportVersionRangeVerified {
				return e.Agent
			}
		}
	}
	return ""
}

func (r testRegistry) Observation(place string) (*Observation, error) {
	return readAs[Observation](r, place)
}

func (r testRegistry) Evidence(place string) (*Evidence, error) { return readAs[Evidence](r, place) }

func (r testRegistry) Policy() *Policy {
	p, _ := readAs[Policy](r, "registry/policy.json")
	return p
}

func (r testRegistry) Request(id Digest) (*Request, error) {
	return readAs[Request](r, "registry/requests/"+id.FileName()+".request.json")
}

// checkAll returns every problem of one record.
func (r testRegistry) checkAll(kind RecordKind, place string) []Problem {
	var v Validator
	return v.ValidateIn(r, kind, place, r[place])
}
