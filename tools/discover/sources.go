package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// homebrewAPI is where Homebrew's own client asks too.
const homebrewAPI = "https://formulae.brew.sh/api"

// maxAnswer bounds what is read of an answer; an install script has some 10 kB,
// a formula some 20.
const maxAnswer = 4 << 20

type looker struct {
	o        Options
	http     *http.Client
	github   *github.Client
	noGitHub error // why it cannot be asked
	homebrew string
}

func newLooker(o Options) *looker {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport // it takes the proxy from the environment
	}
	l := &looker{o: o, http: &http.Client{Transport: &cached{base: o.Transport, dir: o.CacheDir, now: o.Now}}, homebrew: homebrewAPI}
	l.github = github.NewClient(l.http)
	if o.GitHubToken != "" {
		l.github = l.github.WithAuthToken(o.GitHubToken)
	}
	if o.GitHubAPI != "" {
		base, err := url.Parse(strings.TrimSuffix(o.GitHubAPI, "/") + "/")
		if err != nil || base.Host == "" {
			l.noGitHub = fmt.Errorf("GITHUB_API_URL is no URL: %q", o.GitHubAPI)
		} else {
			l.github.BaseURL = base
		}
	}
	if o.HomebrewAPI != "" {
		l.homebrew = strings.TrimSuffix(o.HomebrewAPI, "/")
	}
	return l
}

// sources lists the sources of an agent, the surest first.
func (l *looker) sources(a *contract.Agent) []asked {
	var out []asked
	if a.Install != nil {
		out = append(out, asked{"npm:" + a.Install.NPM.Package, l.npm})
	}
	if d := a.Discover; d != nil {
		if d.GitHub != nil {
			out = append(out, asked{"github:" + d.GitHub.Repository, l.releases})
		}
		if d.Homebrew != nil {
			out = append(out, asked{"homebrew:" + d.Homebrew.Kind + "/" + d.Homebrew.Name, l.brew})
		}
		if d.Vendor != nil {
			out = append(out, asked{"vendor:" + host(d.Vendor.URL), l.vendor})
		}
	}
	return append(out, asked{"local:" + a.ProgramNames()[0], l.local})
}

// host returns the host of an address, which says who answers and is short.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

func (l *looker) npm(ctx context.Context, a *contract.Agent) (found, error) {
	r, err := l.o.Releases(ctx, a)
	if err != nil {
		return found{}, err
	}
	v := r.Tags["latest"]
	if v == "" {
		return found{}, errors.New("the package has no dist-tag latest")
	}
	return found{version: v, published: r.Published[v], tags: r.Tags}, nil
}

// releasesPage is how many releases are asked for: enough to find a stable one
// between the prereleases of a busy repository.
const releasesPage = 50

// releases finds the newest release of a repository that is neither a draft nor
// a prerelease, by version and not by date: old branches have releases too.
func (l *looker) releases(ctx context.Context, a *contract.Agent) (found, error) {
	if l.noGitHub != nil {
		return found{}, l.noGitHub
	}
	owner, name, _ := strings.Cut(a.Discover.GitHub.Repository, "/")
	list, _, err := l.github.Repositories.ListReleases(ctx, owner, name, &github.ListOptions{PerPage: releasesPage})
	if err != nil {
		return found{}, err
	}
	best, err := newest(a, list)
	if err != nil || best.version != "" {
		return best, err
	}
	latest, _, err := l.github.Repositories.GetLatestRelease(ctx, owner, name)
	if err != nil {
		return found{}, err
	}
	if best, err = newest(a, []*github.RepositoryRelease{latest}); err == nil && best.version == "" {
		err = fmt.Errorf("no release's tag is %q and a version", a.Discover.GitHub.TagPrefix)
	}
	return best, err
}

func newest(a *contract.Agent, list []*github.RepositoryRelease) (found, error) {
	var best found
	for _, r := range list {
		tag, ok := strings.CutPrefix(r.GetTagName(), a.Discover.GitHub.TagPrefix)
		v, err := agents.ParseToken(a, tag)
		if !ok || err != nil || r.GetDraft() || r.GetPrerelease() || v.Prerelease != "" {
			continue
		}
		if best.version != "" {
			n, err := agents.CompareVersions(a, v.Token, best.version)
			if err != nil {
				return found{}, err
			}
			if n <= 0 {
				continue
			}
		}
		best = found{version: v.Token, published: r.GetPublishedAt().Time}
	}
	return best, nil
}

func (l *looker) brew(ctx context.Context, a *contract.Agent) (found, error) {
	h := a.Discover.Homebrew
	b, err := l.get(ctx, l.homebrew+"/"+h.Kind+"/"+url.PathEscape(h.Name)+".json")
	if err != nil {
		return found{}, err
	}
	var answer struct {
		Version  string `json:"version"` // of a cask
		Versions struct {
			Stable string `json:"stable"`
		} `json:"versions"` // of a formula
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return found{}, errors.New("the answer is not the JSON of a formula or a cask")
	}
	v := answer.Versions.Stable
	if h.Kind == contract.HomebrewCask {
		v, _, _ = strings.Cut(answer.Version, ",") // after a comma stands a build that the download needs
	}
	v, _, _ = strings.Cut(v, "_") // Homebrew's own revision
	if v == "" {
		return found{}, errors.New("the answer names no stable version")
	}
	return found{version: v}, nil
}

func (l *looker) vendor(ctx context.Context, a *contract.Agent) (found, error) {
	b, err := l.get(ctx, a.Discover.Vendor.URL)
	if err != nil {
		return found{}, err
	}
	text := strings.TrimSpace(string(b))
	if p := a.Discover.Vendor.Pattern; p != "" {
		re, err := regexp.Compile(p)
		if err != nil {
			return found{}, fmt.Errorf("the pattern of its definition: %w", err)
		}
		m := re.FindStringSubmatch(text)
		if m == nil {
			return found{}, errors.New("the answer does not match the pattern of its definition")
		}
		text = m[re.SubexpIndex("version")]
	}
	v, err := agents.ParseToken(a, text)
	if err != nil {
		return found{}, errors.New("the answer is no version")
	}
	return found{version: v.Token}, nil
}

func (l *looker) local(ctx context.Context, a *contract.Agent) (found, error) {
	if a.VersionProbe == nil {
		return found{}, errors.New("the registry does not know how to ask it for its version")
	}
	_, v, err := l.o.Local(ctx, a)
	if err == nil && v.Product == "" {
		err = errors.New("the program is another product of this name")
	}
	return found{version: v.Token}, err
}

// get returns the body of an answer with status 200.
func (l *looker) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := l.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, statusError(res.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(b) > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	}
	return b, err
}

type statusError int

// Error implements error.
func (e statusError) Error() string {
	return fmt.Sprintf("it answered %d %s", int(e), http.StatusText(int(e)))
}

// reason says on one line why a source is not available. What a server wrote is
// not repeated.
func reason(err error) string {
	var limit *limitError
	var rate *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	var answer *github.ErrorResponse
	var transport *url.Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &limit):
		return limit.Error()
	case errors.As(err, &rate):
		return (&limitError{rate.Rate.Reset.Time}).Error()
	case errors.As(err, &abuse):
		return "it asks for fewer requests"
	case errors.As(err, &answer) && answer.Response != nil:
		return statusError(answer.Response.StatusCode).Error()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", sourceTimeout)
	case errors.As(err, &dns):
		return "there is no host " + dns.Name + " in reach" // the error names this machine's resolver
	case errors.As(err, &transport):
		err = transport.Err
	}
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r < 0x20 || r == 0x7f }), " ")
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// limitError says that a service takes no more requests for now.
type limitError struct{ until time.Time }

// Error implements error.
func (e *limitError) Error() string {
	return "its rate limit is used up until " + e.until.UTC().Format(time.RFC3339)
}
