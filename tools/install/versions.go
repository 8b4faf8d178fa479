package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

var (
	exactVersion = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	// platformVersion is a package of one platform that shares the agent's
	// package name, as codex's do; it is no release.
	platformVersion = lazyregexp.New(`-(darwin|linux|win32|android|freebsd)-[a-z0-9]+(-[a-z0-9]+)?$`)
)

// Versions returns the agent's releases in ascending order and the dist-tags,
// such as latest, from the npm registry.
func Versions(ctx context.Context, agent *contract.Agent, opts Options) (versions []string, tags map[string]string, err error) {
	j, err := newJob(agent, opts)
	if err != nil {
		return nil, nil, err
	}
	return j.cache.versions(ctx, j.npm.Package)
}

func (c *Cache) versions(ctx context.Context, pkg string) ([]string, map[string]string, error) {
	out, err := c.runNPM(ctx, "asking the registry for the versions of "+pkg, c.root, "view", pkg, "versions", "dist-tags", "--json")
	if err != nil {
		return nil, nil, err
	}
	var answer struct {
		Versions oneOrMany         `json:"versions"`
		Tags     map[string]string `json:"dist-tags"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, nil, fmt.Errorf("reading the registry's versions of %s: %w: %w", pkg, err, ErrNPM)
	}
	var parsed []*semver.Version
	for _, v := range answer.Versions {
		if sv, err := semver.StrictNewVersion(v); err == nil && !platformVersion.Get().MatchString(v) {
			parsed = append(parsed, sv)
		}
	}
	slices.SortFunc(parsed, func(a, b *semver.Version) int { return a.Compare(b) })
	versions := make([]string, len(parsed))
	for i, v := range parsed {
		versions[i] = v.Original()
	}
	return versions, answer.Tags, nil
}

// oneOrMany is a list that npm writes as a plain string when it has one item.
type oneOrMany []string

// UnmarshalJSON reads a string or a list of strings.
func (o *oneOrMany) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*o = make(oneOrMany, 1)
		return json.Unmarshal(b, &(*o)[0])
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// resolve turns a specification into an exact version. Only exact versions do
// without the registry.
func (j *job) resolve(ctx context.Context, spec string) (string, error) {
	if exact := strings.TrimPrefix(spec, "v"); exactVersion.Get().MatchString(exact) {
		return exact, nil
	}
	if spec == "" {
		spec = "latest"
	}
	j.report(StageResolving, 0)
	versions, tags, err := j.cache.versions(ctx, j.npm.Package)
	if err != nil {
		if cached := j.cache.cachedVersions(j.agent.ID); len(cached) > 0 && (errors.Is(err, ErrNetwork) || errors.Is(err, ErrNPMMissing)) {
			return "", fmt.Errorf("%w; in the cache and usable as they are: %s", err, strings.Join(cached, ", "))
		}
		return "", err
	}
	if v, ok := tags[spec]; ok && exactVersion.Get().MatchString(v) {
		return v, nil
	}
	if c, err := semver.NewConstraint(spec); err == nil {
		for _, v := range slices.Backward(versions) {
			if sv, err := semver.StrictNewVersion(v); err == nil && c.Check(sv) {
				return v, nil
			}
		}
	}
	return "", &NoSuchVersionError{Package: j.npm.Package, Spec: spec, Nearest: nearest(versions, firstVersion(spec))}
}

// explainMissing adds the nearest versions to npm's "no such version", which of a
// version that is there means something that it depends on.
func (j *job) explainMissing(ctx context.Context, version string, err error) error {
	if !errors.Is(err, ErrNoSuchVersion) {
		return err
	}
	versions, _, listErr := j.cache.versions(ctx, j.npm.Package)
	if listErr != nil {
		return err
	}
	around := nearest(versions, version)
	var npm *npmError
	if i := slices.Index(around, version); i >= 0 {
		around = slices.Delete(around, i, i+1)
		if !errors.As(err, &npm) || npm.code != "ETARGET" {
			return &NoSuchVersionError{Package: j.npm.Package, Spec: version, Nearest: around} // listed, and gone
		}
		return &npmError{
			what: "something that " + j.npm.Package + " depends on is not in the package registry", code: "ETARGET", reason: ErrNPM,
			advice: "capture another version; the nearest are " + strings.Join(around, ", "),
		}
	}
	return &NoSuchVersionError{Package: j.npm.Package, Spec: version, Nearest: around}
}

var anyVersion = lazyregexp.New(`[0-9]+(\.[0-9]+){0,2}`)

// firstVersion returns the first number in a specification, "" for a tag.
func firstVersion(spec string) string { return anyVersion.Get().FindString(spec) }

// nearest returns up to three of the ascending versions around version,
// closest first; for "" the newest ones.
func nearest(versions []string, version string) []string {
	at := len(versions)
	if want, err := semver.NewVersion(version); err == nil {
		at = slices.IndexFunc(versions, func(v string) bool {
			sv, err := semver.NewVersion(v)
			return err == nil && sv.GreaterThan(want)
		})
		if at < 0 {
			at = len(versions)
		}
	}
	var out []string
	for below, above := at-1, at; len(out) < 3 && (below >= 0 || above < len(versions)); below, above = below-1, above+1 {
		if below >= 0 {
			out = append(out, versions[below])
		}
		if above < len(versions) && len(out) < 3 {
			out = append(out, versions[above])
		}
	}
	return out
}

// History returns the agent's releases under all names that its package had,
// in ascending order: of each package those that the agent's definition takes
// from it.
func History(ctx context.Context, agent *contract.Agent, opts Options) ([]string, error) {
	j, err := newJob(agent, opts)
	if err != nil {
		return nil, err
	}
	packages := []string{j.npm.Package}
	for _, e := range j.npm.Earlier {
		packages = append(packages, e.Package)
	}
	var out []string
	for _, pkg := range packages {
		j.report(StageResolving, 0)
		versions, _, err := j.cache.versions(ctx, pkg)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			if packageFor(j.npm, v).Package == pkg {
				out = append(out, v)
			}
		}
	}
	sortReleases(out)
	return slices.Compact(out), nil
}

// sortReleases orders versions that are semantic versions.
func sortReleases(versions []string) {
	slices.SortFunc(versions, func(a, b string) int {
		x, errX := semver.StrictNewVersion(a)
		y, errY := semver.StrictNewVersion(b)
		if errX != nil || errY != nil {
			return strings.Compare(a, b)
		}
		return x.Compare(y)
	})
}
