package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// reply is what a request gets.
type reply struct {
	status int
	site.File
	// tag identifies the content; "" computes it from the body.
	tag     string
	zipped  []byte // the body again, nil where that is no gain
	headers map[string]string
}

// problem is an error with the status that tells it.
type problem struct {
	Status  int               `json:"-"`
	Text    string            `json:"error"`
	Hint    string            `json:"hint,omitempty"`
	headers map[string]string `json:"-"`
}

// Error implements error.
func (p *problem) Error() string { return p.Text }

func badRequest(text, hint string) error {
	return &problem{Status: http.StatusBadRequest, Text: text, Hint: hint}
}

// zipFrom is the size from which a body is sent compressed.
const zipFrom = 1000

// finish computes what goes with a body.
func (r *reply) finish() *reply {
	if r.tag == "" {
		r.tag = tagOf(r.Body)
	}
	if len(r.Body) < zipFrom {
		return r
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(r.Body) // a buffer takes everything
	_ = z.Close()
	if b.Len() < len(r.Body) {
		r.zipped = b.Bytes()
	}
	return r
}

func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// send writes a reply as the client wants it.
func (r *reply) send(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	for k, v := range r.headers {
		h.Set(k, v)
	}
	body, tag := r.Body, `"`+r.tag+`"`
	if r.zipped != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(req.Header.Get("Accept-Encoding")) {
			body, tag = r.zipped, `"`+r.tag+`-gz"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Type", r.Type)
	if r.status == http.StatusOK {
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		if r.Fixed {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if unchanged(req.Header.Values("If-None-Match"), r.tag) {
			h.Del("Content-Type")
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(r.status)
	if req.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that went away wants none
	}
}

// unchanged reports whether the client has the content already, compressed or
// not.
func unchanged(headers []string, tag string) bool {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			part = strings.Trim(strings.TrimPrefix(strings.TrimSpace(part), "W/"), `"`)
			if part == "*" || strings.TrimSuffix(part, "-gz") == tag {
				return true
			}
		}
	}
	return false
}

func takesGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" || strings.TrimSpace(name) == "*" {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && !strings.HasPrefix(q, "q=0.0")
		}
	}
	return false
}

// ok is the reply with a value as JSON.
func ok(v any) (*reply, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &reply{status: http.StatusOK, File: site.File{Type: site.TypeJSON, Body: append(b, '\n')}}, nil
}

// cache keeps finished replies, up to a size; then it begins anew.
type cache struct {
	mu    sync.RWMutex
	known map[string]*reply
	size  int
}

const cacheSize = 64 << 20

func (c *cache) get(at string) *reply {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[at]
}

func (c *cache) put(at string, r *reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(r.Body) + len(r.zipped) + len(at)
	if c.known == nil || c.size+n > cacheSize {
		c.known, c.size = map[string]*reply{}, 0
	}
	if c.known[at] == nil {
		c.known[at] = r
		c.size += n
	}
}
