package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// syntaxError is what decoding a cut record gives.
func syntaxError() error {
	var v any
	return json.Unmarshal([]byte("{"), &v)
}

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		hint string // a part of it
	}{
		"usage":              {usage("no"), ExitUsage, ""},
		"own code":           {&Exit{Code: ExitWaits}, ExitWaits, ""},
		"interrupted":        {fmt.Errorf("running: %w", context.Canceled), 130, "run the same command again"},
		"read-only registry": {&store.ReadOnlyError{Dir: "x", Err: fs.ErrPermission}, ExitUsage, "--registry"},
		"no registry":        {&store.NotRegistryError{Dir: "x"}, ExitUsage, "--registry"},
		"unknown agent":      {&agents.UnknownAgentError{ID: "codx", Suggestion: "codex"}, ExitUsage, "did you mean codex?"},
		"unknown, no guess":  {&agents.UnknownAgentError{ID: "zzz"}, ExitUsage, ""},
		"unknown probe":      {fmt.Errorf("plan: %w", &capture.UnknownProbeError{ID: "auth-failur"}), ExitUsage, "did you mean auth-failure?"},
		"no such version":    {&install.NoSuchVersionError{Package: "p", Spec: "9"}, ExitCannotKnow, ""},
		"npm missing":        {fmt.Errorf("installing: %w", install.ErrNPMMissing), ExitCannotKnow, ""},
		"no network":         {fmt.Errorf("installing: %w", install.ErrNetwork), ExitCannotKnow, ""},
		"not as published":   {fmt.Errorf("installing: %w", install.ErrIntegrity), ExitCannotKnow, ""},
		"cache unusable":     {fmt.Errorf("installing: %w", install.ErrCache), ExitCannotKnow, ""},
		"disk full":          {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, ExitCannotKnow, "cache prune"},
		"disk full of npm":   {fmt.Errorf("installing: %w", install.ErrDiskFull), ExitCannotKnow, "cache prune"},
		"not captured":       {&capture.CannotKnowError{What: "asking"}, ExitCannotKnow, ""},
		"no version":         {fmt.Errorf("asking: %w", agents.ErrNoVersion), ExitCannotKnow, ""},
		"too slow":           {fmt.Errorf("asking: %w", context.DeadlineExceeded), ExitCannotKnow, ""},
		"no such file":       {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, ExitCannotKnow, ""},
		"broken file":        {fmt.Errorf("planning: %w", &store.BrokenError{File: "registry/policy.json", Err: errors.New("cut")}), ExitUsage, "validate registry/policy.json"},
		"broken record":      {fmt.Errorf("reading registry/policy.json: %w", syntaxError()), ExitUsage, "agent-contracts validate"},
		"broken transcript":  {fmt.Errorf("reading x: %w", &transcript.LineError{Line: 1, What: "cut"}), ExitUsage, ""},
		"bad webhook":        {fmt.Errorf("sending: %w", report.ErrAddress), ExitUsage, "correct " + webhookURLVar},
		"too deep":           {fmt.Errorf("reading x: %w", rawjson.ErrDepth), ExitCannotKnow, "nests more than"},
		"anything else":      {errors.New("impossible"), ExitBug, "our bug"},
	} {
		t.Run(name, func(t *testing.T) {
			code, hint := classify(c.err)
			if code != c.code || !strings.Contains(hint, c.hint) || c.hint == "" && hint != "" {
				t.Errorf("got %d %q, want %d %q", code, hint, c.code, c.hint)
			}
		})
	}
}

// TestPanicIsOurFault: a fault of ours neither shows a stack nor what was in it.
func TestPanicIsOurFault(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(context.Background(), Env{
		Args: []string{"classify"}, Stdin: panicking{}, Stdout: &bytes.Buffer{}, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != ExitBug || !strings.Contains(stderr.String(), "internal fault") || strings.Contains(stderr.String(), "topsecret") {
		t.Errorf("got %d %q", code, stderr.String())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("topsecret") }

// TestLongMessagesAreCut: an error is for people to read.
func TestLongMessagesAreCut(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(context.Background(), Env{
		Args: []string{strings.Repeat("é", 100_000)}, Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != ExitUsage || stderr.Len() > 3000 || !utf8.Valid(stderr.Bytes()) {
		t.Errorf("got %d with %d bytes", code, stderr.Len())
	}
}

// TestTalkIsNotForged: a hostile text cannot write a line of its own.
func TestTalkIsNotForged(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                "plain",
		"a\x1b[31mb":           "a�[31mb",
		"a\r::error::b":        "a�::error::b",
		"first\n::error::next": "first\n  ::error::next",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}
