package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// policy lets pages load what this server has and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler returns what answers requests.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer answer(r.Context())()
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler { //nolint:errorlint // the value that package http documents
					panic(v)
				}
				// The value may quote foreign bytes: name its type only.
				s.fault(fmt.Errorf("internal fault (%T) at %q", v, r.URL.Path))
				s.refuse(w, r, &problem{Status: http.StatusInternalServerError, Text: "internal fault"})
			}
		}()
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if err := s.check(r); err != nil {
			s.refuse(w, r, err)
			return
		}
		out, err := s.route(w, r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		out.send(w, r)
	})
}

// check refuses requests that nobody with good intent makes.
func (s *Server) check(r *http.Request) error {
	switch {
	case !s.named(r.Host):
		return &problem{Status: http.StatusMisdirectedRequest, Text: "this server does not answer to that name", Hint: "call it by the address that it printed, or start it with --allow-host NAME"}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return &problem{Status: http.StatusMethodNotAllowed, Text: "only GET and HEAD are answered: nothing here changes state", headers: map[string]string{"Allow": "GET, HEAD"}}
	case len(r.URL.RawQuery) > MaxQuery:
		return &problem{Status: http.StatusRequestURITooLong, Text: fmt.Sprintf("the query is longer than %d bytes", MaxQuery)}
	case len(r.URL.Path) > MaxQuery:
		return &problem{Status: http.StatusRequestURITooLong, Text: "the address is too long"}
	case foreign(r):
		return &problem{Status: http.StatusForbidden, Text: "asked from a page of another site"}
	case r.ContentLength != 0:
		return badRequest("a request here has no body", "")
	case crooked(r):
		return badRequest("the address has empty, escaped or backward parts", "")
	}
	return nil
}

// named reports whether a Host header is a name of this server's. Another name
// that leads here would let any page of that name read the answers.
func (s *Server) named(host string) bool {
	return loopbackName(host) || slices.ContainsFunc(s.config.Hosts, func(h string) bool { return strings.EqualFold(h, bareHost(host)) })
}

// bareHost is a Host header without its port.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func loopbackName(host string) bool {
	name := bareHost(host)
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// foreign reports whether a page of another site asks. A person who follows a
// link from there is welcome.
func foreign(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" && !strings.EqualFold(o, "http://"+r.Host) && !strings.EqualFold(o, "https://"+r.Host) {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" || private(r.URL.Path)
}

// private reports whether an address answers about this machine, and not about
// the registry alone.
func private(at string) bool {
	return strings.HasPrefix(at, "/api/agents/") || strings.HasPrefix(at, "/machine/") || strings.HasPrefix(at, "/review/") || at == "/api/v1/review"
}

// local reports whether a request comes from this machine, by a name of it. A
// proxy in front of the server has another name.
func local(r *http.Request) bool {
	ip := net.ParseIP(bareHost(r.RemoteAddr))
	return loopbackName(r.Host) && ip != nil && ip.IsLoopback()
}

// crooked reports whether an address is spelled in a way that no link of ours
// has: such spellings are attempts to get past a check.
func crooked(r *http.Request) bool {
	p := r.URL.Path
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	raw := strings.ToLower(r.URL.EscapedPath())
	return p != clean || !strings.HasPrefix(p, "/") || strings.Contains(raw, "%2f") || strings.ContainsAny(p, "\\\x00") || !fs.ValidPath(strings.Trim(p, "/")) && p != "/"
}

// refuse tells a client why it gets nothing: programs as JSON, people as a page.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	var missing *site.NotFoundError
	switch {
	case errors.As(err, &p):
	case errors.As(err, &missing):
		p = &problem{Status: http.StatusNotFound, Text: missing.What}
	case r.Context().Err() != nil:
		return // nobody listens any more
	default:
		s.fault(fmt.Errorf("answering %q: %w", r.URL.Path, err))
		p = &problem{Status: http.StatusInternalServerError, Text: "internal fault"}
	}
	out, err := ok(p)
	if p.Status == http.StatusNotFound && !strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/badge/") {
		var page *site.File
		if page, err = s.current().site.NotFound(strings.TrimPrefix(r.URL.Path, "/")); err == nil {
			out = &reply{File: *page}
		}
	}
	if err != nil {
		s.fault(err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	out.status, out.headers = p.Status, p.headers
	out.send(w, r)
}
