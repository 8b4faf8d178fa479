package publish

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Options say what to pack.
type Options struct {
	Registry *store.Registry
	// NPM is the folder of the package's sources, with its node_modules.
	NPM string
	// Program is this program, which the package's build calls.
	Program string
	// Out is the folder that gets the tarball.
	Out string
	// Key signs the manifest; "" leaves it unsigned.
	Key string
	// Sequence is the manifest's; 0 takes the time of the newest record in
	// seconds, which grows with the data.
	Sequence int64
	// Previous is the manifest of the last release, nil for none: the sequence
	// may not be lower.
	Previous *Manifest
	// Progress is told what happens; nil tells nobody.
	Progress func(what string)
}

// Package is what was packed.
type Package struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Tarball  string `json:"tarball"`
	SHA256   string `json:"sha256"`
	Bytes    int64  `json:"bytes"`
	Files    int    `json:"files"`
	Sequence int64  `json:"sequence"`
	Signed   bool   `json:"signed"`
}

// LeakError says that files of the package look as if they held a secret. It
// names places and never the secret.
type LeakError struct{ Findings []string }

// Error implements error.
func (e *LeakError) Error() string {
	return fmt.Sprintf("the leak scan found %d places in the package: %s", len(e.Findings), strings.Join(e.Findings[:min(len(e.Findings), 5)], ", "))
}

// RefusedError says that a package is not what it should be.
type RefusedError struct{ Problems []string }

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the package does not verify: %s", strings.Join(e.Problems[:min(len(e.Problems), 5)], "; "))
}

// Pack builds the package, scans every file of it, signs its manifest, packs
// it, and verifies the tarball: its files by the manifest, its claims by the
// package's own verification. It sends nothing anywhere.
func Pack(ctx context.Context, o Options) (*Package, error) {
	tell := func(what string) {
		if o.Progress != nil {
			o.Progress(what)
		}
	}
	tell("building the package")
	if err := o.build(ctx); err != nil {
		return nil, err
	}
	stage, err := os.MkdirTemp("", "publish-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(stage)
	p, err := o.stage(stage)
	if err != nil {
		return nil, err
	}
	tell("scanning its files")
	if err := scan(ctx, stage); err != nil {
		return nil, err
	}
	if err := o.manifest(stage, p); err != nil {
		return nil, err
	}
	tell("packing")
	if err := o.tarball(ctx, stage, p); err != nil {
		return nil, err
	}
	tell("verifying the tarball")
	return p, o.verify(ctx, p)
}

// run runs a command quietly; what it said is in the error.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	c.WaitDelay = 5 * time.Second
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said := clean(append(exit.Stderr, out...))
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, said[max(0, len(said)-1000):])
	}
	return out, err
}

func (o Options) build(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(o.NPM, "node_modules")); err != nil {
		return &RefusedError{[]string{o.NPM + " has no node_modules: run npm ci there first"}}
	}
	_, err := run(ctx, o.NPM, []string{"AGENT_CONTRACTS=" + o.Program}, "npm", "run", "--silent", "build")
	return err
}

// stage copies what the package consists of, with a package.json that runs
// nothing and needs nothing.
func (o Options) stage(dir string) (*Package, error) {
	b, err := os.ReadFile(filepath.Join(o.NPM, "package.json"))
	if err != nil {
		return nil, err
	}
	var manifest map[string]any
	if err := json.Unmarshal(b, &manifest); err != nil {
		return nil, fmt.Errorf("reading package.json: %w", err)
	}
	if deps, _ := manifest["dependencies"].(map[string]any); len(deps) > 0 {
		return nil, &RefusedError{[]string{"package.json has dependencies; the package has none"}}
	}
	delete(manifest, "scripts")
	delete(manifest, "devDependencies")
	if b, err = contract.Encode(manifest); err != nil {
		return nil, err
	}
	if err := write(dir, "package.json", b); err != nil {
		return nil, err
	}
	for _, folder := range []string{"dist", "data"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(o.NPM, folder))); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(filepath.Join(dir, "data", marker)); err != nil {
		return nil, err
	}
	for name, from := range map[string]string{"README.md": o.NPM, "LICENSE": o.Registry.Dir(), "CHANGELOG.md": o.Registry.Dir()} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return nil, err
		}
		if err := write(dir, name, b); err != nil {
			return nil, err
		}
	}
	p := &Package{}
	p.Name, _ = manifest["name"].(string)
	p.Version, _ = manifest["version"].(string)
	return p, nil
}

// scan is the redaction gate over the bytes that would leave.
func scan(ctx context.Context, dir string) error {
	scanner := leak.NewScanner(nil)
	found := &LeakError{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		for _, x := range scanner.Scan(b) {
			found.Findings = append(found.Findings, fmt.Sprintf("%s:%d (%s)", filepath.ToSlash(rel), x.Line, x.Rule))
		}
		return nil
	})
	if err == nil && len(found.Findings) > 0 {
		slices.Sort(found.Findings)
		return found
	}
	return err
}

func (o Options) manifest(dir string, p *Package) error {
	var m contract.SupportMatrix
	if err := o.Registry.ReadJSON(matrix.Path, &m); err != nil {
		return err
	}
	files, err := hashTree(dir)
	if err != nil {
		return err
	}
	p.Sequence, p.Signed = o.Sequence, o.Key != ""
	if p.Sequence == 0 {
		at, err := time.Parse(time.RFC3339, m.GeneratedAt)
		if err != nil {
			return fmt.Errorf("%s: %w", matrix.Path, err)
		}
		p.Sequence = max(at.Unix(), 1)
	}
	if o.Previous != nil && p.Sequence < o.Previous.Sequence {
		return &RefusedError{[]string{fmt.Sprintf("sequence %d is lower than that of the last release, %d: consumers would take it for a rollback", p.Sequence, o.Previous.Sequence)}}
	}
	b, err := (&Manifest{Package: p.Name + " " + p.Version, Sequence: p.Sequence, Records: m.GeneratedAt, Files: files}).Sign(o.Key)
	if err != nil {
		return err
	}
	return write(dir, ManifestFile, b)
}

func (o Options) tarball(ctx context.Context, dir string, p *Package) error {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return err
	}
	b, err := run(ctx, dir, nil, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", out)
	if err != nil {
		return err
	}
	name, err := packedName(b)
	if err != nil {
		return err
	}
	p.Tarball = filepath.Join(out, name)
	return nil
}

// packedName reads what npm pack --json says, a list or, by some versions, an
// object by name.
func packedName(b []byte) (string, error) {
	type packed struct {
		Filename string `json:"filename"`
	}
	var list []packed
	byName := map[string]packed{}
	if json.Unmarshal(b, &list) != nil && json.Unmarshal(b, &byName) == nil {
		for _, p := range byName {
			list = append(list, p)
		}
	}
	if len(list) != 1 || filepath.Base(list[0].Filename) != list[0].Filename || list[0].Filename == "" {
		return "", errors.New("npm pack does not say which file it wrote")
	}
	return list[0].Filename, nil
}

// verify unpacks the tarball elsewhere and holds it against its manifest, its
// claims against its own records.
func (o Options) verify(ctx context.Context, p *Package) error {
	b, err := os.ReadFile(p.Tarball)
	if err != nil {
		return err
	}
	p.SHA256, p.Bytes = sum(b), int64(len(b))
	dir, err := os.MkdirTemp("", "published-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := unpack(p.Tarball, dir)
	if err != nil {
		return err
	}
	p.Files = len(files)
	m, err := ReadManifest(files[ManifestFile])
	if err != nil {
		return err
	}
	if problems := m.Check(files); len(problems) > 0 {
		return &RefusedError{problems}
	}
	if _, err := run(ctx, dir, nil, "node", filepath.Join(dir, "package", "dist", "cli.js"), "verify", "--json"); err != nil {
		return &RefusedError{[]string{err.Error()}}
	}
	return nil
}

// unpack writes a tarball's files to dir and returns them by their place in the
// package.
func unpack(tarball, dir string) (map[string][]byte, error) {
	f, err := os.Open(tarball)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		place, ok := strings.CutPrefix(h.Name, "package/")
		if !ok || !filepath.IsLocal(filepath.FromSlash(place)) || h.Typeflag != tar.TypeReg {
			return nil, &RefusedError{[]string{"the tarball holds something that is no file of a package"}}
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		files[place] = b
		if err := write(dir, h.Name, b); err != nil {
			return nil, err
		}
	}
}
