package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// versionPage is what is known of one version on one platform: the claim, and
// for each probe the chain of evidence behind it.
type versionPage struct {
	Agent    *contract.Agent
	Version  string
	Platform contract.Platform
	Claim    matrix.Claim
	Chip     chip
	Why      []string
	Next     matrix.Step
	Place    string // of the claim in the matrix, "" for none
	Older    string // addresses of the neighbours, "" for none
	Newer    string
	Profile  string   // whose evidence is on the page
	Profiles []string // all that have some, the consumer's first
	Proofs   []proof
}

// proof is the evidence of one probe.
type proof struct {
	ID      string // anchor
	Probe   string
	Profile string
	Family  contract.ProtocolFamily
	State   matrix.ProbeState
	Chip    chip
	Shape   contract.Digest
	Level   contract.ValidityLevel
	Between []string
	Links   []link // newest capture first
	More    int    // captures that are left out
	Aside   string // why it backs no claim
	Command string // makes such a capture again
	Explain string // prints this chain
}

// link is one capture with the hashes that pin it.
type link struct {
	matrix.ExplainedObservation
	Argv string // how the program was started
}

// cut leaves out the older captures of a probe: a page shows two of each, or
// one where it has very many probes.
func (p *proof) cut(proofs int) {
	most := 2
	if proofs > 30 {
		most = 1
	}
	if len(p.Links) > most {
		p.More, p.Links = len(p.Links)-most, p.Links[:most]
	}
}

func (s *Site) versionPage(a *contract.Agent, version string, p contract.Platform, profile string) (*versionPage, error) {
	missing := &NotFoundError{Path: versionPath(a.ID, version, p), What: fmt.Sprintf("%s %s was not captured on %s", a.ID, version, p)}
	all := s.gather(a)
	i := slices.IndexFunc(all, func(f facts) bool { return f.platform == p })
	if i < 0 || !slices.Contains(all[i].versions, version) {
		return nil, missing
	}
	claim, err := s.Index.Find(a.ID, version, p)
	if err != nil {
		return nil, missing
	}
	page := &versionPage{Agent: a, Version: version, Platform: p, Claim: claim, Chip: chipOf(claim.Status, claim.Policy.AllowRun), Why: claim.Why(), Next: claim.Next(p)}
	if claim.Entry != nil {
		for n := range s.Matrix.Agents {
			if e := &s.Matrix.Agents[n]; e.Agent == a.ID && slices.Equal(e.VersionRanges, claim.Entry.VersionRanges) && slices.Equal(e.Platforms, claim.Entry.Platforms) && slices.Equal(e.ProtocolFamilies, claim.Entry.ProtocolFamilies) && e.SupportStatus == claim.Entry.SupportStatus {
				page.Place = fmt.Sprintf("%s#/agents/%d", matrix.Path, n)
			}
		}
	}
	at := slices.Index(all[i].versions, version)
	if at > 0 {
		page.Older = all[i].versions[at-1]
	}
	if at+1 < len(all[i].versions) {
		page.Newer = all[i].versions[at+1]
	}
	page.Profile = profile
	page.Proofs, page.Profiles = s.proofs(a, version, p, profile)
	if profile != contract.ProfileProduction && len(page.Proofs) == 0 {
		return nil, missing
	}
	return page, nil
}

// proofs lists the evidence of every probe of a version in a profile, and the
// profiles that there are.
func (s *Site) proofs(a *contract.Agent, version string, p contract.Platform, profile string) (of []proof, profiles []string) {
	var out []proof
	for _, h := range s.histories[a.ID] {
		if h.Platform != p {
			continue
		}
		i := slices.IndexFunc(h.Versions, func(v matrix.VersionHistory) bool { return v.Version == version })
		if i < 0 {
			continue
		}
		for _, e := range h.Versions[i].Probes {
			if e.State != matrix.ProbeNotCaptured {
				out = append(out, s.proof(a, version, e))
			}
		}
		out = append(out, s.aside(a, version, h.Versions[i].SetAside)...)
	}
	slices.SortStableFunc(out, func(x, y proof) int {
		return cmp.Or(profileRank(x.Profile)-profileRank(y.Profile), strings.Compare(x.Profile, y.Profile), probeRank(a, x.Probe)-probeRank(a, y.Probe), strings.Compare(x.Probe, y.Probe))
	})
	seen := map[string]int{}
	for _, f := range out {
		if !slices.Contains(profiles, f.Profile) {
			profiles = append(profiles, f.Profile)
		}
		if f.Profile != profile {
			continue
		}
		if seen[f.ID]++; seen[f.ID] > 1 { // one probe in two families
			f.ID += fmt.Sprintf(".%d", seen[f.ID])
		}
		of = append(of, f)
	}
	for i := range of {
		of[i].cut(len(of))
	}
	return of, profiles
}

func (s *Site) proof(a *contract.Agent, version string, e matrix.ExplainedProbe) proof {
	out := proof{ID: e.Probe, Probe: e.Probe, Profile: contract.ProfileProduction, Family: e.ProtocolFamily, State: e.State, Chip: readingChip(e.Reading), Shape: e.Shape, Level: e.Level, Between: e.Between}
	out.commands(a, version)
	s.addLinks(&out, e.Observations)
	return out
}

// aside lists captures that back no claim, by the reason and the probe.
func (s *Site) aside(a *contract.Agent, version string, list []matrix.ExplainedObservation) []proof {
	var out []proof
	for _, e := range list {
		o := s.observations[e.Path]
		if o == nil {
			continue
		}
		i := slices.IndexFunc(out, func(p proof) bool {
			return p.Probe == o.Probe && p.Profile == o.Extensions.Profile && p.Aside == e.Why && p.Family == o.ProtocolFamily
		})
		if i < 0 {
			p := proof{ID: o.Probe, Probe: o.Probe, Profile: o.Extensions.Profile, Family: o.ProtocolFamily, State: matrix.ProbeObserved, Chip: readingChip(o.ParserReplay.Status), Shape: o.Shape.Signature, Level: o.ValidityLevel, Aside: e.Why}
			p.commands(a, version)
			out = append(out, p)
			i = len(out) - 1
		}
		s.addLinks(&out[i], []matrix.ExplainedObservation{e})
	}
	return out
}

// addLinks adds captures, the newest first.
func (s *Site) addLinks(p *proof, list []matrix.ExplainedObservation) {
	for _, e := range list {
		l := link{ExplainedObservation: e}
		if o := s.observations[e.Path]; o != nil {
			l.Argv = strings.Join(append([]string{o.Agent}, o.Command.ArgvTemplate...), " ")
		}
		p.Links = append(p.Links, l)
	}
	slices.SortStableFunc(p.Links, func(x, y link) int { return strings.Compare(y.CapturedAt, x.CapturedAt) })
}

func (p *proof) commands(a *contract.Agent, version string) {
	p.Command = fmt.Sprintf("agent-contracts capture %s@%s --probe %s", a.ID, version, p.Probe)
	if a.Install == nil || len(a.Launches) == 0 {
		p.Command = ""
	}
	p.Explain = fmt.Sprintf("agent-contracts matrix --explain %s %s --probe %s", a.ID, version, p.Probe)
}
