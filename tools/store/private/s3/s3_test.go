package s3

import (
	"crypto/rand"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private/privatetest"
)

// server plays the storage service: the few requests that a bucket makes,
// signed.
type server struct {
	key, secret string
	mu          sync.Mutex
	objects     map[string][]byte
	page        int      // how many names a listing holds; 0: all
	seen        []string // methods and paths of every request
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	if !s.signed(r) {
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/vault/")
	if !ok {
		refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	content, found := s.objects[name]
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2":
		s.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"))
	case r.Method == http.MethodPut:
		b, err := io.ReadAll(r.Body)
		if err != nil || int64(len(b)) != r.ContentLength {
			refuse(w, http.StatusBadRequest, "IncompleteBody")
			return
		}
		s.objects[name] = b
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(content)
		}
	}
}

// signed reports whether the request is signed, with the key of the service.
func (s *server) signed(r *http.Request) bool {
	date, auth := r.Header.Get("X-Amz-Date"), r.Header.Get("Authorization")
	return len(date) > 8 && strings.Contains(auth, "Credential="+s.key+"/"+date[:8]+"/eu/s3/") && strings.Contains(auth, "Signature=")
}

// list answers with one page of names behind after, and with the last of them as
// where to go on.
func (s *server) list(w http.ResponseWriter, prefix, after string) {
	type object struct {
		Key          string
		Size         int
		LastModified string
	}
	out := struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []object

		NextContinuationToken string `xml:",omitempty"`
	}{}
	for k, v := range s.objects {
		if strings.HasPrefix(k, prefix) && k > after {
			out.Contents = append(out.Contents, object{k, len(v), "2026-01-01T00:00:00.000Z"})
		}
	}
	slices.SortFunc(out.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	if s.page > 0 && len(out.Contents) > s.page {
		out.Contents = out.Contents[:s.page]
		out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.page-1].Key
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}{Code: code})
}

func start(t *testing.T) (*server, Config) {
	t.Helper()
	s := &server{key: rand.Text(), secret: rand.Text(), objects: map[string][]byte{}}
	h := httptest.NewTLSServer(s)
	t.Cleanup(h.Close)
	return s, Config{
		Endpoint: strings.TrimPrefix(h.URL, "https://"), Region: "eu", Bucket: "vault", Prefix: "raw/",
		AccessKey: s.key, SecretKey: s.secret, Transport: h.Client().Transport,
	}
}

func TestBucket(t *testing.T) {
	privatetest.Run(t, func(t *testing.T) private.Bucket { return open(t, 0) })
}

// A service that lists two names at a time, as others do a thousand.
func TestBucketOfSmallPages(t *testing.T) {
	privatetest.Run(t, func(t *testing.T) private.Bucket { return open(t, 2) })
}

func open(t *testing.T, page int) private.Bucket {
	t.Helper()
	s, c := start(t)
	s.page = page
	s.objects["other/x"] = []byte("not ours")
	b, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name := range s.objects {
			if !strings.HasPrefix(name, "raw/") && name != "other/x" {
				t.Errorf("%s lies outside the prefix", name)
			}
		}
	})
	return b
}

// A service that refuses is an error that says so, and holds no key.
func TestRefusedRequests(t *testing.T) {
	s, c := start(t)
	c.AccessKey = "other"
	b, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	_, errGet := b.Get(t.Context(), "a")
	_, errList := b.List(t.Context(), "")
	for _, err := range []error{errGet, errList, b.Put(t.Context(), "a", strings.NewReader("x"), 1), b.Delete(t.Context(), "a")} {
		if err == nil || strings.Contains(err.Error(), c.SecretKey) || !strings.Contains(err.Error(), "vault") {
			t.Errorf("got %v", err)
		}
	}
	if len(s.objects) > 0 {
		t.Error("a refused write was kept")
	}
}

func TestParse(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
	getenv := func(k string) string { return env[k] }
	c, err := Parse("s3://storage.example:9000/vault/raw/x/?region=eu", getenv)
	if want := (Config{Endpoint: "storage.example:9000", Region: "eu", Bucket: "vault", Prefix: "raw/x/", AccessKey: "k", SecretKey: "s"}); err != nil || c != want {
		t.Errorf("got %+v, %v", c, err)
	}
	password := rand.Text()
	for _, bad := range []string{"s3://", "s3:///vault", "s3://host", "s3://host/", "s3://host/b", "s3://host/-vault", "https://host/vault", "s3://k:" + password + "@host/vault", "vault", "s3://host/v\x7f" + password} {
		if c, err := Parse(bad, getenv); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%q: %+v, %v", bad, c, err)
		}
	}
	env = nil
	if _, err := Parse("s3://host/vault", getenv); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without keys: %v", err)
	}
}
