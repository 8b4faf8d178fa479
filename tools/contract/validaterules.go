package contract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
)

// The rules of observations, shapes, the matrix and the policy files that
// their schemas cannot say. What needs other files is in crossrules.go.

func checkObservation(c *checker, o *Observation) {
	checkShapeRef(c, "OBS-SHAPE-PATH", "/shape", o.Shape, o.ProtocolFamily)
	if o.ParserReplay.Status == ReplayCompatible && o.ParserReplay.OpenDesignCommit == nil {
		c.report("OBS-REPLAY-COMMIT", "/parser_replay/open_design_commit", "a replay that ran names the commit of its parser")
	}
	rpc := o.ProtocolFamily.IsRPC()
	if o.ProtocolFamily.Valid() && (o.Command.StdinMode == StdinRPC) != rpc && slices.Contains(StdinModes, o.Command.StdinMode) {
		c.report("OBS-STDIN-MODE", "/command/stdin_mode", "stdin mode rpc and an rpc protocol family go together")
	}
}

func checkShape(c *checker, s *Shape) {
	if want, err := s.ComputeSignature(); err != nil {
		c.report("SHAPE-SIGNATURE", "/signature", "the shape has no canonical form: %v", err)
	} else if _, err := ParseDigest(string(s.Signature)); err == nil && want != s.Signature {
		c.report("SHAPE-SIGNATURE", "/signature", "the canonical form hashes to %s", want)
	}
	if s.FrameCount != len(s.FrameShapes) {
		c.report("SHAPE-FRAME-COUNT", "/frame_count", "frame_count is %d, frame_shapes has %d entries", s.FrameCount, len(s.FrameShapes))
	}
	if s.StderrClass == "diagnostic" || s.StderrClass == "debug" {
		c.report("SHAPE-STDERR-CLASS", "/stderr_class", "%s counts as none in a shape; the observation keeps the detail", s.StderrClass)
	}
	checkEventTypes(c, s)
	for i := range s.FrameShapes {
		checkFrameShape(c, pointerTo("/frame_shapes", itoa(i)), &s.FrameShapes[i])
	}
	checkSequence(c, "/extensions/sequence", s.Extensions.Sequence, len(s.FrameShapes))
}

func checkEventTypes(c *checker, s *Shape) {
	if !slices.IsSorted(s.EventTypes) || len(slices.Compact(slices.Clone(s.EventTypes))) != len(s.EventTypes) {
		c.report("SHAPE-EVENT-TYPES-ORDER", "/event_types", "event_types is not sorted and unique")
	}
	used := map[string]bool{}
	for _, f := range s.FrameShapes {
		if !used[f.EventType] && !slices.Contains(s.EventTypes, f.EventType) {
			c.report("SHAPE-EVENT-TYPES-MISSING", "/event_types", "frame_shapes uses %s, event_types omits it", quoted(f.EventType))
		}
		used[f.EventType] = true
	}
	for i, t := range s.EventTypes {
		if !used[t] {
			c.report("SHAPE-EVENT-TYPES-UNUSED", pointerTo("/event_types", itoa(i)), "no frame shape has the event type %s", quoted(t))
		}
	}
}

func checkFrameShape(c *checker, at string, f *FrameShape) {
	sorted := slices.IsSortedFunc(f.Paths, comparePaths)
	for i := 1; i < len(f.Paths); i++ {
		sorted = sorted && comparePaths(f.Paths[i-1], f.Paths[i]) != 0
	}
	if !sorted {
		c.report("SHAPE-PATHS-ORDER", at+"/paths", "paths is not sorted by path, then type, or repeats an entry")
	}
	for name, values := range f.Enums {
		if !slices.IsSorted(values) || len(slices.Compact(slices.Clone(values))) != len(values) {
			c.report("SHAPE-ENUMS-ORDER", pointerTo(at+"/enums", name), "the values are not sorted and unique")
		}
	}
	if (f.Direction == "server->cli") != (f.Stream == "stdin") && f.Direction != "" && f.Stream != "" {
		c.report("SHAPE-FRAME-STREAM", at+"/stream", "stdin goes from server to cli, stdout and stderr from cli to server")
	}
}

func comparePaths(a, b PathShape) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Type, b.Type))
}

func checkSequence(c *checker, at string, items []SeqItem, frames int) {
	for i, item := range items {
		here := pointerTo(at, itoa(i))
		switch {
		case item.Repeat != nil:
			checkSequence(c, here, item.Repeat, frames)
		case item.Mark == "" && (item.Index < 0 || item.Index >= frames):
			c.report("SHAPE-SEQUENCE", here, "there is no frame shape %d", item.Index)
		}
	}
}

func checkMatrix(c *checker, m *SupportMatrix) {
	seen := map[string]int{}
	for i := range m.Agents {
		e := &m.Agents[i]
		at := pointerTo("/agents", itoa(i))
		checkRanges(c, at+"/version_ranges", e.VersionRanges)
		checkMatrixEvidence(c, at, e)
		checkMatrixTimes(c, at, e, m.GeneratedAt)
		key := strings.Join(append([]string{e.Agent, e.Extensions.Profile}, e.VersionRanges...), "\x00")
		for _, p := range e.Platforms {
			for _, f := range e.ProtocolFamilies {
				k := key + "\x00" + string(p) + "\x00" + string(f)
				if first, twice := seen[k]; twice {
					c.report("MATRIX-DUPLICATE", at, "entry %d says something about the same versions, platform and family", first)
				}
				seen[k] = i
			}
		}
	}
}

// peopleDecide are the statuses that may come from policy.json alone.
var peopleDecide = []SupportStatus{SupportTooOld, SupportKnownBreaking, SupportNewerThanVerified}

// normalClaim reports whether a status says that a version works.
func normalClaim(s SupportStatus) bool {
	return s == SupportLocalShapeVerified || s == SupportVersionRangeVerified || s == SupportServerVariantPossible
}

func checkMatrixEvidence(c *checker, at string, e *MatrixEntry) {
	if len(e.VersionRanges) > 0 && len(e.ObservedShapes) == 0 && !slices.Contains(peopleDecide, e.SupportStatus) {
		c.report("MATRIX-NO-SHAPES", at+"/observed_shapes", "a range of versions is claimed without any observed shape")
	}
	if e.SupportStatus == SupportKnownBreaking || e.SupportStatus == SupportKnownBreakingShape {
		explained := e.Extensions.Reason != "" && len(e.Extensions.Evidence) > 0
		if len(e.KnownBreakingShapes) == 0 && !explained {
			c.report("MATRIX-BREAKING-UNEXPLAINED", at+"/known_breaking_shapes", "%s needs a reason and at least one evidence link", e.SupportStatus)
		}
	}
	if e.SupportStatus == SupportLocalShapeVerified {
		c.report("MATRIX-LOCAL-STATUS", at+"/support_status", "local_shape_verified is a local probe's answer and is not published")
	}
	if !normalClaim(e.SupportStatus) || len(e.ObservedShapes) == 0 {
		return
	}
	if !slices.ContainsFunc(e.ObservedShapes, func(s ObservedShape) bool {
		return s.ValidityLevel.SupportsClaim() || s.ValidityLevel == LevelServerVariant && e.SupportStatus == SupportServerVariantPossible
	}) {
		c.report("MATRIX-WEAK-EVIDENCE", at+"/support_status", "%s is backed by no runtime observation", e.SupportStatus)
		return
	}
	for j, s := range e.ObservedShapes {
		if slices.Contains(SourceLevels, s.ValidityLevel) {
			c.report("MATRIX-EXCLUDED-LEVEL", pointerTo(at+"/observed_shapes", itoa(j))+"/validity_level", "%s does not belong to a claim", s.ValidityLevel)
		}
	}
}

func checkMatrixTimes(c *checker, at string, e *MatrixEntry, generated string) {
	newest := ""
	for _, s := range e.ObservedShapes {
		if after(s.ObservedAt, newest) {
			newest = s.ObservedAt
		}
	}
	last := ""
	if e.LastObservedAt != nil {
		last = *e.LastObservedAt
	}
	if last != newest {
		c.report("MATRIX-LAST-OBSERVED", at+"/last_observed_at", "the newest observed_at is %s", cmp.Or(quoted(newest), "none"))
	}
	if generated != "" && after(last, generated) {
		c.report("MATRIX-LAST-OBSERVED", at+"/last_observed_at", "this is later than generated_at")
	}
}

// after reports whether the timestamp a is later than b. Text does not
// compare as time does: fractions of a second are optional. What is not a
// timestamp, which the schema reports, is the earliest.
func after(a, b string) bool {
	x, _ := time.Parse(time.RFC3339, a)
	y, _ := time.Parse(time.RFC3339, b)
	return x.After(y)
}

func checkPolicy(c *checker, p *Policy) {
	checkSortedBy(c, "POLICY-MAINTAINERS", "/maintainers", p.Maintainers, func(m Maintainer) string { return m.Handle })
	checkSortedBy(c, "POLICY-ORDER", "/agents", p.Agents, func(a AgentPolicy) string { return a.Agent })
	for i, a := range p.Agents {
		at := pointerTo("/agents", itoa(i))
		for j, b := range a.KnownBreaking {
			checkRanges(c, pointerTo(at+"/known_breaking", itoa(j))+"/version_ranges", b.VersionRanges)
		}
		for j, n := range a.Notes {
			checkRanges(c, pointerTo(at+"/notes", itoa(j))+"/version_ranges", n.VersionRanges)
		}
		for j, o := range a.Overrides {
			checkRanges(c, pointerTo(at+"/overrides", itoa(j))+"/version_ranges", o.VersionRanges)
		}
	}
}

func checkLatestSeen(c *checker, l *LatestSeen) {
	checkSortedBy(c, "LATEST-ORDER", "/agents", l.Agents, func(a LatestSeenAgent) string { return a.Agent })
}

func checkDriftIgnores(c *checker, d *DriftIgnores) {
	checkSortedBy(c, "DRIFT-IGNORE-ORDER", "/ignored", d.Ignored, func(i DriftIgnore) string { return string(i.Fingerprint) + " " + i.Agent })
}

func checkAliases(c *checker, a *Aliases) {
	checkSortedBy(c, "ALIAS-ORDER", "/aliases", a.Aliases, func(x Alias) string { return string(x.From) })
	next := map[Digest]Digest{}
	for _, alias := range a.Aliases {
		next[alias.From] = alias.To
	}
	for i, alias := range a.Aliases {
		sig := alias.To
		for range a.Aliases {
			if sig == alias.From {
				c.report("ALIAS-CYCLE", pointerTo("/aliases", itoa(i))+"/to", "following the aliases leads back to %s", sig.Short())
				break
			}
			to, ok := next[sig]
			if !ok {
				break
			}
			sig = to
		}
	}
}

// checkSortedBy reports the first entry that is not above the one before it.
func checkSortedBy[T any](c *checker, code, at string, list []T, key func(T) string) {
	for i := 1; i < len(list); i++ {
		if key(list[i-1]) >= key(list[i]) {
			c.report(code, pointerTo(at, itoa(i)), "the entries are not sorted, or %s is there twice", quoted(key(list[i])))
			return
		}
	}
}

// rangeSyntax is one comparator or exact version; versions need not be semver
// (2025.11.06-8fe8a63).
var rangeSyntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(>=|<=|>|<|=|\^|~)?[0-9A-Za-z][0-9A-Za-z.+_-]*$`) })

// ValidRange reports whether s is an exact version, or comparators joined by
// spaces, all of which must hold ("||" joins alternatives).
func ValidRange(s string) bool {
	if s == "*" {
		return true
	}
	for _, alternative := range strings.Split(s, "||") {
		fields := strings.Fields(alternative)
		if len(fields) == 0 {
			return false
		}
		for _, f := range fields {
			if !rangeSyntax().MatchString(f) {
				return false
			}
			version := strings.TrimLeft(f, "<>=^~")
			if _, err := semver.NewVersion(version); err != nil && f != version && strings.ContainsAny(f[:1], "^~") {
				return false // ^ and ~ have a meaning for semver only
			}
		}
		if len(fields) > 1 && slices.ContainsFunc(fields, func(f string) bool { return !strings.ContainsAny(f[:1], "<>=^~") }) {
			return false // two exact versions cannot both hold
		}
	}
	return true
}

func checkRanges(c *checker, at string, ranges []string) {
	for i, r := range ranges {
		if !ValidRange(r) {
			c.report("VERSION-RANGE", pointerTo(at, itoa(i)), "%s is not a version or a range of versions", quoted(r))
		}
	}
}
