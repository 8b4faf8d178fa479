//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// flaky is a package registry on loopback with releases of one package, whose
// network goes away when one more release is asked for than it may serve.
type flaky struct {
	t        *testing.T
	url      string
	mu       sync.Mutex
	served   map[string]int // tarballs by version
	limit    int            // so many releases are served
	gone     bool
	releases map[string][]byte
}

const flakyPackage = "@qwen-code/qwen-code"

// flakyProgram is a release whose answers are plain text.
const flakyProgram = `#!/usr/bin/env node
if (process.argv.includes("--version")) console.log("VERSION");
else process.stdin.resume().on("end", () => console.log("I am ready to work. Tell me what to do first."));
`

func newFlaky(t *testing.T, limit int, versions ...string) *flaky {
	f := &flaky{t: t, served: map[string]int{}, limit: limit, releases: map[string][]byte{}}
	for _, v := range versions {
		f.releases[v] = pack(t, map[string]string{
			"package/package.json": `{"name":"` + flakyPackage + `","version":"` + v + `","bin":{"qwen":"cli.js"}}`,
			"package/cli.js":       strings.ReplaceAll(flakyProgram, "VERSION", v),
		})
	}
	server := httptest.NewUnstartedServer(f)
	f.url = "http://" + server.Listener.Addr().String()
	server.Start()
	t.Cleanup(server.Close)
	return f
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for name, text := range files {
		must(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	return out.Bytes()
}

// ServeHTTP implements http.Handler. Without a network a connection breaks.
func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, file, isTarball := strings.Cut(r.URL.Path, "/-/")
	version := strings.TrimSuffix(strings.TrimPrefix(file, "qwen-code-"), ".tgz")
	f.gone = f.gone || isTarball && f.served[version] == 0 && len(f.served) == f.limit
	if f.gone {
		panic(http.ErrAbortHandler) // which closes the connection
	}
	if isTarball {
		f.served[version]++
		_, _ = w.Write(f.releases[version])
		return
	}
	versions := map[string]any{}
	latest := ""
	for v, b := range f.releases {
		sum := sha512.Sum512(b)
		versions[v] = map[string]any{"name": flakyPackage, "version": v, "bin": map[string]string{"qwen": "cli.js"}, "dist": map[string]string{
			"tarball": f.url + "/" + flakyPackage + "/-/qwen-code-" + v + ".tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}}
		latest = max(latest, v)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": flakyPackage, "versions": versions, "dist-tags": map[string]string{"latest": latest}})
}

func (f *flaky) bisect(w *world, args ...string) *command {
	c := w.command(append([]string{"bisect", "qwen", "--probe", crashProbes, "--profile", "production", "--every", "1", "--jobs", "1"}, args...)...)
	c.Env = append(c.Env, "NPM_CONFIG_REGISTRY="+f.url)
	return c
}

// A campaign whose network goes away says so, leaves whole records only, and goes
// on with the same command without capturing a release twice.
func TestNetworkGoesAway(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"npm", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("a campaign installs releases: %v", err)
		}
	}
	w := newWorld(t, fakeTurn)
	f := newFlaky(t, 1, "0.1.0", "0.2.0", "0.3.0")
	_, stderr := f.bisect(w).run(3)
	if !strings.Contains(stderr, "run the same command again when the network is back") {
		t.Errorf("it does not say how to go on:\n%s", stderr)
	}
	w.validates()
	w.leavesNobody()
	had := w.observations()
	if n := had["chat-text-success"]; n == 0 || n == len(f.releases) {
		t.Fatalf("%v: the network went away before or after the campaign, not in it:\n%s", had, stderr)
	}

	_, stderr = f.bisect(w).run(3) // still gone: nothing is lost, nothing is marked as impossible
	w.validates()
	if now := w.observations(); now["chat-text-success"] != had["chat-text-success"] {
		t.Errorf("without a network %v became %v:\n%s", had, now, stderr)
	}

	f.mu.Lock()
	f.limit, f.gone = len(f.releases), false
	f.mu.Unlock()
	stdout, _ := f.bisect(w).run(0)
	w.complete(len(f.releases))
	w.leavesNobody()
	if strings.Contains(stdout, "cannot be captured") {
		t.Errorf("a release that the network kept is called impossible:\n%s", stdout)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for v, n := range f.served {
		if n != 1 {
			t.Errorf("%s was installed %d times", v, n)
		}
	}
}
