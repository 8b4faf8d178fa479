package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The media types of what Get returns.
const (
	TypeHTML = "text/html; charset=utf-8"
	TypeJSON = "application/json"
	TypeSVG  = "image/svg+xml"
)

// File is a page, a document, a badge or an asset.
type File struct {
	Type string
	Body []byte
	// Fixed files never change under their address.
	Fixed bool
}

// Reserved are the first parts of addresses that no agent's page has.
var Reserved = []string{"api", "assets", "badge", "consumer", "diff", "health", "machine", "review", "shapes"}

// Get returns what is at an address, without its leading slash: pages end in a
// slash, "" is the first one. Its error is a *NotFoundError where there is
// nothing.
func (s *Site) Get(at string) (*File, error) {
	parts := strings.Split(at, "/")
	switch parts[0] {
	case "assets":
		files, _ := assets()
		if b, ok := files[at]; ok {
			return &File{Type: assetType(at), Body: b, Fixed: true}, nil
		}
	case "badge":
		if name, ok := strings.CutSuffix(strings.Join(parts[1:], "/"), ".svg"); ok {
			return s.badge(at, name)
		}
	case "api":
		if at == "api/" {
			return s.html(at, "api", "api", "API", s.apiPage(), nil)
		}
		return s.document(at)
	default:
		if at == "" {
			return s.Overview("")
		}
		if at == "404.html" {
			return s.NotFound("")
		}
		if parts[len(parts)-1] == "" {
			return s.page(at, parts[:len(parts)-1])
		}
	}
	return nil, &NotFoundError{at, "there is nothing at this address"}
}

// page returns an HTML page by the parts of its address.
func (s *Site) page(at string, parts []string) (*File, error) {
	missing := &NotFoundError{at, "there is nothing at this address"}
	switch {
	case parts[0] == "shapes" && len(parts) == 2:
		p, err := s.shapePage(parts[1])
		return s.html(at, "shape", "agents", "Shape "+parts[1], p, err)
	case parts[0] == "diff" && len(parts) == 2:
		from, to, _ := strings.Cut(parts[1], "..")
		p, err := s.diff(from, to)
		return s.html(at, "diff", "agents", "Diff "+from+" to "+to, p, err)
	case at == "consumer/":
		p, err := s.consumerPage()
		return s.html(at, "consumer", "consumer", "What the consumer loses", p, err)
	case parts[0] == "consumer" && len(parts) == 2:
		a := s.Records.Agents.Agent(parts[1])
		if a == nil {
			return nil, missing
		}
		p, err := s.consumerAgentPage(a)
		return s.html(at, "consumeragent", "consumer", "What the consumer loses of "+a.Name, p, err)
	case at == "health/":
		p, err := s.healthPage("")
		return s.html(at, "health", "health", "Health", p, err)
	}
	a := s.Records.Agents.Agent(parts[0])
	switch {
	case a == nil:
	case len(parts) == 1:
		return s.html(at, "agent", "agents", a.Name, s.agentPage(a, 0), nil)
	case len(parts) == 2:
		var n int
		if _, err := fmt.Sscanf(parts[1], "older-%d", &n); err != nil || n < 1 || olderPath(a.ID, n) != at {
			return nil, missing
		}
		p := s.agentPage(a, n)
		if p == nil {
			return nil, missing
		}
		return s.html(at, "agent", "agents", a.Name+", older versions", p, nil)
	case len(parts) == 3:
		p, err := s.versionPage(a, parts[1], contract.Platform(parts[2]), contract.ProfileProduction)
		return s.html(at, "version", "agents", a.Name+" "+parts[1], p, err)
	case len(parts) == 4 && parts[3] != contract.ProfileProduction:
		p, err := s.versionPage(a, parts[1], contract.Platform(parts[2]), parts[3])
		return s.html(at, "version", "agents", a.Name+" "+parts[1]+", "+parts[3], p, err)
	}
	return nil, missing
}

func (s *Site) html(at, name, nav, title string, page any, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	b, err := s.render(at, name, nav, title, page)
	return &File{Type: TypeHTML, Body: b}, err
}

// Overview returns the first page with the agents that fit a query.
func (s *Site) Overview(query string) (*File, error) {
	return s.html("", "overview", "agents", "Agents", s.overview(query), nil)
}

// NotFound returns the page for an address that has none; at is the address,
// "" for one that is not known.
func (s *Site) NotFound(at string) (*File, error) {
	if at == "" {
		at = "404.html"
	}
	return s.html(at, "notfound", "", "Nothing is here", "No page has this address. The registry may name the version, the platform or the shape in another way.", nil)
}

func assetType(at string) string {
	switch at[strings.LastIndexByte(at, '.')+1:] {
	case "css":
		return "text/css; charset=utf-8"
	case "js":
		return "text/javascript; charset=utf-8"
	}
	return TypeSVG
}

// Paths returns every address that a set of files has: all but those that a
// reader asks for with words of his own.
func (s *Site) Paths() []string {
	out := []string{"", "404.html", "api/", "consumer/", "health/"}
	files, _ := assets()
	for p := range files {
		out = append(out, p)
	}
	diffs := map[string]bool{}
	captured, others := s.withRecords()
	for _, a := range slices.Concat(captured, others) {
		out = append(out, a.ID+"/", "badge/"+a.ID+".svg", "api/v1/"+a.ID+".json", "api/v1/errors/"+a.ID+".json", "api/v1/health/"+a.ID+".json", "api/v1/claims/"+a.ID+".json")
		if len(s.histories[a.ID]) > 0 {
			out = append(out, "consumer/"+a.ID+"/")
		}
		for _, f := range s.gather(a) {
			g := s.grid(a, &f)
			for n := 1; n < len(g.stretches()); n++ {
				out = append(out, olderPath(a.ID, n))
			}
			for _, c := range g.Columns {
				out = append(out, c.Href)
				_, profiles := s.proofs(a, c.Version, f.platform, "")
				for _, p := range profiles {
					if p != contract.ProfileProduction {
						out = append(out, c.Href+p+"/")
					}
				}
			}
			for _, c := range s.changes(&g) {
				for _, p := range c.Probes {
					diffs[p.Diff] = true
				}
			}
		}
	}
	for id := range s.shapes {
		out = append(out, "shapes/"+id+"/", "api/v1/shapes/"+id+".json")
	}
	for p := range diffs {
		out = append(out, p)
	}
	out = append(out, "api/v1/agents.json", "api/v1/openapi.json")
	slices.Sort(out)
	return slices.Compact(out)
}
