package sourcescan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan/issues"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// maxFrames bounds the shape that is derived from sources.
const maxFrames = 200

// Write records what the newer version adds as source evidence: a shape with one
// frame for each new value of a discriminator. What the vendor's own schemas say
// is vendor_documented, everything else source_derived. Nothing is written of a
// level without new values, nor a second time. It returns the new places.
func Write(ctx context.Context, reg *store.Registry, a *contract.Agent, r *Report, now time.Time) ([]string, error) {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Discard()
	known, err := reg.SourceEvidence(a.ID)
	if err != nil {
		return nil, err
	}
	var written []string
	for i, part := range []struct {
		level   contract.ValidityLevel
		changes []Change
		surface *Surface
	}{{contract.LevelSourceDerived, r.Derived, r.to.Surface}, {contract.LevelVendorDocumented, r.Documented, r.to.Schemas}} {
		shape, err := derive(structured(a), part.level, part.changes, part.surface)
		if err != nil {
			return nil, err
		}
		version := cmp.Or(r.to.Version, contract.UnknownVersion)
		if shape == nil || slices.ContainsFunc(known, func(s store.Sourced) bool {
			return s.CLIVersion == version && s.ValidityLevel == part.level && s.DerivedShape.Signature == shape.Signature
		}) {
			continue
		}
		s := contract.SourceEvidence{
			SchemaVersion: contract.SchemaVersion, Agent: a.ID, ProtocolFamily: shape.ProtocolFamily, ValidityLevel: part.level,
			SourceRefs: r.Refs, DerivedShape: contract.ShapeRef{Signature: shape.Signature, Path: shape.Path()},
			DiscoveredAt: now.UTC().Format("2006-01-02T15:04:05.000Z"), CLIVersion: version,
		}
		s.Extensions.Note = note(r, part.changes)
		place := store.SourceEvidencePath(a.ID, version, "unknown", now.Add(time.Duration(i)*time.Millisecond), "source-scan")
		if err := stage(tx, place, &s, shape); err != nil {
			return nil, err
		}
		written = append(written, place)
	}
	if len(written) == 0 {
		return nil, nil
	}
	return written, tx.Commit()
}

// structured is the agent's first family whose frames have members: the values
// that a scan finds are discriminators, and plain text has none.
func structured(a *contract.Agent) contract.ProtocolFamily {
	if i := slices.IndexFunc(a.ProtocolFamilies, func(f contract.ProtocolFamily) bool { return f != contract.FamilyPlain }); i >= 0 {
		return a.ProtocolFamilies[i]
	}
	return a.ProtocolFamilies[0]
}

func stage(tx *store.Transaction, place string, s *contract.SourceEvidence, shape *contract.Shape) error {
	if !tx.Has(shape.Path()) {
		b, err := contract.Encode(shape)
		if err != nil {
			return err
		}
		if err := tx.Write(shape.Path(), b); err != nil {
			return err
		}
	}
	b, err := contract.Encode(s)
	if err != nil {
		return err
	}
	return tx.Write(place, b)
}

// derive makes the shape of what is new; nil when no discriminator has a new
// value.
func derive(family contract.ProtocolFamily, level contract.ValidityLevel, changes []Change, in *Surface) (*contract.Shape, error) {
	s := &contract.Shape{
		SchemaVersion: contract.SchemaVersion, ProtocolFamily: family, ValidityLevel: level, Transport: transport(family),
		StderrClass: "none", Exit: contract.ExitUnknown, EventTypes: []string{}, FrameShapes: []contract.FrameShape{},
	}
	for _, c := range changes {
		key, word, _ := strings.Cut(c.Name, ":")
		if c.Kind != WordAdded || slices.Contains(s.EventTypes, word) || len(s.FrameShapes) == maxFrames {
			continue
		}
		paths := []contract.PathShape{{Path: key, Type: "string", Required: true}}
		if t := in.Types[word]; t != nil {
			for _, f := range slices.Sorted(maps.Keys(t.Fields)) {
				if f != key {
					paths = append(paths, contract.PathShape{Path: f, Type: "unknown", Required: !strings.HasPrefix(t.Fields[f], "?")})
				}
			}
		}
		s.EventTypes = append(s.EventTypes, word)
		s.FrameShapes = append(s.FrameShapes, contract.FrameShape{
			Direction: "cli->server", Stream: "stdout", EventType: word, Paths: paths, Enums: map[string][]contract.Literal{key: {contract.Literal(strconv.Quote(word))}},
		})
		s.Extensions.Sequence = append(s.Extensions.Sequence, contract.SeqItem{Index: len(s.FrameShapes) - 1})
	}
	if len(s.FrameShapes) == 0 {
		return nil, nil
	}
	slices.Sort(s.EventTypes)
	s.FrameCount = len(s.FrameShapes)
	var err error
	s.Signature, err = s.ComputeSignature()
	return s, err
}

func transport(f contract.ProtocolFamily) contract.Transport {
	switch f {
	case contract.FamilyACP:
		return contract.TransportJSONRPC
	case contract.FamilyPi:
		return contract.TransportPiRPC
	case contract.FamilyPlain:
		return contract.TransportPlain
	}
	return contract.TransportJSONL
}

// note counts the changes, by kind.
func note(r *Report, changes []Change) string {
	count := map[Kind]int{}
	for _, c := range changes {
		count[c.Kind]++
	}
	var words []string
	for _, k := range kinds {
		if n := count[k]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, k))
		}
	}
	return fmt.Sprintf("from %s to %s: %s", r.From, r.To, strings.Join(words, ", "))
}

// maxListed bounds the changes in an issue.
const maxListed = 60

// Issue returns the risk that the difference is, nil for none. It is one issue a
// release.
func (r *Report) Issue() *issues.Issue {
	if !r.Found() {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The sources of `%s` change between %s and %s. This is no observation: capture the release to know.\n\n", r.Agent, code(r.From), code(r.To))
	listed := 0
	for _, part := range []struct {
		heading string
		list    []Change
	}{{"In the schemas that the program writes", r.Documented}, {"In its sources", r.Derived}} {
		if len(part.list) > 0 {
			fmt.Fprintf(&b, "### %s\n\n", part.heading)
		}
		for _, c := range part.list {
			if listed++; listed > maxListed {
				break
			}
			fmt.Fprintf(&b, "- %s %s\n", c.Kind, code(c.Name))
		}
		b.WriteString("\n")
	}
	if n := len(r.Derived) + len(r.Documented); n > maxListed {
		fmt.Fprintf(&b, "and %d more: `agent-contracts source-scan %s %s %s`\n", n-maxListed, r.Agent, r.From, r.To)
	}
	return &issues.Issue{
		Fingerprint: "source-risk:" + r.Agent + ":" + fingerprint(r.To), Title: fmt.Sprintf("Source protocol risk: %s %s", r.Agent, r.To),
		Body: b.String(), Labels: []string{"source_protocol_risk"},
	}
}

// code quotes a name from foreign sources.
func code(s string) string {
	return "`" + strings.NewReplacer("`", "'", "\n", " ", "-->", "->").Replace(s) + "`"
}

func fingerprint(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, s)
}
