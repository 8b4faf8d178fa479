package play

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Selection says which of an agent's recordings a shim plays: the variables
// OD_CONTRACT_… of the specification ("Mock and Fixture Data Source"), which
// narrow the choice, then OD_MOCKS_… of OpenDesign's mocks, which choose.
type Selection struct {
	Shape, Probe, Error     string
	Trace, Pool, Seed       string
	PromptHash              bool
	NoDelay                 bool
	contracted, traceOrPool bool
}

// SelectionOf reads the variables of an environment.
func SelectionOf(getenv func(string) string) Selection {
	s := Selection{
		Shape: getenv("OD_CONTRACT_SHAPE"), Probe: getenv("OD_CONTRACT_PROBE"), Error: getenv("OD_CONTRACT_ERROR"),
		Trace: getenv("OD_MOCKS_TRACE"), Pool: getenv("OD_MOCKS_POOL"), Seed: getenv("OD_MOCKS_SEED"),
		PromptHash: getenv("OD_MOCKS_BY_PROMPT_HASH") == "1", NoDelay: getenv("OD_MOCKS_NO_DELAY") == "1",
	}
	s.contracted = s.Shape != "" || s.Probe != "" || s.Error != ""
	s.traceOrPool = s.Trace != "" || s.Pool != "" || s.PromptHash || s.Seed != ""
	return s
}

// Pick is the choice of a shim.
type Pick struct {
	Record *store.Observed
	// How is contract, fixed, hash, pool or random, in the words of OpenDesign's
	// mocks.
	How string
}

// Announcement is the line that OpenDesign's mocks print on stderr, and "" for
// a choice that the specification's variables made: there the recording's own
// stderr counts.
func (p *Pick) Announcement(agent string) string {
	if p.How == "contract" {
		return ""
	}
	return fmt.Sprintf("[mock-%s] picked %.8s… via %s\n", agent, strings.TrimPrefix(id(p.Record), "sha256-"), p.How)
}

// NoMatchError says that the variables leave no recording. Empty says that the
// agent has none at all.
type NoMatchError struct {
	What  string
	Empty bool
}

// Error implements error.
func (e *NoMatchError) Error() string { return e.What }

// Pick chooses one of an agent's recordings. prompt is asked for only where
// the choice depends on it.
func (l *Library) Pick(agent string, s Selection, prompt func() []byte) (*Pick, error) {
	list, err := l.candidates(agent, s)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Trace != "":
		if o := traced(list, s.Trace); o != nil {
			return &Pick{o, "fixed"}, nil
		}
		return nil, &NoMatchError{What: fmt.Sprintf("OD_MOCKS_TRACE=%s: no recording of %s has that id", s.Trace, agent)}
	case s.PromptHash:
		if p := prompt(); len(bytes.TrimSpace(p)) > 0 {
			sum := sha256.Sum256(p)
			n := binary.BigEndian.Uint64(sum[:]) >> 16 // the first twelve hexadecimal characters
			return &Pick{list[n%uint64(len(list))], "hash"}, nil
		}
	}
	how := "random"
	if s.Pool != "" {
		how = "pool"
		list = slices.DeleteFunc(list, func(o *store.Observed) bool { return !inPool(o, s.Pool) })
		if len(list) == 0 {
			return nil, &NoMatchError{What: fmt.Sprintf("OD_MOCKS_POOL=%s: no recording of %s is in it", s.Pool, agent)}
		}
	}
	switch {
	case s.Seed != "":
		sum := sha256.Sum256([]byte(s.Seed))
		return &Pick{list[binary.BigEndian.Uint64(sum[:])%uint64(len(list))], how}, nil
	case s.contracted && !s.traceOrPool:
		return &Pick{l.newest(list), "contract"}, nil
	}
	return &Pick{list[rand.IntN(len(list))], how}, nil
}

// candidates are the recordings of an agent that the specification's variables
// leave. Those that only ask for a version or for models are left out unless
// they are asked for.
func (l *Library) candidates(agent string, s Selection) ([]*store.Observed, error) {
	all, err := l.records(agent)
	if err != nil {
		return nil, err
	}
	keep, err := l.filter(agent, s)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(all, func(o store.Observed) bool {
		return o.Agent != agent || s.Probe == "" && (o.Extensions.Dialect == "version" || o.Extensions.Dialect == "models")
	})
	if len(list) == 0 {
		return nil, &NoMatchError{What: fmt.Sprintf("the registry has no recording of %s", agent), Empty: true}
	}
	list = slices.DeleteFunc(list, func(o store.Observed) bool { return !keep(&o) })
	if len(list) == 0 {
		return nil, &NoMatchError{What: fmt.Sprintf("no recording of %s is what OD_CONTRACT_SHAPE, OD_CONTRACT_PROBE and OD_CONTRACT_ERROR ask for", agent)}
	}
	return playable(list, agent, l.newer()), nil
}

// filter returns what the specification's variables ask for. A shape of
// another agent asks nothing of this one.
func (l *Library) filter(agent string, s Selection) (func(*store.Observed) bool, error) {
	who, shape, _ := strings.Cut(s.Shape, "#")
	name, version, _ := strings.Cut(who, "@")
	shape = strings.TrimPrefix(strings.TrimPrefix(shape, "sha256:"), "sha256-")
	if name != "" && name != agent {
		version, shape = "", ""
	}
	if len(shape) == 64 {
		shape = l.inForce(contract.Digest("sha256:" + shape)).Hex()
	}
	failures := map[string]bool{} // observation → it failed in the way that is asked for
	if s.Error != "" {
		cases, err := l.Registry.ErrorCases()
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			if f := c.Expected; f != nil && (string(f.Category) == s.Error || f.Detail == s.Error) {
				failures[c.Extensions.Observation] = true
			}
		}
	}
	return func(o *store.Observed) bool {
		return (version == "" || o.CLIVersion == version) &&
			strings.HasPrefix(o.Shape.Signature.Hex(), shape) &&
			(s.Probe == "" || o.Probe == s.Probe) &&
			(s.Error == "" || o.Probe == s.Error || failures[o.Path])
	}, nil
}

// newest returns the record of the newest version.
func (l *Library) newest(list []*store.Observed) *store.Observed {
	return slices.MaxFunc(list, l.newer())
}

// traced finds a recording by the whole of its id, else by how one begins.
func traced(list []*store.Observed, trace string) *store.Observed {
	word := strings.TrimPrefix(strings.TrimPrefix(trace, "sha256:"), "sha256-")
	for _, fits := range []func(string) bool{
		func(id string) bool { return id == word },
		func(id string) bool { return strings.HasPrefix(id, word) },
	} {
		for _, o := range list {
			if fits(strings.TrimPrefix(id(o), "sha256-")) || fits(o.Extensions.FixtureSHA256.Hex()) {
				return o
			}
		}
	}
	return nil
}

// inPool reports whether a recording is in a pool. Our probes stand for the
// mocks' skills.
func inPool(o *store.Observed, pool string) bool {
	kind, word, tagged := strings.Cut(pool, ":")
	if tagged {
		switch kind {
		case "agent":
			return o.Agent == word
		case "skill", "probe":
			return o.Probe == word
		case "outcome":
			return outcome(o) == word || o.Extensions.RunResult == word
		}
	}
	return o.Agent == pool || o.Probe == pool || strings.Contains(cmp.Or(id(o), pool), pool)
}

// outcome is the result of a run in the words of OpenDesign's mocks.
func outcome(o *store.Observed) string {
	switch contract.RunResult(o.Extensions.RunResult) {
	case contract.RunSuccess:
		return "succeeded"
	case contract.RunCancelled:
		return "interrupted"
	}
	return o.Extensions.RunResult
}

// Prompt returns a function that reads the prompt of a child from its stdin,
// and a reader that gives all of stdin to the child nevertheless. A stream-json
// prompt is one line; a two-way protocol has none.
func Prompt(stdin io.Reader) (prompt func() []byte, rest io.Reader) {
	in := bufio.NewReaderSize(stdin, 64<<10)
	taken := &bytes.Buffer{}
	return func() []byte {
		line, err := in.ReadBytes('\n')
		taken.Write(line)
		v, bad := rawjson.Parse(line)
		switch {
		case bad == nil && v.Get("type").IsStr("user"):
			return line
		case bad == nil && (v.Get("jsonrpc").Exists() || v.Get("type").Exists()):
			return nil
		case err == nil:
			_, _ = taken.ReadFrom(in) // a broken stdin is a short prompt
		}
		return taken.Bytes()
	}, io.MultiReader(lazily{taken}, in)
}

// lazily reads what its buffer holds at the time.
type lazily struct{ b *bytes.Buffer }

// Read implements io.Reader.
func (l lazily) Read(p []byte) (int, error) { return l.b.Read(p) }
