// Package issues opens and updates GitHub issues, one for each thing that needs
// attention: the fingerprint in an issue's body says which, so that the same
// thing is never reported twice and a person's text around it stays.
package issues

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Issue is one thing that needs attention.
type Issue struct {
	// Fingerprint is the same for the same thing in every run: lower-case words,
	// colons and hyphens.
	Fingerprint string   `json:"fingerprint"`
	Title       string   `json:"title"`
	Body        string   `json:"body"` // Markdown
	Labels      []string `json:"labels"`
}

// Done is what happened to an issue.
type Done struct {
	Fingerprint string `json:"fingerprint"`
	Title       string `json:"title"`
	Action      string `json:"action"` // open, update or keep
	Number      int    `json:"number,omitempty"`
}

// What happens to an issue.
const (
	Open   = "open"
	Update = "update"
	Keep   = "keep"
)

// NewClient returns a client for GitHub's API, or for the one at api if that is
// not "".
func NewClient(transport http.RoundTripper, api, token string) (*github.Client, error) {
	c := github.NewClient(&http.Client{Transport: transport})
	if token != "" {
		c = c.WithAuthToken(token)
	}
	if api != "" {
		base, err := url.Parse(strings.TrimSuffix(api, "/") + "/")
		if err != nil || base.Host == "" {
			return nil, fmt.Errorf("the address of GitHub's API is no URL: %q", api)
		}
		c.BaseURL = base
	}
	return c, nil
}

const (
	begin = "<!-- agent-contracts "
	end   = "<!-- /agent-contracts -->"
)

func (i *Issue) block() string {
	return begin + i.Fingerprint + " -->\n" + strings.TrimSpace(i.Body) + "\n" + end
}

// Publish opens what is new in a repository (owner/name) and updates what has
// changed. With dry it only says what it would do. A closed issue stays closed:
// somebody decided about it; when it is still due in another form, its
// fingerprint is another one.
func Publish(ctx context.Context, c *github.Client, repository string, list []Issue, dry bool) ([]Done, error) {
	owner, name, ok := strings.Cut(repository, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is no repository: want OWNER/NAME", repository)
	}
	if len(list) == 0 {
		return []Done{}, nil
	}
	known, err := existing(ctx, c, owner, name, labels(list))
	if err != nil {
		return nil, said(err)
	}
	out := []Done{}
	for i := range list {
		d, err := publish(ctx, c, owner, name, &list[i], known[list[i].Fingerprint], dry)
		if err != nil {
			return out, fmt.Errorf("issue %q: %w", list[i].Title, said(err))
		}
		out = append(out, d)
		known[list[i].Fingerprint] = &github.Issue{Number: &d.Number, State: github.String("closed")} // once is enough
	}
	return out, nil
}

func labels(list []Issue) []string {
	var out []string
	for _, i := range list {
		for _, l := range i.Labels {
			if !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// existing returns the issues with a fingerprint, by it. Of several the open one
// counts, then the oldest.
func existing(ctx context.Context, c *github.Client, owner, name string, labels []string) (map[string]*github.Issue, error) {
	out := map[string]*github.Issue{}
	for _, label := range labels {
		opts := &github.IssueListByRepoOptions{State: "all", Labels: []string{label}, Sort: "created", Direction: "asc", ListOptions: github.ListOptions{PerPage: 100}}
		for {
			page, res, err := c.Issues.ListByRepo(ctx, owner, name, opts)
			if err != nil {
				return nil, err
			}
			for _, i := range page {
				print := fingerprint(i.GetBody())
				if old := out[print]; print != "" && (old == nil || old.GetState() == "closed" && i.GetState() == "open") {
					out[print] = i
				}
			}
			if res.NextPage == 0 {
				break
			}
			opts.Page = res.NextPage
		}
	}
	return out, nil
}

func fingerprint(body string) string {
	_, rest, found := strings.Cut(body, begin)
	print, _, closed := strings.Cut(rest, " -->")
	if !found || !closed {
		return ""
	}
	return print
}

func publish(ctx context.Context, c *github.Client, owner, name string, i *Issue, old *github.Issue, dry bool) (Done, error) {
	d := Done{Fingerprint: i.Fingerprint, Title: i.Title, Action: Open}
	if old == nil {
		if dry {
			return d, nil
		}
		block := i.block()
		made, _, err := c.Issues.Create(ctx, owner, name, &github.IssueRequest{Title: &i.Title, Body: &block, Labels: &i.Labels})
		d.Number = made.GetNumber()
		return d, err
	}
	d.Number, d.Action = old.GetNumber(), Keep
	body := replaced(old.GetBody(), i.block())
	if old.GetState() == "closed" || body == old.GetBody() && i.Title == old.GetTitle() {
		return d, nil
	}
	d.Action = Update
	if dry {
		return d, nil
	}
	_, _, err := c.Issues.Edit(ctx, owner, name, d.Number, &github.IssueRequest{Title: &i.Title, Body: &body})
	return d, err
}

// replaced changes our part of a body; what a person wrote around it stays.
func replaced(body, block string) string {
	before, rest, _ := strings.Cut(body, begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		return before + block
	}
	return before + block + after
}

// said turns an answer of GitHub's into an error without the request in it.
func said(err error) error {
	var answer *github.ErrorResponse
	var transport *url.Error
	switch {
	case errors.As(err, &answer) && answer.Response != nil:
		return fmt.Errorf("GitHub answered %d %s", answer.Response.StatusCode, http.StatusText(answer.Response.StatusCode))
	case errors.As(err, &transport):
		return fmt.Errorf("asking GitHub: %w", transport.Err)
	}
	return err
}
