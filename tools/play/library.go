package play

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Library finds recordings by their names.
type Library struct {
	Registry *store.Registry
	// Raw is the private store, for playing the original chunks; nil plays
	// fixtures only.
	Raw *private.Store
	// Dir is where relative file names start.
	Dir string

	known map[string][]store.Observed // what records returned, by agent
}

// records is Records, read once.
func (l *Library) records(agent string) ([]store.Observed, error) {
	if all, ok := l.known[agent]; ok {
		return slices.Clone(all), nil
	}
	all, err := Records(l.Registry, agent)
	if err != nil {
		return nil, err
	}
	if l.known == nil {
		l.known = map[string][]store.Observed{}
	}
	l.known[agent] = all
	return slices.Clone(all), nil
}

// NameError says that a name names no recording.
type NameError struct{ Name, What string }

// Error implements error.
func (e *NameError) Error() string { return fmt.Sprintf("playing %q: %s", e.Name, e.What) }

// Named is a recording that was found by a name.
type Named struct {
	*Recording
	// Record is what the registry has of the run, nil for a bare file.
	Record *store.Observed
}

// Open finds a recording: a fixture, an observation or a raw bundle by its
// file, here or in the registry, or a fixture by the signature of its shape,
// its own hash or that of its raw bundle, spelled sha256:…, sha256-… or as the
// first eight or more of its characters.
func (l *Library) Open(name string) (*Named, error) {
	b, err := l.file(name)
	if err != nil {
		return nil, err
	}
	if b == nil {
		if b, err = l.recorded(name); b != nil || err != nil {
			return openRaw(b, err)
		}
		o, err := l.bySignature(name)
		if err != nil {
			return nil, err
		}
		return l.Recorded(o)
	}
	if bytes.HasPrefix(b, []byte("agent-contracts bundle\x00")) {
		return openRaw(b, nil)
	}
	if o := observation(b); o != nil {
		return l.Recorded(&store.Observed{Path: name, Observation: *o})
	}
	if l.Raw == nil {
		return open(nil, b, "")
	}
	o, err := l.bySignature(string(contract.Sum(b)))
	if err != nil {
		return nil, err
	}
	return l.Recorded(o)
}

// file returns the content of a file, or nil if there is none of that name.
func (l *Library) file(name string) ([]byte, error) {
	place := name
	if !filepath.IsAbs(place) {
		place = filepath.Join(l.Dir, place)
	}
	info, err := os.Stat(place)
	switch {
	case err == nil && info.IsDir():
		return nil, &NameError{name, "it is a folder"}
	case err == nil:
		return os.ReadFile(place)
	case l.Registry.Exists(filepath.ToSlash(name)) && strings.Contains(name, "."):
		return l.Registry.ReadFile(filepath.ToSlash(name))
	case strings.ContainsAny(name, `/\.`) && !strings.Contains(name, "@"):
		return nil, &NameError{name, "there is no such file, neither here nor in the registry"}
	}
	return nil, nil
}

// observation returns the record if the text is one that names a fixture.
func observation(b []byte) *contract.Observation {
	o := &contract.Observation{}
	if json.Unmarshal(b, o) != nil || o.Extensions.Fixture == "" {
		return nil
	}
	return o
}

func openRaw(b []byte, err error) (*Named, error) {
	if err != nil {
		return nil, err
	}
	return open(nil, b, "")
}

// recorded returns the raw bundle that a whole hash names, or nil if there is
// none: what record kept belongs to no observation.
func (l *Library) recorded(name string) ([]byte, error) {
	d, err := contract.ParseDigest(name)
	if err != nil || l.Raw == nil {
		return nil, nil
	}
	b, err := l.bundle(d)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// bundle returns a raw bundle in clear.
func (l *Library) bundle(d contract.Digest) ([]byte, error) {
	r, err := l.Raw.Open(context.Background(), d, nil)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// Recorded opens the run of a record.
func (l *Library) Recorded(o *store.Observed) (*Named, error) {
	if l.Raw == nil {
		b, err := l.Registry.ReadFile(o.Extensions.Fixture)
		if err != nil {
			return nil, err
		}
		return open(o, b, o.Command.StdinMode)
	}
	d := o.Capture.RawClientTranscriptSHA256
	if d == "" {
		return nil, &NameError{o.Path, "no raw bundle was recorded for it"}
	}
	b, err := l.bundle(d)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NameError{o.Path, fmt.Sprintf("its raw bundle %s is not in the private store of this machine", d.Short())}
	}
	if err != nil {
		return nil, err
	}
	return open(o, b, o.Command.StdinMode)
}

func open(o *store.Observed, b []byte, mode contract.StdinMode) (*Named, error) {
	var rec *Recording
	if bytes.HasPrefix(b, []byte("agent-contracts bundle\x00")) {
		r, err := transcript.ReadBundle(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if rec, err = FromBundle(r, mode); err != nil {
			return nil, err
		}
		return &Named{rec, o}, nil
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if rec, err = FromTranscript(t, mode); err != nil {
		return nil, err
	}
	return &Named{rec, o}, nil
}

// bySignature returns the record of the first fixture that the name fits.
func (l *Library) bySignature(name string) (*store.Observed, error) {
	word := strings.TrimPrefix(strings.TrimPrefix(name, "sha256:"), "sha256-")
	if len(word) < 8 || strings.Trim(word, "0123456789abcdef") != "" {
		return nil, &NameError{name, "it is neither a file nor a signature: want sha256: and at least eight lower-case hexadecimal characters"}
	}
	all, err := l.records("")
	if err != nil {
		return nil, err
	}
	if len(word) == 64 {
		word = l.inForce(contract.Digest("sha256:" + word)).Hex()
	}
	var found *store.Observed
	for _, o := range playable(all, "", l.newer()) {
		switch {
		case !hasPrefix(o, word):
		case found == nil:
			found = o
		case found.Shape.Signature != o.Shape.Signature:
			return nil, &NameError{name, "several shapes begin so: give more characters"}
		}
	}
	if found == nil {
		return nil, &NameError{name, "the registry has no fixture of that signature"}
	}
	return found, nil
}

func hasPrefix(o *store.Observed, word string) bool {
	for _, d := range []contract.Digest{o.Shape.Signature, o.Extensions.FixtureSHA256, o.Capture.RawClientTranscriptSHA256} {
		if strings.HasPrefix(d.Hex(), word) {
			return true
		}
	}
	return false
}

// inForce follows a signature that was renamed.
func (l *Library) inForce(sig contract.Digest) contract.Digest {
	var a contract.Aliases
	if l.Registry.ReadJSON("shapes/aliases.json", &a) != nil {
		return sig // none was renamed
	}
	return a.Resolve(sig)
}

// newer orders two records of one agent by version, then by place.
func (l *Library) newer() func(a, b *store.Observed) int {
	file := &contract.AgentsFile{}
	known := l.Registry.ReadJSON(store.AgentsFile, file) == nil
	return func(a, b *store.Observed) int {
		if known {
			if agent := file.Agent(a.Agent); agent != nil {
				if c, err := agents.CompareVersions(agent, a.CLIVersion, b.CLIVersion); err == nil && c != 0 {
					return c
				}
			}
		}
		return cmp.Compare(a.Path, b.Path)
	}
}
