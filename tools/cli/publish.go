package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/publish"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// signingKeyEnv may hold the signing key, for release workflows.
const signingKeyEnv = "AGENT_CONTRACTS_SIGNING_KEY"

type publishFlags struct {
	data, npm, out, key, previous, newKey string
	sequence                              int64
	dryRun                                bool
	format                                format
}

func (a *app) publishCommand() *cobra.Command {
	f := &publishFlags{}
	c := &cobra.Command{
		Use:   "publish",
		Short: "Make, scan, sign and verify the npm package",
		Long: `Publish builds the npm package of a registry, runs the leak scan over every byte
that would leave, writes a manifest of all files' hashes and signs it, packs the
tarball, and verifies the result from the tarball alone: its files by the
manifest, every claim by the package's own derivation. It needs node, npm, and
npm's folder with its node_modules (npm ci).

With --dry-run the tarball stays in --out. Without it, npm publish sends that
tarball, with provenance; that is for the release workflow.

The signing key is read from the file --key or from $` + signingKeyEnv + `;
--new-key NAME makes one and prints it, the secret half first. The manifest's
sequence only grows: --previous MANIFEST refuses a lower one than the last
release had.

--data DIR writes the package's records and nothing else; its build calls that.

Exit codes: 0; 1 the package does not verify; 2 usage, or a broken record; 4 the
leak scan found something.`,
		Example: `  agent-contracts publish --dry-run --out dist
  agent-contracts publish --dry-run --key release.key --previous manifest.txt
  agent-contracts publish --new-key agent-contracts > release.key`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.publish(c.Context(), f) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.dryRun, "dry-run", false, "send nothing")
	fl.StringVar(&f.out, "out", "", "folder for the tarball (default: a temporary one; with --dry-run the current one)")
	fl.StringVar(&f.npm, "npm", "", "folder of the package's sources (default: npm/ of the registry)")
	fl.StringVar(&f.key, "key", "", "file of the signing key")
	fl.StringVar(&f.newKey, "new-key", "", "print a new signing key of this name and its verifier key, and do nothing else")
	fl.Int64Var(&f.sequence, "sequence", 0, "sequence of the manifest (default: the newest record's time in seconds)")
	fl.StringVar(&f.previous, "previous", "", "manifest of the last release")
	fl.StringVar(&f.data, "data", "", "write the package's records to this folder, and nothing else")
	for _, dir := range []string{"data", "npm", "out"} {
		_ = c.MarkFlagDirname(dir)
	}
	a.formatFlag(c, &f.format, "text", "json")
	return c
}

func (a *app) publish(ctx context.Context, f *publishFlags) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	if f.newKey != "" {
		return a.newSigningKey(f.newKey)
	}
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	if f.data != "" {
		return publish.Data(ctx, reg, f.data)
	}
	o, err := a.publishOptions(reg, f)
	if err != nil {
		return err
	}
	if o.Out == "" {
		if o.Out, err = os.MkdirTemp("", "publish-out-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.Out)
	}
	p, err := publish.Pack(ctx, o)
	if err != nil {
		return publishRefused(err)
	}
	if !p.Signed {
		a.talk("the manifest is not signed: give --key FILE")
	}
	if !f.dryRun {
		if err := a.send(ctx, p); err != nil {
			return err
		}
	}
	if f.format == "json" {
		return a.printJSON(p)
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%s %s: %s, %d bytes, sequence %d, sha256 %s\n%s\n", p.Name, p.Version, count(p.Files, "file"), p.Bytes, p.Sequence, p.SHA256, p.Tarball)
	return err
}

func (a *app) publishOptions(reg *store.Registry, f *publishFlags) (publish.Options, error) {
	o := publish.Options{Registry: reg, NPM: f.npm, Out: f.out, Sequence: f.sequence, Key: a.env.Getenv(signingKeyEnv), Progress: func(what string) { a.talk("%s", what) }}
	if o.NPM == "" {
		o.NPM = filepath.Join(reg.Dir(), "npm")
	}
	if o.Out == "" && f.dryRun {
		o.Out = a.env.Dir
	}
	var err error
	if o.Program, err = os.Executable(); err != nil {
		return o, err
	}
	if f.key != "" {
		b, err := os.ReadFile(f.key)
		if err != nil {
			return o, &Exit{Code: ExitUsage, Err: err, Hint: "make a key with agent-contracts publish --new-key NAME"}
		}
		o.Key, _, _ = strings.Cut(string(b), "\n")
	}
	if !f.dryRun && o.Key == "" {
		return o, usage("a package that is sent is signed: give --key FILE, or --dry-run")
	}
	if f.previous != "" {
		b, err := os.ReadFile(f.previous)
		if err != nil {
			return o, &Exit{Code: ExitUsage, Err: err}
		}
		if o.Previous, err = publish.ReadManifest(b); err != nil {
			return o, &Exit{Code: ExitUsage, Err: err}
		}
	}
	return o, nil
}

func publishRefused(err error) error {
	var leak *publish.LeakError
	var refused *publish.RefusedError
	switch {
	case errors.As(err, &leak):
		return &Exit{Code: ExitRefused, Err: err, Hint: "see agent-contracts redact --check; nothing was published"}
	case errors.As(err, &refused):
		return &Exit{Code: ExitFindings, Err: err, Hint: "nothing was published"}
	}
	return err
}

func (a *app) newSigningKey(name string) error {
	signer, verifier, err := publish.NewKey(name)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err}
	}
	a.talk("the first line is secret: keep it where only the release workflow reads it; publish the second")
	_, err = fmt.Fprintf(a.env.Stdout, "%s\n%s\n", signer, verifier)
	return err
}

// send hands the verified tarball to npm, which asks for its own credentials.
func (a *app) send(ctx context.Context, p *publish.Package) error {
	c := exec.CommandContext(ctx, "npm", "publish", p.Tarball, "--access", "public", "--provenance")
	c.Stdout, c.Stderr = a.env.Stderr, a.env.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("npm publish: %w", err)
	}
	return nil
}
