// Package report says what changes of a protocol mean, in records and in words
// for people: diff reports of neighbouring versions, risk summaries as
// Markdown, as an issue and as a Feishu card, and the client that sends the
// card (specification, "Compare" and "Feishu and Public Reporting"). It emphasises risk and
// never carries raw text: everything comes from sanitized records.
package report

import (
	"bytes"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Side is a run, ready to compare and to ask what adapters read of it.
type Side struct {
	compare.Side
	// Input is what adapters read; its transcript is nil when only the shape
	// is known.
	Input replay.Input
	// Replay says whether the consumer's parser understands the run, "" when
	// it was not replayed.
	Replay contract.ReplayStatus
	// Golden is the consumer's reading, nil when the run was not replayed.
	Golden *replay.Golden
}

// Transcript makes a side of a run. Of one that is not sanitized the error
// texts are left out, since signals quote them, and it is not replayed.
func Transcript(t *transcript.Transcript, d *contract.Dialect, agent string, sanitized bool) (*Side, error) {
	out := &Side{Input: replay.Input{Transcript: t, Agent: agent, Dialect: d}}
	var notes normalize.Notes
	var err error
	if sanitized {
		var derived *capture.Derived
		if derived, err = capture.Read(t, d, agent); err == nil {
			out.Shape, notes, out.Replay, out.Golden = derived.Shape, derived.Notes, derived.Comparison.Status, derived.Consumer.Golden()
			out.Texts, err = compare.ErrorTexts(t, d)
		}
	} else {
		out.Shape, notes, err = normalize.Shape(t, d, contract.LevelRuntimeObserved)
	}
	if err != nil {
		return nil, err
	}
	if out.Payloads, err = compare.PayloadKinds(t, d); err != nil {
		return nil, err
	}
	out.Dialect, out.Optional, out.AfterTerminal = d, notes.OptionalKinds, notes.AfterTerminal
	out.ExitCode, _, _ = t.Exit()
	return out, nil
}

// Fixture makes a side of a fixture of the registry.
func Fixture(reg *store.Registry, d *contract.Dialect, place, agent string) (*Side, error) {
	b, err := reg.ReadFile(place)
	if err != nil {
		return nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	s, err := Transcript(t, d, agent, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return s, nil
}
