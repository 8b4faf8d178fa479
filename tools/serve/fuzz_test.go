//go:build unix

package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzRequest sends any address with any headers: the answer has a status that
// is documented, keeps its guards, and never holds a file that is no record.
func FuzzRequest(f *testing.F) {
	for _, target := range []string{
		"/", "/codex/", "/codex/0.144.0/linux-x64/", "/api/v1/records/registry/agents.json", "/api/v1/records/..%2f..%2fetc/passwd", "/diff/e0922060c379..0bc57ed11177/",
		"/api/v1/classify?agent=codex&version=0.144.0&shape=none", "/api/v1/observations?limit=1&after=x", "/api/agents/gemini/cli-compatibility?probe=1", "/shapes/%00/", "/codex/older-1/", "/badge/codex.svg?x",
	} {
		f.Add(target, "127.0.0.1:7411", "", "gzip")
		f.Add(target, "evil.example", "https://evil.example", `"*"`)
	}
	w := newWorld(f)
	known := []int{200, 304, 308, 400, 403, 404, 414, 421, 502} // the last where there is no program to probe with
	f.Fuzz(func(t *testing.T, target, host, origin, other string) {
		if _, err := url.ParseRequestURI(target); err != nil || !strings.HasPrefix(target, "/") {
			return // package http refuses it
		}
		rec := w.get(target, func(r *http.Request) {
			r.Host = host
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
			r.Header.Set("Accept-Encoding", other)
			r.Header.Set("If-None-Match", other)
		})
		if !slices.Contains(known, rec.Code) {
			t.Errorf("status %d", rec.Code)
		}
		if rec.Header().Get("X-Content-Type-Options") != "nosniff" || strings.Contains(rec.Body.String(), "root:x:0:0") {
			t.Error("the answer lacks its guards, or holds what is no record")
		}
	})
}
