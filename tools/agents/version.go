package agents

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// ErrNoVersion says that a version probe's output holds no version: no
// version, no observation (DESIGN D3).
var ErrNoVersion = errors.New("no version, no observation")

// ErrOtherProduct says that two versions belong to two products of one name
// and have no order.
var ErrOtherProduct = errors.New("versions of different products have no order")

// Version is what a binary said about itself.
type Version struct {
	// Token is the version as printed, without a leading v: cli_version of an
	// observation. Line is the line that held it, in valid UTF-8.
	Token, Line string
	// Product is the id of the agent's product whose pattern the line matches.
	// It is "" when none does: then the program may be another one of the same
	// name, and must not be recorded under the agent's name.
	Product string
	Scheme  contract.VersionScheme
	// Parts are the two or three numbers, without leading zeros.
	Parts []string
	// Prerelease is a suffix that comes before the release (alpha.9), Build
	// one that does not (8fe8a63, 3).
	Prerelease, Build string
}

// A version has two or three numbers; a longer one is an address or a date in
// a file name. Numbers are bounded so that they fit an integer.
var (
	versionToken = lazyregexp.New(`[vV]?([0-9]{1,15})\.([0-9]{1,15})(?:\.([0-9]{1,15}))?(?:-([0-9A-Za-z][0-9A-Za-z.-]*))?(?:\+([0-9A-Za-z][0-9A-Za-z.-]*))?`)
	escapes      = lazyregexp.New("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
)

// maxVersionOutput bounds how much of a probe's output is read for a version.
const maxVersionOutput = 64 << 10

// ParseVersion finds the version in a version probe's stdout: on the first
// line that matches one of the agent's products, else on the first line that
// holds anything shaped like a version; a product's group named version says
// where it stands in the line. Banners, code pages, colours, CR and
// bytes in other encodings around it do not matter. The error is ErrNoVersion.
func ParseVersion(agent *contract.Agent, stdout []byte) (Version, error) {
	probe := agent.VersionProbe
	if probe == nil {
		return Version{}, fmt.Errorf("agent %q has no version probe: %w", agent.ID, ErrNoVersion)
	}
	products, err := compileProducts(probe)
	if err != nil {
		return Version{}, fmt.Errorf("agent %q: %w", agent.ID, err)
	}
	var first Version
	for _, line := range versionLines(stdout) {
		v, ok := parseLine(line, probe.Scheme)
		if !ok {
			continue
		}
		for i, p := range products {
			m := p.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if at := p.SubexpIndex("version"); at >= 0 && m[at] != "" {
				if v, ok = parseLine(m[at], probe.Scheme); !ok {
					continue
				}
				v.Line = line
			}
			v.Product = probe.Products[i].ID
			return v, nil
		}
		if first.Token == "" {
			first = v
		}
	}
	if first.Token == "" {
		return Version{}, fmt.Errorf("the version probe of %q printed %d bytes without a version: %w", agent.ID, len(stdout), ErrNoVersion)
	}
	return first, nil
}

// VersionQuestion returns how to ask a release for its version: its arguments,
// and the request to write, "" where it prints its version by itself. release is
// the version that was asked for, "" when nobody knows.
func VersionQuestion(agent *contract.Agent, release string) (args []string, request string) {
	h := agent.VersionProbe.Handshake
	if h == nil || release == "" {
		return agent.VersionProbe.Args, ""
	}
	v, err := ParseToken(agent, release)
	if err != nil {
		return agent.VersionProbe.Args, ""
	}
	if in, err := v.In(h.Versions); err != nil || !in {
		return agent.VersionProbe.Args, ""
	}
	return nil, h.Request + "\n"
}

func compileProducts(p *contract.VersionProbe) ([]*regexp.Regexp, error) {
	out := make([]*regexp.Regexp, len(p.Products))
	for i, product := range p.Products {
		re, err := regexp.Compile(product.Pattern)
		if err != nil {
			return nil, fmt.Errorf("product %q: %w", product.ID, err)
		}
		out[i] = re
	}
	return out, nil
}

// versionLines cuts output into trimmed lines of valid UTF-8 without escape
// sequences.
func versionLines(stdout []byte) []string {
	stdout = stdout[:min(len(stdout), maxVersionOutput)]
	stdout = bytes.TrimPrefix(stdout, []byte("\ufeff"))
	clean := escapes.Get().ReplaceAll(stdout, nil)
	clean = bytes.ReplaceAll(clean, []byte("\r"), []byte("\n"))
	var out []string
	for line := range bytes.Lines(clean) {
		out = append(out, strings.TrimSpace(strings.ToValidUTF8(string(line), "\ufffd")))
	}
	return out
}

func parseLine(line string, scheme contract.VersionScheme) (Version, bool) {
	for _, m := range versionToken.Get().FindAllStringSubmatchIndex(line, -1) {
		if !standsAlone(line, m[0], m[1]) {
			continue
		}
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return line[m[2*i]:m[2*i+1]]
		}
		token := strings.TrimRight(line[m[0]:m[1]], ".-")
		v := Version{Token: strings.TrimLeft(token, "vV"), Line: line, Scheme: scheme}
		for i := 1; i <= 3; i++ {
			if part := group(i); part != "" {
				v.Parts = append(v.Parts, trimZeros(part))
			}
		}
		suffix := strings.TrimRight(group(4), ".-")
		v.Build = strings.TrimRight(group(5), ".-")
		if scheme == contract.SchemeBuild && v.Build == "" {
			v.Build = suffix
		} else {
			v.Prerelease = suffix
		}
		return v, true
	}
	return Version{}, false
}

// standsAlone reports whether line[from:to] is a word of its own, not a part
// of a name, a path, a duration or an address.
func standsAlone(line string, from, to int) bool {
	if from > 0 && (isWord(line[from-1]) || strings.IndexByte(".-+", line[from-1]) >= 0) {
		return false
	}
	rest := line[to:]
	if rest == "" {
		return true
	}
	if rest[0] == '.' { // the end of a sentence, or a further part
		return len(rest) == 1 || !isWord(rest[1])
	}
	return !isWord(rest[0]) && rest[0] != '/' && rest[0] != '\\' && rest[0] != '%'
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func trimZeros(digits string) string {
	if t := strings.TrimLeft(digits, "0"); t != "" {
		return t
	}
	return "0"
}

// ParseToken reads a version that was recorded (cli_version). Its product is
// unknown: only the whole line of the probe tells it.
func ParseToken(agent *contract.Agent, token string) (Version, error) {
	scheme := contract.SchemePrerelease
	if agent.VersionProbe != nil {
		scheme = agent.VersionProbe.Scheme
	}
	v, ok := parseLine(token, scheme)
	if !ok || v.Token != strings.TrimLeft(token, "vV") {
		return Version{}, fmt.Errorf("%q is not a version of %q: want two or three numbers, as in 0.133.0", token, agent.ID)
	}
	return v, nil
}

// CompareVersions orders two recorded versions of an agent: -1, 0 or 1.
func CompareVersions(agent *contract.Agent, a, b string) (int, error) {
	va, err := ParseToken(agent, a)
	if err != nil {
		return 0, err
	}
	vb, err := ParseToken(agent, b)
	if err != nil {
		return 0, err
	}
	return va.Compare(vb)
}

// Compare orders two versions: by number, a missing third part being zero,
// then by prerelease as semantic versions do, then by build, where none comes
// first and numbers compare as numbers. The order is total within a product;
// for two different products the error is ErrOtherProduct.
func (v Version) Compare(w Version) (int, error) {
	if v.Product != "" && w.Product != "" && v.Product != w.Product {
		return 0, fmt.Errorf("%s %s and %s %s: %w", v.Product, v.Token, w.Product, w.Token, ErrOtherProduct)
	}
	for i := range 3 {
		if c := compareDigits(v.part(i), w.part(i)); c != 0 {
			return c, nil
		}
	}
	if (v.Prerelease == "") != (w.Prerelease == "") {
		return cmp.Compare(w.Prerelease, v.Prerelease), nil // the one without is later
	}
	if c := compareIdentifiers(v.Prerelease, w.Prerelease); c != 0 {
		return c, nil
	}
	return compareIdentifiers(v.Build, w.Build), nil
}

func (v Version) part(i int) string {
	if i < len(v.Parts) {
		return v.Parts[i]
	}
	return "0"
}

func compareDigits(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// compareIdentifiers orders dotted identifiers as semantic versions do:
// numbers before words, numbers by value, a shorter list first.
func compareIdentifiers(a, b string) int {
	if a == b {
		return 0
	}
	if a == "" || b == "" {
		return cmp.Compare(a, b)
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		an, bn := isNumber(as[i]), isNumber(bs[i])
		var c int
		switch {
		case an && bn:
			c = cmp.Or(compareDigits(trimZeros(as[i]), trimZeros(bs[i])), cmp.Compare(as[i], bs[i]))
		case an:
			c = -1
		case bn:
			c = 1
		default:
			c = cmp.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// In reports whether the version lies in a range of agents.json. A prerelease
// is in the ranges that its place in the order says.
func (v Version) In(versions string) (bool, error) {
	if versions == "*" { // for semver that leaves out prereleases of 0.0.0
		return true, nil
	}
	c, err := semver.NewConstraint(versions)
	if err != nil {
		return false, fmt.Errorf("%q is not a version range: %w", versions, err)
	}
	c.IncludePrerelease = true
	text := v.part(0) + "." + v.part(1) + "." + v.part(2)
	if v.Prerelease != "" {
		text += "-" + v.Prerelease
	}
	sv, err := semver.NewVersion(text)
	if err != nil {
		// A prerelease that semver refuses, such as one with a leading zero,
		// still has its number.
		sv, err = semver.NewVersion(v.part(0) + "." + v.part(1) + "." + v.part(2))
	}
	if err != nil {
		return false, fmt.Errorf("version %q: %w", v.Token, err)
	}
	return c.Check(sv), nil
}
