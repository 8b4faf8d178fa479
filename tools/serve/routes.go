package serve

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// answers has what is neither a file of the site nor below a folder of its own.
var answers = map[string]func(*Server, *http.Request, *snapshot) (*reply, error){
	"":                    (*Server).overview,
	"api/v1/classify":     (*Server).classify,
	"api/v1/diff":         (*Server).diff,
	"api/v1/health":       (*Server).health,
	"api/v1/observations": (*Server).observations,
	"api/v1/review":       (*Server).review,
	"machine/":            (*Server).machine,
	"review/":             (*Server).reviewPage,
}

// route finds what answers a request.
func (s *Server) route(w http.ResponseWriter, r *http.Request) (*reply, error) {
	snap := s.current()
	at := strings.TrimPrefix(r.URL.Path, "/")
	if private(r.URL.Path) && !local(r) {
		return nil, &problem{Status: http.StatusForbidden, Text: "answers about this machine are for this machine alone"}
	}
	if rest, found := strings.CutPrefix(at, "api/agents/"); found {
		return s.compatibility(w, r, snap, rest)
	}
	if place, found := strings.CutPrefix(at, "api/v1/records/"); found {
		return s.record(snap, place)
	}
	if do := answers[at]; do != nil {
		return do(s, r, snap)
	}
	if _, err := params(r); err != nil {
		return nil, err
	}
	if at != "" && answers[at+"/"] != nil {
		return withSlash(at), nil
	}
	return s.file(snap, at)
}

// withSlash leads to a page whose address lacks the last slash.
func withSlash(at string) *reply {
	return &reply{status: http.StatusPermanentRedirect, File: site.File{Type: site.TypeHTML}, headers: map[string]string{"Location": "/" + at + "/"}}
}

// file returns a page or document that depends on the registry alone.
func (s *Server) file(snap *snapshot, at string) (*reply, error) {
	if out := snap.cache.get(at); out != nil {
		return out, nil
	}
	f, err := snap.site.Get(at)
	if err != nil {
		if last := at[strings.LastIndexByte(at, '/')+1:]; last != "" {
			if _, ok := snap.site.Get(at + "/"); ok == nil {
				return withSlash(at), nil
			}
		}
		return nil, err
	}
	out := (&reply{status: http.StatusOK, File: *f}).finish()
	if strings.HasPrefix(at, "badge/") {
		out.headers = map[string]string{"Cross-Origin-Resource-Policy": "cross-origin"} // READMEs show badges
	}
	snap.cache.put(at, out)
	return out, nil
}

// params returns the query's parameters. One that the route does not know, or
// that is there twice, is a mistake that silence would hide.
func params(r *http.Request, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("the query is malformed", "")
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			hint := "this address takes no parameters"
			if len(known) > 0 {
				hint = "it takes " + strings.Join(known, ", ")
			}
			return nil, badRequest(fmt.Sprintf("unknown parameter %q", clip(name)), hint)
		case len(values[name]) > 1:
			return nil, badRequest(fmt.Sprintf("parameter %q is given %d times", name, len(values[name])), "")
		}
		out[name] = values[name][0]
	}
	return out, nil
}

// clip keeps a foreign word from filling an answer.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

func (s *Server) overview(r *http.Request, snap *snapshot) (*reply, error) {
	p, err := params(r, "q")
	if err != nil || p["q"] == "" {
		if err != nil {
			return nil, err
		}
		return s.file(snap, "")
	}
	f, err := snap.site.Overview(p["q"])
	if err != nil {
		return nil, err
	}
	return (&reply{status: http.StatusOK, File: *f}).finish(), nil
}

// recordFolders are those that a registry's records lie in.
var recordFolders = []string{"errors", "evidence", "fixtures", "goldens", "observations", "probes", "registry", "reports", "schemas", "shapes"}

// record returns a file of the registry as it lies there.
func (s *Server) record(snap *snapshot, place string) (*reply, error) {
	missing := &problem{Status: http.StatusNotFound, Text: "this registry has no such record"}
	folder, _, _ := strings.Cut(place, "/")
	if !fs.ValidPath(place) || !slices.Contains(recordFolders, folder) || strings.Contains(place, "/.") {
		return nil, missing
	}
	info, err := fs.Stat(s.config.Registry.FS(), place)
	if err != nil || !info.Mode().IsRegular() {
		return nil, missing
	}
	b, err := s.config.Registry.ReadFile(place)
	if err != nil {
		return nil, missing
	}
	f := site.File{Type: site.TypeJSON, Body: b}
	switch {
	case strings.HasSuffix(place, ".jsonl"):
		f.Type = "application/jsonl"
	case !strings.HasSuffix(place, ".json"):
		f.Type = "text/plain; charset=utf-8"
	}
	return (&reply{status: http.StatusOK, File: f}).finish(), nil
}

// observationPage is a part of the list of observations.
type observationPage struct {
	SchemaVersion int                 `json:"schema_version"`
	Observations  []placedObservation `json:"observations"`
	Next          *string             `json:"next"`
}

type placedObservation struct {
	Place       string               `json:"place"`
	Observation contract.Observation `json:"observation"`
}

func (s *Server) observations(r *http.Request, snap *snapshot) (*reply, error) {
	p, err := params(r, "agent", "version", "probe", "shape", "platform", "limit", "after")
	if err != nil {
		return nil, err
	}
	if p["agent"] != "" {
		if _, err := snap.site.Index.Agent(p["agent"]); err != nil {
			return nil, unknownAgent(err)
		}
	}
	limit := 50
	if p["limit"] != "" {
		if limit, err = strconv.Atoi(p["limit"]); err != nil || limit < 1 || limit > 200 {
			return nil, badRequest("limit is not a number from 1 to 200", "")
		}
	}
	if v := p["platform"]; v != "" && !contract.Platform(v).Valid() {
		return nil, badRequest(fmt.Sprintf("there is no platform %q", clip(v)), "")
	}
	out := observationPage{SchemaVersion: contract.SchemaVersion, Observations: []placedObservation{}}
	list := snap.newest()
	if p["after"] != "" {
		i := slices.IndexFunc(list, func(o placedObservation) bool { return o.Place == p["after"] })
		if i < 0 {
			return nil, badRequest("after names no observation", "use the next of the last page")
		}
		list = list[i+1:]
	}
	fits := func(want, have string) bool { return want == "" || want == have }
	for i := range list {
		o := &list[i]
		x := &o.Observation
		if !fits(p["agent"], x.Agent) || !fits(p["version"], x.CLIVersion) || !fits(p["probe"], x.Probe) || !fits(p["platform"], string(x.Platform)) ||
			p["shape"] != "" && !strings.HasPrefix(x.Shape.Signature.Hex(), strings.TrimPrefix(p["shape"], "sha256:")) {
			continue
		}
		if len(out.Observations) == limit {
			out.Next = &out.Observations[limit-1].Place
			break
		}
		out.Observations = append(out.Observations, *o)
	}
	rep, err := ok(out)
	if err != nil {
		return nil, err
	}
	return rep.finish(), nil
}

// newest returns the observations, newest first.
func (snap *snapshot) newest() []placedObservation {
	snap.sorted.Do(func() {
		for i := range snap.site.Records.Observations {
			o := &snap.site.Records.Observations[i]
			snap.observations = append(snap.observations, placedObservation{o.Path, o.Observation})
		}
		slices.SortFunc(snap.observations, func(a, b placedObservation) int {
			return cmp.Or(cmp.Compare(b.Observation.Capture.CapturedAt, a.Observation.Capture.CapturedAt), cmp.Compare(a.Place, b.Place))
		})
	})
	return snap.observations
}

func (s *Server) diff(r *http.Request, snap *snapshot) (*reply, error) {
	p, err := params(r, "from", "to")
	if err != nil {
		return nil, err
	}
	if p["from"] == "" || p["to"] == "" {
		return nil, badRequest("from and to are needed", "each is a shape's signature, or twelve digits of it")
	}
	a, b, result, err := snap.site.Compare(p["from"], p["to"])
	if err != nil {
		return nil, err
	}
	rep, err := ok(struct {
		SchemaVersion int              `json:"schema_version"`
		From          contract.Digest  `json:"from"`
		To            contract.Digest  `json:"to"`
		Verdict       contract.Verdict `json:"verdict"`
		Signals       []compare.Signal `json:"signals"`
	}{contract.SchemaVersion, a.Signature, b.Signature, result.Verdict, result.Signals})
	if err != nil {
		return nil, err
	}
	return rep.finish(), nil
}

func (s *Server) health(r *http.Request, snap *snapshot) (*reply, error) {
	p, err := params(r, "agent", "probe")
	if err != nil {
		return nil, err
	}
	if p["agent"] != "" {
		if _, err := snap.site.Index.Agent(p["agent"]); err != nil {
			return nil, unknownAgent(err)
		}
	}
	report, err := snap.site.Health(p["agent"], p["probe"], s.config.Now())
	if err != nil {
		return nil, err
	}
	rep, err := ok(report)
	if err != nil {
		return nil, err
	}
	return rep.finish(), nil
}

// queue returns the review queue without texts that were not redacted.
func (s *Server) queue() ([]requests.Entry, error) {
	list, err := s.config.Requests.List()
	if err != nil {
		return nil, err
	}
	out := []requests.Entry{}
	for _, e := range list {
		e.Request.Extensions = nil // may hold words in question
		if e.Request.Raw {
			e.Request.Prompt = ""
		}
		if e.State == requests.StatePending {
			out = append(out, e)
		}
	}
	return out, nil
}

func (s *Server) review(r *http.Request, _ *snapshot) (*reply, error) {
	if _, err := params(r); err != nil {
		return nil, err
	}
	list, err := s.queue()
	if err != nil {
		return nil, err
	}
	rep, err := ok(map[string]any{"schema_version": contract.SchemaVersion, "requests": list})
	if err != nil {
		return nil, err
	}
	return rep.finish(), nil
}

func (s *Server) reviewPage(r *http.Request, snap *snapshot) (*reply, error) {
	if _, err := params(r); err != nil {
		return nil, err
	}
	list, err := s.queue()
	if err != nil {
		return nil, err
	}
	f, err := snap.site.Review(list)
	if err != nil {
		return nil, err
	}
	return (&reply{status: http.StatusOK, File: *f}).finish(), nil
}
