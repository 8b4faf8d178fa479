package evidence

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// Bundle is what a contributor submits: exactly the files of one observation.
// As bytes it is a gzipped tar: manifest.json, then the files in the manifest's
// order under the names 0, 1, 2 …, so that no name in it is ever a path. The same
// files always give the same tar.
type Bundle struct {
	Manifest Manifest
	// Files has the content of each file by its place in a registry.
	Files map[string][]byte
}

// Manifest says what a bundle holds.
type Manifest struct {
	SchemaVersion int          `json:"schema_version"`
	Tool          string       `json:"tool"` // program with its version
	Observation   string       `json:"observation"`
	Files         []BundleFile `json:"files"` // sorted by place
}

// BundleFile is one file of a bundle.
type BundleFile struct {
	Path   string          `json:"path"` // its place in a registry
	SHA256 contract.Digest `json:"sha256"`
	Bytes  int64           `json:"bytes"`
}

const manifestName = "manifest.json"

// What a bundle may hold: more than any observation that a capture can make,
// and less than what hurts.
const (
	maxBundle   = 64 << 20 // as it comes
	maxManifest = 64 << 10
	maxFiles    = 8
)

// maxUnpacked is all of it. It is a variable for the test with a bomb.
var maxUnpacked int64 = 160 << 20

// BundleError says that bytes are no bundle, or a hostile one. Its text quotes
// nothing of them but short names.
type BundleError struct{ What string }

// Error implements error.
func (e *BundleError) Error() string { return "this is no bundle: " + e.What }

func notBundle(format string, args ...any) error { return &BundleError{fmt.Sprintf(format, args...)} }

// newBundle makes a bundle of files, by place.
func newBundle(observation string, files map[string][]byte) *Bundle {
	b := &Bundle{Manifest: Manifest{SchemaVersion: contract.SchemaVersion, Tool: "agent-contracts " + contract.ToolVersion, Observation: observation}, Files: files}
	for place, content := range files {
		b.Manifest.Files = append(b.Manifest.Files, BundleFile{Path: place, SHA256: contract.Sum(content), Bytes: int64(len(content))})
	}
	slices.SortFunc(b.Manifest.Files, func(x, y BundleFile) int { return strings.Compare(x.Path, y.Path) })
	return b
}

// tar returns the bundle before compression.
func (b *Bundle) tar() ([]byte, error) {
	manifest, err := contract.Encode(b.Manifest)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(name string, content []byte) {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR})
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	add(manifestName, manifest)
	for i, f := range b.Manifest.Files {
		add(strconv.Itoa(i), b.Files[f.Path])
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("packing a bundle: %w", err)
	}
	return out.Bytes(), nil
}

// Encode returns the bundle as it is sent.
func (b *Bundle) Encode() ([]byte, error) {
	t, err := b.tar()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(t)
	err = errors.Join(err, z.Close()) // which writes the end
	return out.Bytes(), err
}

// ReadBundle reads foreign bytes. Nothing of them is believed: what is not
// byte for byte what submit would pack of the same files is refused, and so are
// links, paths, devices, hidden or trailing bytes, wrong hashes and sizes, and
// anything that unpacks to more than a bundle may hold. Its errors are
// *BundleError.
func ReadBundle(r io.Reader) (*Bundle, error) {
	packed, err := io.ReadAll(io.LimitReader(r, maxBundle+1))
	if err != nil {
		return nil, fmt.Errorf("reading a bundle: %w", err)
	}
	if len(packed) > maxBundle {
		return nil, notBundle("it is larger than %d MiB", maxBundle>>20)
	}
	unpacked, err := unzip(packed)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Files: map[string][]byte{}}
	if err := b.untar(unpacked); err != nil {
		return nil, err
	}
	again, err := b.tar()
	if err != nil || !bytes.Equal(again, unpacked) {
		return nil, notBundle("it holds more than the files of its manifest, or holds them in another form")
	}
	return b, nil
}

func unzip(packed []byte) ([]byte, error) {
	in := bufio.NewReader(bytes.NewReader(packed))
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, notBundle("it is not gzip")
	}
	z.Multistream(false)
	out, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, notBundle("it is damaged or cut off")
	case int64(len(out)) > maxUnpacked:
		return nil, notBundle("it unpacks to more than %d MiB", maxUnpacked>>20)
	case len(z.Extra) > 0 || z.Name != "" || z.Comment != "":
		return nil, notBundle("its gzip header holds something")
	}
	if _, err := in.ReadByte(); err == nil {
		return nil, notBundle("something follows its end")
	}
	return out, nil
}

func (b *Bundle) untar(unpacked []byte) error {
	t := tar.NewReader(bytes.NewReader(unpacked))
	manifest, err := entry(t, manifestName, maxManifest)
	if err != nil {
		return err
	}
	if err := b.read(manifest); err != nil {
		return err
	}
	for i, f := range b.Manifest.Files {
		content, err := entry(t, strconv.Itoa(i), f.Bytes)
		if err != nil {
			return err
		}
		if int64(len(content)) != f.Bytes || contract.Sum(content) != f.SHA256 {
			return notBundle("file %d is not the one that its manifest names", i)
		}
		b.Files[f.Path] = content
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return notBundle("it holds more files than its manifest names")
	}
	return nil
}

// entry reads the next file, which must be a plain one of a name.
func entry(t *tar.Reader, name string, most int64) ([]byte, error) {
	h, err := t.Next()
	switch {
	case err != nil:
		return nil, notBundle("it has no %s", name)
	case h.Typeflag != tar.TypeReg || h.Name != name:
		return nil, notBundle("%s is not the plain file that comes next", name)
	case h.Size > most:
		return nil, notBundle("%s is larger than it may be", name)
	}
	content, err := io.ReadAll(t)
	if err != nil {
		return nil, notBundle("%s is cut off", name)
	}
	return content, nil
}

// read checks the manifest before anything that it names is looked at.
func (b *Bundle) read(manifest []byte) error {
	d := json.NewDecoder(bytes.NewReader(manifest))
	d.DisallowUnknownFields()
	if err := d.Decode(&b.Manifest); err != nil {
		return notBundle("its manifest cannot be read")
	}
	m := &b.Manifest
	if m.SchemaVersion != contract.SchemaVersion {
		return notBundle("its manifest has version %d, this program reads %d", m.SchemaVersion, contract.SchemaVersion)
	}
	if len(m.Files) > maxFiles {
		return notBundle("it has more than %d files", maxFiles)
	}
	total := int64(0)
	folded := map[string]bool{}
	for i, f := range m.Files {
		fold := strings.ToLower(f.Path)
		if folded[fold] {
			return notBundle("its manifest names file %d like another one but for upper and lower case", i)
		}
		folded[fold] = true
		if !portable(f.Path) || f.Bytes < 0 || f.Bytes > maxUnpacked || i > 0 && f.Path <= m.Files[i-1].Path {
			return notBundle("its manifest names file %d wrongly", i)
		}
		total += f.Bytes
	}
	if total > maxUnpacked {
		return notBundle("it unpacks to more than %d MiB", maxUnpacked>>20)
	}
	return nil
}

// reserved are names that Windows keeps for devices, whatever ending they have.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)`)

// portable reports whether a place is the same file on every system that a
// registry may lie on.
func portable(place string) bool {
	if !fs.ValidPath(place) || strings.ContainsAny(place, "\\:<>\"|?*") || !utf8.ValidString(place) {
		return false
	}
	for part := range strings.SplitSeq(place, "/") {
		if reserved.Get().MatchString(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.ContainsFunc(part, unicode.IsControl) || len(part) > 200 {
			return false
		}
	}
	return true
}
