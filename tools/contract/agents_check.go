package contract

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// agentID is the form of an agent's id, which is a folder's name in a registry
// and in the cache.
var agentID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

var templateName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([a-z_]+)\}`) })

// Validate reports every rule that the file breaks, joined. It checks what the
// schema cannot say: unique ids, version ranges, patterns, template variables,
// and that each launch, provider and probe of an agent fits the rest of it.
func (f *AgentsFile) Validate() error {
	var errs []error
	if f.SchemaVersion != SchemaVersion {
		errs = append(errs, fmt.Errorf("schema_version is %d, this program reads %d", f.SchemaVersion, SchemaVersion))
	}
	seen := map[string]bool{}
	for i := range f.Agents {
		a := &f.Agents[i]
		if seen[a.ID] {
			errs = append(errs, fmt.Errorf("agents[%d]: the id %q is used twice", i, a.ID))
		}
		seen[a.ID] = true
		for _, err := range a.check() {
			errs = append(errs, fmt.Errorf("agent %q: %w", a.ID, err))
		}
	}
	return errors.Join(errs...)
}

// agentCheck collects the broken rules of one agent.
type agentCheck struct{ errs []error }

func (c *agentCheck) bad(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *agentCheck) versions(where, r string) {
	if _, err := semver.NewConstraint(r); err != nil {
		c.bad("%s: %q is not a version range", where, r)
	}
}

func (c *agentCheck) template(where, text string, allowed ...string) {
	for _, m := range templateName().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(allowed, m[1]) {
			c.bad("%s: unknown variable {%s}, known are {%s}", where, m[1], strings.Join(allowed, "}, {"))
		}
	}
}

func (a *Agent) check() []error {
	c := &agentCheck{}
	if !agentID().MatchString(a.ID) {
		c.bad("id: want lower-case words joined by hyphens")
	}
	// An exempt agent may speak a protocol that is none of ours.
	if len(a.ProtocolFamilies) == 0 && a.Exemption == "" {
		c.bad("protocol_families is empty")
	}
	for _, f := range a.ProtocolFamilies {
		if !f.Valid() {
			c.bad("protocol_families: unknown family %q", f)
		}
	}
	if a.CredentialModel != "" && !slices.Contains(CredentialModels, a.CredentialModel) {
		c.bad("credential_model: unknown model %q", a.CredentialModel)
	}
	if a.Exemption == "" {
		a.checkComplete(c)
	}
	if a.Install != nil {
		a.Install.NPM.check(c)
	}
	if a.Discover != nil {
		a.Discover.check(c)
	}
	if a.VersionProbe != nil {
		a.VersionProbe.check(c)
	}
	a.checkLaunches(c)
	a.checkHermetic(c)
	a.checkCoverage(c)
	return c.errs
}

// checkComplete asks for the parts without which nothing can be captured.
func (a *Agent) checkComplete(c *agentCheck) {
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"install", a.Install == nil}, {"version_probe", a.VersionProbe == nil}, {"env", a.Env == nil},
		{"credential_model", a.CredentialModel == ""}, {"freshness_days", a.FreshnessDays <= 0},
		{"launches", len(a.Launches) == 0}, {"providers", len(a.Providers) == 0},
	} {
		if part.missing {
			c.bad("%s is missing and there is no exemption", part.name)
		}
	}
}

func (n *NPMInstall) check(c *agentCheck) {
	for i, r := range n.Node {
		c.versions(fmt.Sprintf("install.npm.node[%d].versions", i), r.Versions)
		c.versions(fmt.Sprintf("install.npm.node[%d].node", i), r.Node)
	}
	for i, e := range n.Earlier {
		c.versions(fmt.Sprintf("install.npm.earlier[%d].versions", i), e.Versions)
	}
	for i, b := range n.Native {
		where := fmt.Sprintf("install.npm.native[%d]", i)
		c.versions(where+".versions", b.Versions)
		c.template(where+".path", b.Path, "platform", "triple", "exe")
		c.template(where+".platform_package", b.PlatformPackage, "version", "platform")
		if !isLocal(b.Path) {
			c.bad("%s.path: %q does not stay inside node_modules", where, b.Path)
		}
		if strings.Contains(b.Path, "{triple}") && len(n.Triples) == 0 {
			c.bad("%s.path: {triple} needs install.npm.triples", where)
		}
	}
}

func (p *VersionProbe) check(c *agentCheck) {
	if p.Scheme != SchemePrerelease && p.Scheme != SchemeBuild {
		c.bad("version_probe.scheme: unknown scheme %q", p.Scheme)
	}
	if h := p.Handshake; h != nil {
		c.versions("version_probe.handshake.versions", h.Versions)
	}
	for i, product := range p.Products {
		if _, err := regexp.Compile(product.Pattern); err != nil {
			c.bad("version_probe.products[%d].pattern: %q is not a regular expression of Go", i, product.Pattern)
		}
	}
}

func (a *Agent) checkLaunches(c *agentCheck) {
	production := len(a.Launches) == 0
	for i, l := range a.Launches {
		where := fmt.Sprintf("launches[%d]", i)
		c.versions(where+".versions", l.Versions)
		if !slices.Contains(StdinModes, l.StdinMode) {
			c.bad("%s.stdin_mode: unknown mode %q", where, l.StdinMode)
		}
		for j, arg := range l.Argv {
			c.template(fmt.Sprintf("%s.argv[%d]", where, j), arg, TemplateVariables...)
		}
		for _, k := range sortedKeys(l.Env) {
			c.template(where+".env."+k, l.Env[k], TemplateVariables...)
		}
		production = production || l.Profile == ProfileProduction
	}
	if !production {
		c.bad("launches: none has the profile %q", ProfileProduction)
	}
	for i, p := range a.Providers {
		where := fmt.Sprintf("providers[%d]", i)
		c.versions(where+".versions", p.Versions)
		if !slices.Contains(ProviderAPIs, p.API) {
			c.bad("%s.api: unknown api %q", where, p.API)
		}
	}
}

func (a *Agent) checkHermetic(c *agentCheck) {
	for i, f := range a.HomeFiles {
		where := fmt.Sprintf("home_files[%d]", i)
		if f.Versions != "" {
			c.versions(where+".versions", f.Versions)
		}
		if !isLocal(strings.TrimPrefix(f.Path, WorkspacePrefix)) {
			c.bad("%s.path: %q does not stay inside HOME", where, f.Path)
		}
		c.template(where+".path", f.Path, "cwd")
		c.template(where+".text", f.Text, TemplateVariables...)
	}
	if a.Env == nil {
		return
	}
	for _, k := range sortedKeys(a.Env.Set) {
		c.template("env.set."+k, a.Env.Set[k], TemplateVariables...)
	}
	for _, k := range sortedKeys(a.Env.Hermetic) {
		c.template("env.hermetic."+k, a.Env.Hermetic[k], TemplateVariables...)
	}
	for _, state := range CredentialStates {
		if _, ok := a.Env.Credentials[state]; !ok {
			c.bad("env.credentials: the state %q is missing", state)
		}
		for _, k := range sortedKeys(a.Env.Credentials[state]) {
			c.template("env.credentials."+string(state)+"."+k, a.Env.Credentials[state][k], TemplateVariables...)
		}
	}
}

func (a *Agent) checkCoverage(c *agentCheck) {
	for _, id := range sortedKeys(a.Coverage) {
		cov := a.Coverage[id]
		if !slices.Contains(CoverageStatuses, cov.Status) {
			c.bad("coverage.%s: unknown status %q", id, cov.Status)
		}
		if cov.Status != CoverageCaptured && cov.Reason == "" {
			c.bad("coverage.%s: the status %q needs a reason", id, cov.Status)
		}
	}
	if a.Exemption != "" {
		return
	}
	if _, ok := a.Coverage[a.RepresentativeProbe]; !ok {
		c.bad("representative_probe: %q is not in coverage", a.RepresentativeProbe)
	}
	for _, id := range MarkedProbes {
		if _, ok := a.Coverage[id]; !ok && a.Tier == 0 {
			c.bad("coverage: the probe %q is not marked, and the agent is of tier 0", id)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// isLocal reports whether a slash path stays below the folder it is joined to.
func isLocal(p string) bool {
	clean := path.Clean(p)
	return p != "" && !path.IsAbs(p) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.Contains(p, `\`)
}
