package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Sanitizing is what redacting one raw transcript takes, outside a capture too.
type Sanitizing struct {
	Registry *store.Registry
	Dialect  *contract.Dialect
	// Agent is whose readings must be the same before and after.
	Agent string
	// What names the transcript in questions to people, the same whenever they
	// are asked.
	What  string
	Input redact.Input
	// Words are those that a person found public, Paths places in frames whose
	// value is a constant of the protocol, Accepted of the Input what a person
	// looked at. Do adds to all three.
	Words, Paths []string
	// Tell is told what a person decided; nil tells nobody.
	Tell func(string)

	families *contract.Families
	redactor *redact.Redactor // of the registry's vocabulary alone
}

// Outcome is what became of a raw transcript.
type Outcome struct {
	Status contract.RedactionStatus
	Why    string   // in words without any content, unless passed
	Public *Derived // what may be published; nil unless passed
}

// Do redacts a transcript and proves that what is left reads the same. With an
// asker a person is asked about a doubt that a person can settle, and the
// redaction is done again with the answer. The error is the asker's, or that
// the registry cannot be read.
func (z *Sanitizing) Do(raw *transcript.Transcript, asker *requests.Asker) (Outcome, error) {
	var err error
	if z.families, err = z.Registry.Families(); err != nil {
		return Outcome{}, err
	}
	if z.redactor, err = z.load(); err != nil {
		return Outcome{}, err
	}
	out, err := z.run(raw, asker)
	return Outcome{Status: out.status, Why: out.why, Public: out.derived}, err
}

func (z *Sanitizing) run(raw *transcript.Transcript, asker *requests.Asker) (sanitized, error) {
	r := z.redactor
	for {
		out, err := sanitizeAs(z.families, r, raw, z.Dialect, z.Agent, z.Input)
		if err != nil || out.status != contract.RedactionReview || asker == nil {
			return out, err
		}
		q, about := z.question(out)
		if len(about) == 0 {
			if done, err := z.askFor(asker, out); !done || err != nil {
				return out, err
			}
			if r, err = z.load(); err != nil { // what was named is no place
				return out, nil
			}
			continue
		}
		yes, err := approved(asker, q, about)
		if err != nil || len(yes) == 0 {
			return out, err
		}
		if len(out.unsure) > 0 {
			z.Input.Accepted = append(z.Input.Accepted, yes...)
			z.tell("a person looked at %d place(s) that could not be read, which were replaced", len(yes))
			continue
		}
		z.Words = append(z.Words, yes...)
		z.tell("a person approved %d word(s) that the vocabulary does not have", len(yes))
		if r, err = z.load(); err != nil {
			return out, err
		}
	}
}

// load compiles the rules with what a person found public.
func (z *Sanitizing) load() (*redact.Redactor, error) {
	return loadRedactor(z.Registry, withPaths(z.families, z.Dialect.ID, z.Paths), z.Words...)
}

// withPaths are families in which the values at these places of one dialect's
// frames survive, if they look like a constant.
func withPaths(f *contract.Families, dialect string, paths []string) *contract.Families {
	if len(paths) == 0 {
		return f
	}
	out := *f
	out.Dialects = slices.Clone(f.Dialects)
	for i := range out.Dialects {
		if d := &out.Dialects[i]; d.ID == dialect {
			d.Redact.Literals = slices.Concat(d.Redact.Literals, paths)
		}
	}
	return &out
}

// wantsPublic describes the answer about a difference that no word explains.
var wantsPublic = json.RawMessage(`{"type":"object","additionalProperties":false,"minProperties":1,"properties":{` +
	`"words":{"type":"array","minItems":1,"items":{"type":"string","minLength":1},"description":"words that are public and stay where the CLI wrote a text"},` +
	`"paths":{"type":"array","minItems":1,"items":{"type":"string","pattern":"^[A-Za-z0-9_$.<>\\[\\]-]+$"},"description":"places in a frame, such as item.error.code, whose value is a constant of the protocol"}}}`)

// askFor asks what would explain a difference that no unknown word does. done
// says that there is something to try.
func (z *Sanitizing) askFor(asker *requests.Asker, out sanitized) (done bool, err error) {
	q := requests.InputQuestion(fmt.Sprintf("%s cannot be published: %s. No word that the vocabulary lacks explains it. Which words are public, or at which places do values belong to the protocol? Some of the words that were replaced, masked: %s",
		z.What, out.why, join(out.preview)), wantsPublic)
	q.Agent, q.Raw = z.Agent, true
	replies, err := asker.Ask(q)
	if err != nil {
		return false, err
	}
	var a struct{ Words, Paths []string }
	if replies[0].Err() != nil || json.Unmarshal(replies[0].Data, &a) != nil {
		return false, nil // it stays refused
	}
	z.Words, z.Paths = append(z.Words, a.Words...), append(z.Paths, a.Paths...)
	z.tell("a person named %d word(s) and place(s) as public", len(a.Words)+len(a.Paths))
	return true, nil
}

func (z *Sanitizing) tell(format string, n int) {
	if z.Tell != nil {
		z.Tell(fmt.Sprintf(format, n))
	}
}

// question asks about what nobody could read before it asks about words: these
// may be other ones afterwards. about is what an approval approves.
func (z *Sanitizing) question(doubt sanitized) (q requests.Question, about []string) {
	key := wordsExtension
	if about = doubt.words; len(doubt.unsure) > 0 {
		key, about = doubtsExtension, doubt.unsure
		q = requests.ApprovalQuestion(fmt.Sprintf("%s cannot be published before somebody looked: %s. All of that was replaced; its words, masked: %s. May the rest be published?",
			z.What, strings.Join(doubt.unsure, "; "), strings.Join(doubt.preview, ", ")))
	} else {
		q = requests.ApprovalQuestion(fmt.Sprintf("%s cannot be published: without words that the vocabulary does not have it reads as another run. Are these words public? %s",
			z.What, strings.Join(doubt.masked, ", ")))
	}
	q.Agent, q.Raw, q.Extensions = z.Agent, true, map[string]any{key: about}
	return q, about
}

// approved returns what the person who answered saw, if the answer is yes: that
// of the Request, whatever this run printed.
func approved(asker *requests.Asker, q requests.Question, about []string) ([]string, error) {
	replies, err := asker.Ask(q)
	if err != nil {
		return nil, err
	}
	var a requests.Approval
	if replies[0].Err() != nil || json.Unmarshal(replies[0].Data, &a) != nil || !a.Approved {
		return nil, nil // it stays refused
	}
	var out []string
	for key := range q.Extensions {
		for _, w := range asList(replies[0].Request.Extensions[key]) {
			if s, ok := w.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// runOf names a run after what it is about, the same whenever it comes back.
func runOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintln(h, p)
	}
	return "redact-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// RunOf names the run that redacts a transcript outside a capture: the same for
// the same bytes, so that an answer is found again.
func RunOf(raw *transcript.Transcript, d *contract.Dialect) string {
	h := sha256.New()
	fmt.Fprintln(h, d.ID)
	for i := range raw.Records {
		rec := &raw.Records[i]
		fmt.Fprintln(h, rec.Dir, rec.Stream, len(rec.Line()))
		h.Write(rec.Line())
	}
	return "redact-" + hex.EncodeToString(h.Sum(nil))[:12]
}
