package site

import (
	"encoding/json"
	"maps"
	"slices"
)

// apiPage lists the routes of the OpenAPI description.
type apiPage struct {
	Routes []route
	Badges []string
}

type route struct{ Path, Summary string }

func (s *Site) apiPage() *apiPage {
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Summary    string `json:"summary"`
				ServedOnly bool   `json:"x-served-only"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(OpenAPI, &doc); err != nil {
		panic("site: the OpenAPI description is embedded: " + err.Error())
	}
	p := &apiPage{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if get := doc.Paths[path].Get; s.live || !get.ServedOnly {
			p.Routes = append(p.Routes, route{path, get.Summary})
		}
	}
	captured, _ := s.withRecords()
	for _, a := range captured {
		p.Badges = append(p.Badges, a.ID)
	}
	return p
}
