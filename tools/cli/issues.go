package cli

import (
	"context"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan/issues"
)

// checkRepository refuses what is no OWNER/NAME before any work is done; "" is
// none.
func checkRepository(repository string) error {
	if owner, name, _ := strings.Cut(repository, "/"); repository != "" && (owner == "" || name == "" || strings.Contains(name, "/")) {
		return usage("--issues %q is no repository: want OWNER/NAME", repository)
	}
	return nil
}

// publishIssues opens and updates issues and says so on stderr.
func (a *app) publishIssues(ctx context.Context, repository string, list []issues.Issue, dry bool) error {
	client, err := issues.NewClient(nil, a.env.Getenv("GITHUB_API_URL"), a.env.Getenv("GITHUB_TOKEN"))
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err}
	}
	done, err := issues.Publish(ctx, client, repository, list, dry)
	would := ""
	if dry {
		would = "would "
	}
	for _, d := range done {
		a.talk("%s%s: %s (%s)", would, d.Action, d.Title, d.Fingerprint)
	}
	if err != nil {
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "GITHUB_TOKEN needs the right to write issues there"}
	}
	return nil
}
