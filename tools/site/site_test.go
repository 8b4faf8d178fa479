package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

const recordsAt = "https://records.example/"

var repositorySite = sync.OnceValues(func() (*Site, error) {
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	return Load(reg, Options{RecordURL: recordsAt})
})

func repository(t *testing.T) *Site {
	t.Helper()
	s, err := repositorySite()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// attributes are the values of an HTML document's attributes of these names. The
// registry's pages have some hundred megabytes: regular expressions take long.
func attributes(page []byte, names ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range names {
			name += `="`
			for rest := page; ; {
				at := bytes.Index(rest, []byte(name))
				if at < 0 {
					break
				}
				value := rest[at+len(name):]
				end := bytes.IndexByte(value, '"')
				if at > 0 && (rest[at-1] == ' ' || rest[at-1] == '\n') && end >= 0 && !yield(string(value[:end])) {
					return
				}
				rest = value
			}
		}
	}
}

// Written files are complete: each is there, below the limit, and no link or
// anchor leads nowhere.
func TestWriteTheRepository(t *testing.T) {
	if raced {
		t.Skip("some hundred megabytes of pages: .ci/run writes them without the race detector, TestPagesAtOnce a part with it")
	}
	s := repository(t)
	dir := filepath.Join(t.TempDir(), "out")
	n, err := s.Write(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == marker {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		files[strings.TrimSuffix(filepath.ToSlash(rel), "index.html")], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != n || n < 500 {
		t.Fatalf("%d files, Write says %d", len(files), n)
	}
	ids := map[string][]string{}
	for at, b := range files {
		if len(b) > MaxFile {
			t.Errorf("/%s has %d bytes", at, len(b))
		}
		for id := range attributes(b, "id") {
			if slices.Contains(ids[at], id) {
				t.Errorf("/%s has the id %q twice", at, id)
			}
			ids[at] = append(ids[at], id)
		}
		if strings.HasSuffix(at, ".json") && !json.Valid(b) {
			t.Errorf("/%s is no JSON", at)
		}
	}
	checkLinks(t, files, ids)
	for _, at := range []string{"", "codex/", "codex/0.144.0/linux-x64/", "api/v1/codex.json", "api/v1/agents.json", "badge/codex.svg", "consumer/", "consumer/claude/"} {
		if files[at] == nil {
			t.Errorf("/%s is not there", at)
		}
	}
}

func checkLinks(t *testing.T, files map[string][]byte, ids map[string][]string) {
	t.Helper()
	checked := 0
	for at, b := range files {
		if at != "" && !strings.HasSuffix(at, "/") {
			continue
		}
		for link := range attributes(b, "href", "src", "action") {
			u, err := url.Parse(link)
			if err != nil {
				t.Errorf("/%s: link %q: %v", at, link, err)
				continue
			}
			if u.Host != "" {
				if place, ok := strings.CutPrefix(u.String(), recordsAt); !ok {
					t.Errorf("/%s leads away, to %s", at, u)
				} else if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(place))); err != nil {
					t.Errorf("/%s: there is no record %s", at, place)
				}
				continue
			}
			checked++
			to := at
			if u.Path != "" {
				to = strings.TrimPrefix(path.Join("/", path.Dir(at+"x"), u.Path), "/")
				if strings.HasSuffix(u.Path, "/") && to != "" {
					to += "/"
				}
			}
			if files[to] == nil {
				t.Errorf("/%s leads to /%s, which is not there", at, to)
			} else if u.Fragment != "" && !slices.Contains(ids[to], u.Fragment) {
				t.Errorf("/%s leads to %q of /%s, which is not there", at, u.Fragment, to)
			}
		}
	}
	if checked < 10_000 {
		t.Errorf("only %d links were found: the test looks in the wrong place", checked)
	}
}

// The same records give the same bytes, whoever asks and in what order.
func TestPagesAreFunctionsOfTheRecords(t *testing.T) {
	a := repository(t)
	b, err := Load(a.Registry(), Options{RecordURL: recordsAt})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"", "codex/", "codex/0.144.0/linux-x64/", "consumer/pi/", "health/", "api/v1/agents.json", "shapes/" + firstShape(a) + "/"} {
		x, err := a.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.Body, y.Body) {
			t.Errorf("/%s differs between two readings of one registry", at)
		}
	}
}

func firstShape(s *Site) string {
	return shortOf(s.Records.Observations[0].Shape.Signature)
}

// Pages that are made at once, as Write makes them, are those that are made one
// by one.
func TestPagesAtOnce(t *testing.T) {
	s, dir := repository(t), t.TempDir()
	var paths []string
	all := s.Paths()
	for i := 0; i < len(all); i += len(all) / 16 { // each takes the race detector seconds
		paths = append(paths, all[i])
	}
	if err := s.writeAll(t.Context(), dir, paths); err != nil {
		t.Fatal(err)
	}
	for _, at := range paths {
		want, err := s.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		name := at
		if at == "" || strings.HasSuffix(at, "/") {
			name += "index.html"
		}
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !bytes.Equal(got, want.Body) {
			t.Errorf("/%s is another page when it is made with others: %v", at, err)
		}
	}
}

// What the agents are called does not collide with the other pages.
func TestAgentsLeaveReservedAddressesAlone(t *testing.T) {
	for _, a := range repository(t).Records.Agents.Agents {
		if slices.Contains(Reserved, a.ID) {
			t.Errorf("agent %s has the address of another page", a.ID)
		}
	}
}

// The registry in the binary has claims and no records; its pages show them.
func TestEmbeddedRegistry(t *testing.T) {
	s, err := Load(store.Embedded(agentcontracts.Files()), Options{Live: true, RecordURL: "~api/v1/records/"})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"":                         "Codex CLI",
		"codex/":                   `href="../codex/0.144.0/linux-x64/#chat-tool-success"`,
		"codex/0.144.0/linux-x64/": "matrix --explain codex 0.144.0",
		"consumer/":                "What OpenDesign",
		"api/v1/codex.json":        `"version":"0.144.0"`,
		"badge/codex.svg":          "verified",
	} {
		f, err := s.Get(at)
		if err != nil {
			t.Errorf("/%s: %v", at, err)
		} else if !strings.Contains(string(f.Body), want) {
			t.Errorf("/%s does not have %q", at, want)
		}
	}
}

func TestNothingThere(t *testing.T) {
	s := repository(t)
	for _, at := range []string{
		"nope/", "codex/9.9.9/linux-x64/", "codex/0.144.0/plan9/", "codex/0.144.0/", "codex/older-0/", "codex/older-99/", "codex/older-1x/", "shapes/", "shapes/0123/",
		"shapes/000000000000/", "diff/..", "diff/../", "diff/x..y/", "badge/nope.svg", "badge/codex.png", "api/v1/nope.json", "api/v1/../registry.json", "api/v2/codex.json",
		"consumer/nope/", "assets/site.css", "assets/", "codex/0.144.0/linux-x64/production/", "codex/0.144.0/linux-x64/nope/", "machine/", "review/", "codex", "x\x00/",
	} {
		_, err := s.Get(at)
		var missing *NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("/%q: error %v, want *NotFoundError", at, err)
		}
	}
}

// A folder that holds something else is never replaced.
func TestWriteRefusesForeignFolders(t *testing.T) {
	s := repository(t)
	dir := t.TempDir()
	keep := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(keep, []byte("three years"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Write(t.Context(), dir)
	var other *NotASiteError
	if !errors.As(err, &other) {
		t.Errorf("error %v, want *NotASiteError", err)
	}
	if b, err := os.ReadFile(keep); err != nil || string(b) != "three years" {
		t.Errorf("the folder's file is now %q, %v", b, err)
	}
}

// Foreign text cannot leave its place in a page, and cannot make a link to the
// site's root of its own.
func TestForeignTextStaysText(t *testing.T) {
	s := repository(t)
	f, err := s.Overview(`"~/evil" <script>alert(1)</script>`)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>alert", `"./evil`, `"~/`} {
		if strings.Contains(string(f.Body), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
}
