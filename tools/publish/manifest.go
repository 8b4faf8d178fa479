package publish

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// ManifestFile is the manifest's place in the package. npm/src/manifest.ts
// reads what this file writes.
const ManifestFile = "manifest.txt"

const manifestHead = "agent-contracts-manifest/v1"

// Manifest names every file of a package by its hash. It is a text, signed as a
// note (golang.org/x/mod/sumdb/note).
type Manifest struct {
	Package string // name and version
	// Sequence grows with every release, so that a consumer that keeps the last
	// one can refuse a rollback.
	Sequence int64
	Records  string            // time of the newest record
	Files    map[string]string // place, with forward slashes → sha256 in hex
}

// Text returns the text that is signed.
func (m *Manifest) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage: %s\nsequence: %d\nrecords: %s\nfiles: %d\n\n", manifestHead, m.Package, m.Sequence, m.Records, len(m.Files))
	places := make([]string, 0, len(m.Files))
	for p := range m.Files {
		places = append(places, p)
	}
	slices.Sort(places)
	for _, p := range places {
		fmt.Fprintf(&b, "%s  %s\n", m.Files[p], p)
	}
	return b.String()
}

// Sign returns the manifest as it is stored. key is a signer key of note, ""
// for none: then nobody vouches for it.
func (m *Manifest) Sign(key string) ([]byte, error) {
	if key == "" {
		return []byte(m.Text()), nil
	}
	signer, err := note.NewSigner(strings.TrimSpace(key))
	if err != nil {
		return nil, errors.New("the signing key is none: make one with publish --new-key NAME") // never quote a key
	}
	return note.Sign(&note.Note{Text: m.Text()}, signer)
}

// NewKey makes a key pair for manifests of the given name.
func NewKey(name string) (signer, verifier string, err error) {
	return note.GenerateKey(rand.Reader, name)
}

// ReadManifest reads a stored manifest. verifiers are keys of which one must
// have signed it; without any, no signature is asked for.
func ReadManifest(b []byte, verifiers ...string) (*Manifest, error) {
	text := string(b)
	if len(verifiers) > 0 {
		list := make([]note.Verifier, len(verifiers))
		for i, key := range verifiers {
			v, err := note.NewVerifier(strings.TrimSpace(key))
			if err != nil {
				return nil, fmt.Errorf("verifier key %d: %w", i+1, err)
			}
			list[i] = v
		}
		n, err := note.Open(b, note.VerifierList(list...))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ManifestFile, err)
		}
		text = n.Text
	} else if i := strings.LastIndex(text, "\n\n— "); i >= 0 {
		text = text[:i+1]
	}
	return parseManifest(text)
}

func parseManifest(text string) (*Manifest, error) {
	head, body, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || lines[0] != manifestHead {
		return nil, fmt.Errorf("%s: its first line is not %s", ManifestFile, manifestHead)
	}
	members := map[string]string{}
	for _, l := range lines[1:] {
		key, value, _ := strings.Cut(l, ": ")
		members[key] = value
	}
	m := &Manifest{Package: members["package"], Records: members["records"], Files: map[string]string{}}
	var err error
	if m.Sequence, err = strconv.ParseInt(members["sequence"], 10, 64); err != nil || m.Sequence < 1 {
		return nil, fmt.Errorf("%s: it has no sequence", ManifestFile)
	}
	for line := range strings.Lines(body) {
		sum, place, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != 2*sha256.Size {
			return nil, fmt.Errorf("%s: a line is no hash and place", ManifestFile)
		}
		m.Files[place] = sum
	}
	if members["files"] != strconv.Itoa(len(m.Files)) {
		return nil, fmt.Errorf("%s: it is cut short", ManifestFile)
	}
	return m, nil
}

// Check says how files differ from what the manifest names, sorted.
func (m *Manifest) Check(files map[string][]byte) []string {
	var out []string
	for place, want := range m.Files {
		b, ok := files[place]
		switch {
		case !ok:
			out = append(out, place+": it is not there")
		case sum(b) != want:
			out = append(out, place+": it has other bytes than the manifest says")
		}
	}
	for place := range files {
		if _, named := m.Files[place]; !named && place != ManifestFile {
			out = append(out, place+": the manifest does not name it")
		}
	}
	slices.Sort(out)
	return out
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// hashTree returns the hashes of every file below a folder.
func hashTree(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)] = sum(b)
		return nil
	})
	return out, err
}

// clean removes the parts of a text that could forge lines of ours.
func clean(b []byte) string { return string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("\ufffd"))) }
