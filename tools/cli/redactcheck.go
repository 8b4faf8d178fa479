package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leakgate"
)

// scan runs the leak gate over files and folders.
func (a *app) scan(ctx context.Context, f format, places []string) error {
	program := leakgate.Find(a.env.Getenv)
	g, err := leakgate.Open(program)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err, Hint: "AGENT_CONTRACTS_GITLEAKS names a program that does not start: build it again (docs/REDACTION.md) or unset it"}
	}
	c := &checking{ctx: ctx, gate: g, stdin: a.env.Stdin, found: []leakgate.Finding{}}
	for _, p := range places {
		if err := c.place(p); err != nil {
			if ctx.Err() == nil { // else somebody may still read
				g.Close()
			}
			return err
		}
	}
	if err := g.Close(); err != nil {
		return err
	}
	if err := a.printFindings(f, c.found); err != nil {
		return err
	}
	second := "gitleaks too"
	if program == "" {
		second = "without gitleaks, which is not installed (docs/REDACTION.md)"
	}
	a.talk("%s scanned, %s: %s", count(c.files, "file"), second, count(len(c.found), "finding"))
	unread := errors.Join(c.unread...)
	switch {
	case len(c.found) > 0:
		return &Exit{Code: ExitFindings, Err: unread}
	case unread != nil:
		return &Exit{Code: ExitCannotKnow, Err: unread}
	}
	return nil
}

func (a *app) printFindings(f format, found []leakgate.Finding) error {
	switch f {
	case "json":
		return a.printJSON(found)
	case "sarif":
		b, err := contract.Encode(leakgate.SARIF(found, contract.ToolVersion))
		if err != nil {
			return err
		}
		_, err = a.env.Stdout.Write(b)
		return err
	}
	for _, x := range found {
		place := fmt.Sprintf("%s:%d:%d-%d", oneLine(x.File), x.Line, x.Start, x.End)
		if x.Engine == leakgate.EngineGitleaks {
			place = fmt.Sprintf("%s:%d", oneLine(x.File), x.Line)
			x.View = "gitleaks, " + x.View
		}
		if _, err := fmt.Fprintf(a.env.Stdout, "%s %s %s\n", x.Rule, place, x.View); err != nil {
			return err
		}
	}
	return nil
}

// checking is one run of --check. What cannot be read keeps nothing else from
// being read; only a gate that broke ends it.
type checking struct {
	ctx    context.Context
	gate   *leakgate.Gate
	stdin  io.Reader
	found  []leakgate.Finding
	files  int
	unread []error
}

// place checks a file, or every regular file below a folder in the order of
// their names, and where the links below it lead: that is published with them.
func (c *checking) place(place string) error {
	if place == "-" {
		return c.read(place, c.stdin)
	}
	info, err := os.Stat(place)
	switch {
	case err != nil:
		c.unread = append(c.unread, err)
		return nil
	case info.Mode().IsRegular():
		return c.file(place)
	case !info.IsDir():
		return c.pipe(place)
	}
	root := place
	if !os.IsPathSeparator(place[len(place)-1]) {
		root += string(filepath.Separator) // the folder, if it is a link to one
	}
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			c.unread = append(c.unread, err)
		case d.IsDir() && d.Name() == ".git" && p != root:
			return fs.SkipDir
		case d.Type().IsRegular():
			return c.file(p)
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				c.unread = append(c.unread, err)
				return nil
			}
			return c.read(p, strings.NewReader(to))
		}
		return nil
	})
}

func (c *checking) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		c.unread = append(c.unread, err)
		return nil
	}
	defer f.Close()
	return c.read(name, f)
}

// pipe checks what is neither a file nor a folder: a pipe, a terminal. Nobody may
// ever write into it, so an interrupt ends the waiting for it.
func (c *checking) pipe(name string) error {
	done := make(chan error, 1)
	var list []leakgate.Finding
	go func() {
		f, err := os.Open(name)
		if err == nil {
			list, err = c.gate.File(name, f)
			f.Close()
		}
		done <- err
	}()
	select {
	case <-c.ctx.Done():
		return fmt.Errorf("waiting for what comes out of %s: %w", name, c.ctx.Err())
	case err := <-done:
		return c.note(list, err)
	}
}

func (c *checking) read(name string, r io.Reader) error {
	return c.note(c.gate.File(name, r))
}

// note keeps what was found in a file.
func (c *checking) note(list []leakgate.Finding, err error) error {
	c.files++
	c.found = append(c.found, list...)
	var broken *leakgate.SecondError
	if err == nil || errors.As(err, &broken) {
		return err
	}
	c.unread = append(c.unread, err)
	return nil
}
