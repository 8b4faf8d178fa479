package contract

import "regexp"

// AgentDiscover says where, beside npm and the machine itself, the newest
// release of an agent can be seen. Every place is optional.
type AgentDiscover struct {
	GitHub   *GitHubReleases `json:"github,omitempty"`
	Homebrew *HomebrewEntry  `json:"homebrew,omitempty"`
	Vendor   *VendorEndpoint `json:"vendor,omitempty"`
}

// GitHubReleases are the releases of a repository.
type GitHubReleases struct {
	Repository string `json:"repository"` // owner/name
	// TagPrefix stands before the version in a release's tag; releases of other
	// products of the repository lack it. A "v" after it is read over.
	TagPrefix string `json:"tag_prefix,omitempty"`
}

// HomebrewEntry is a formula or a cask.
type HomebrewEntry struct {
	Kind string `json:"kind"` // formula or cask
	Name string `json:"name"`
}

// The kinds of HomebrewEntry.
const (
	HomebrewFormula = "formula"
	HomebrewCask    = "cask"
)

// VendorEndpoint is an address of the vendor's that names the newest release.
type VendorEndpoint struct {
	URL string `json:"url"` // HTTPS
	// Pattern is an RE2 expression with a group named version. Empty: the
	// answer is the version and nothing else.
	Pattern string `json:"pattern,omitempty"`
}

// AgentSource says what source-scan asks a release about itself.
type AgentSource struct {
	// Help are the arguments of the commands that print help; absent: --help.
	Help [][]string `json:"help,omitempty"`
	// JSONSchema are the arguments of the command that writes the JSON Schemas of
	// its protocol into the folder {out}.
	JSONSchema []string `json:"json_schema,omitempty"`
}

func (d *AgentDiscover) check(c *agentCheck) {
	if d.Vendor == nil || d.Vendor.Pattern == "" {
		return
	}
	re, err := regexp.Compile(d.Vendor.Pattern)
	switch {
	case err != nil:
		c.bad("discover.vendor.pattern: %v", err)
	case re.SubexpIndex("version") < 0:
		c.bad("discover.vendor.pattern has no group named version, as in (?P<version>…)")
	}
}
