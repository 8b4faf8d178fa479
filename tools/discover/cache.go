package discover

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// cached is a transport that asks again only for what has changed: an answer
// with an ETag or a date is kept and sent back with "304 Not Modified", which
// costs nothing of GitHub's limit. A host whose limit is used up is not asked
// until its limit is new, also by later runs.
type cached struct {
	base http.RoundTripper
	dir  string // "" keeps nothing
	now  func() time.Time
}

// maxKept bounds the answers that are kept; 50 releases of a repository with
// many assets have some 5 MB.
const maxKept = 32 << 20

// entry is an answer on disk.
type entry struct {
	URL          string `json:"url"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	ContentType  string `json:"content_type,omitempty"`
	Body         []byte `json:"body"`
}

// RoundTrip implements http.RoundTripper.
func (c *cached) RoundTrip(req *http.Request) (*http.Response, error) {
	if until := c.blocked(req.URL.Host); !until.IsZero() {
		return nil, &limitError{until}
	}
	old := c.load(req)
	if old != nil {
		req = req.Clone(req.Context())
		if old.ETag != "" {
			req.Header.Set("If-None-Match", old.ETag)
		}
		if old.LastModified != "" {
			req.Header.Set("If-Modified-Since", old.LastModified)
		}
	}
	res, err := c.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if until := c.limit(res); !until.IsZero() {
		c.block(req.URL.Host, until)
	}
	switch {
	case res.StatusCode == http.StatusNotModified && old != nil:
		noteUse(req.Context(), c.file(answerKey(req)))
		_ = res.Body.Close()
		res.StatusCode, res.Status = http.StatusOK, "200 OK"
		res.Header.Set("Content-Type", old.ContentType)
		res.ContentLength, res.Body = int64(len(old.Body)), io.NopCloser(bytes.NewReader(old.Body))
	case res.StatusCode == http.StatusOK && (res.Header.Get("ETag") != "" || res.Header.Get("Last-Modified") != ""):
		noteUse(req.Context(), c.file(answerKey(req)))
		return c.keep(req, res)
	}
	return res, nil
}

// uses are the kept answers that a source made use of.
type uses struct {
	mu    sync.Mutex
	files []string
}

type usesKey struct{}

func withUses(ctx context.Context) (context.Context, *uses) {
	u := &uses{}
	return context.WithValue(ctx, usesKey{}, u), u
}

func noteUse(ctx context.Context, file string) {
	if u, ok := ctx.Value(usesKey{}).(*uses); ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.files = append(u.files, file)
	}
}

// forget removes answers that turned out to be no use: half of one, or the page
// of a portal, that would come back with each "304 Not Modified".
func (u *uses) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.files {
		_ = os.Remove(f) // an answer that stays is asked for again with the same result
	}
}

// limit returns when a service that has had enough takes requests again.
func (c *cached) limit(res *http.Response) time.Time {
	if res.StatusCode != http.StatusForbidden && res.StatusCode != http.StatusTooManyRequests {
		return time.Time{}
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s >= 0 {
		return c.now().Add(time.Duration(s) * time.Second)
	}
	if at, err := http.ParseTime(res.Header.Get("Retry-After")); err == nil {
		return at
	}
	if s, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && res.Header.Get("X-RateLimit-Remaining") == "0" {
		return time.Unix(s, 0)
	}
	return time.Time{}
}

// maxBlock bounds how long a service can keep us from asking.
const maxBlock = 24 * time.Hour

func (c *cached) blocked(host string) time.Time {
	if c.dir == "" {
		return time.Time{}
	}
	b, err := os.ReadFile(c.file("limit " + host))
	if err != nil {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, string(b))
	if err != nil || !until.After(c.now()) || until.Sub(c.now()) > maxBlock {
		return time.Time{}
	}
	return until
}

func (c *cached) block(host string, until time.Time) {
	c.write("limit "+host, []byte(until.UTC().Format(time.RFC3339)))
}

func (c *cached) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16]))
}

// write keeps something. A cache that cannot be written is no reason to fail.
func (c *cached) write(key string, b []byte) {
	if c.dir == "" || os.MkdirAll(c.dir, 0o755) != nil {
		return
	}
	_ = store.WriteAtomic(c.file(key), b, 0o644)
}

func answerKey(req *http.Request) string {
	return req.Method + " " + req.URL.String() + " " + req.Header.Get("Accept")
}

// load returns the kept answer to a request, nil without one that can be used.
func (c *cached) load(req *http.Request) *entry {
	if c.dir == "" {
		return nil
	}
	f, err := os.Open(c.file(answerKey(req)))
	if err != nil {
		return nil
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil
	}
	e := &entry{}
	// The reader's checksum is at its end: an answer cut short is no answer.
	b, err := io.ReadAll(io.LimitReader(z, 2*maxKept))
	if err != nil || json.Unmarshal(b, e) != nil || e.URL != req.URL.String() {
		return nil
	}
	return e
}

// keep stores an answer while it is handed on.
func (c *cached) keep(req *http.Request, res *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxKept+1))
	if err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	if len(body) > maxKept {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), res.Body), res.Body}
		return res, nil
	}
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	e := entry{req.URL.String(), res.Header.Get("ETag"), res.Header.Get("Last-Modified"), res.Header.Get("Content-Type"), body}
	if b, err := json.Marshal(e); err == nil {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(b)
		if z.Close() == nil {
			c.write(answerKey(req), packed.Bytes())
		}
	}
	return res, nil
}
