package leakgate

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test's own binary play the second opinion: it finds "bad"
// wherever it stands.
func TestMain(m *testing.M) {
	switch os.Getenv("SECOND_OPINION") {
	case "good":
		second()
		return
	case "broken":
		fmt.Println("no JSON")
		return
	}
	os.Exit(m.Run())
}

func second() {
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var h struct{ Bytes int }
		if json.Unmarshal(line, &h) != nil {
			os.Exit(1)
		}
		text := make([]byte, h.Bytes)
		if _, err := io.ReadFull(in, text); err != nil {
			os.Exit(1)
		}
		found := []PlaceInText{}
		for i, l := range strings.Split(string(text), "\n") {
			if strings.Contains(l, "bad") {
				found = append(found, PlaceInText{"bad", i + 1})
			}
		}
		json.NewEncoder(os.Stdout).Encode(Opinion{Findings: found})
	}
}

func open(t *testing.T, behaviour string) *Gate {
	t.Helper()
	t.Setenv("SECOND_OPINION", behaviour)
	program := ""
	if behaviour != "" {
		program = os.Args[0]
	}
	g, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Both engines speak, the second one also about texts that only show when the
// frames are decoded and joined.
func TestFile(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE6", 6)
	for _, c := range []struct{ name, second, text, want string }{
		{"nothing", "good", "fine\n", ""},
		{"own scan only", "", "bad " + key + "\n", "leak github-token raw 1"},
		{"both", "good", "fine\nbad " + key + "\n", "leak github-token raw 2, gitleaks bad raw 2"},
		{"in pieces", "good", "{\"d\":\"b\"}\n{\"d\":\"ad\"}\n", "gitleaks bad flattened 3"},
		{"escaped", "good", `{"d":"\u0062ad"}` + "\n", "gitleaks bad flattened 1"},
	} {
		g := open(t, c.second)
		list, err := g.File("x", strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list {
			got = append(got, fmt.Sprint(f.Engine, " ", f.Rule, " ", f.View, " ", f.Line))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A second opinion that fails is an error, not silence.
func TestBrokenSecondOpinion(t *testing.T) {
	g := open(t, "broken")
	if _, err := g.File("x", strings.NewReader("fine\n")); err == nil {
		t.Error("no error")
	}
	g.Close()
	if _, err := Open("/nowhere/at/all"); err == nil {
		t.Error("a program that does not exist starts")
	}
}

// What GitHub asks of a result and of a rule: a reference to the file that is
// one, a region with a line, texts.
func TestSARIFForGitHub(t *testing.T) {
	abs, err := filepath.Abs("x y")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"a b%c#ü?.txt": "a%20b%25c%23%C3%BC%3F.txt", "a:b": "./a:b", "d/e": "d/e", abs: "file:///"}
	for name, want := range names {
		var list []Finding
		for _, view := range []string{viewRaw, viewFlattened, viewGzip} {
			list = append(list, Finding{EngineLeak, "jwt", name, 3, 0, 0, view}, Finding{EngineGitleaks, "unread", name, 3, 0, 0, view})
		}
		b, err := json.Marshal(SARIF(list, "1"))
		if err != nil {
			t.Fatal(err)
		}
		type text struct{ Text string }
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct {
						Rules []struct {
							ID                                      string
							ShortDescription, FullDescription, Help text
						}
					}
				}
				Results []struct {
					Message   text
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           struct{ StartLine int }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(b, &log); err != nil {
			t.Fatal(err)
		}
		if len(log.Runs) != 2 {
			t.Fatalf("%d runs", len(log.Runs))
		}
		for _, run := range log.Runs {
			for _, r := range run.Tool.Driver.Rules {
				if r.ID == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" {
					t.Errorf("a rule lacks a text: %+v", r)
				}
			}
			for _, r := range run.Results {
				at := r.Locations[0].PhysicalLocation
				u, err := url.Parse(at.ArtifactLocation.URI)
				if err != nil || !strings.HasPrefix(at.ArtifactLocation.URI, want) || strings.TrimPrefix(u.Path, "./") != filepath.ToSlash(name) || at.Region.StartLine < 1 || r.Message.Text == "" {
					t.Errorf("%q: %+v, %v", name, r, err)
				}
			}
		}
	}
}

// What gzip holds is read, to its end; what cannot be is a finding.
func TestGzip(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE6", 6)
	gz := func(text string, change func(*gzip.Writer)) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		change(w)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain := func(*gzip.Writer) {}
	clean, bad := gz("fine\n", plain), gz("fine\nbad "+key+"\n", plain)
	for _, c := range []struct{ name, text, want string }{
		{"clean", clean, ""},
		{"a token", bad, "leak github-token 1:0-0 gzip, raw; gitleaks bad 1:0-0 gzip, raw"},
		{"in a second member", clean + bad, "leak github-token 1:0-0 gzip, raw; gitleaks bad 1:0-0 gzip, raw"},
		{"in the header", gz("fine", func(w *gzip.Writer) { w.Comment = key }), "leak github-token 1:0-0 gzip, raw"},
		{"cut off", clean[:len(clean)-9], "leak unread 1:0-0 gzip"},
		{"cut in the header", clean[:5], "leak unread 1:0-0 gzip"},
		{"something behind it", clean + "x", "leak unread 1:0-0 gzip"},
		{"no gzip", "\x1f\x8b\x07", ""},
	} {
		g := open(t, "good")
		list, err := g.File("x", strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list {
			got = append(got, fmt.Sprintf("%s %s %d:%d-%d %s", f.Engine, f.Rule, f.Line, f.Start, f.End, f.View))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSARIF(t *testing.T) {
	b, err := json.Marshal(SARIF([]Finding{
		{EngineLeak, "jwt", `a\b.txt`, 3, 10, 20, "base64"}, {EngineGitleaks, "x", "c", 2, 0, 0, viewRaw}, {EngineGitleaks, "x", "c", 9, 0, 0, viewFlattened},
	}, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"version":"2.1.0"`, `"byteLength":10,"byteOffset":10,"startLine":3`, `"ruleId":"jwt"`, `"region":{"startLine":2}`, `"region":{"startLine":1}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %s", b, want)
		}
	}
	if strings.Contains(string(b), `"startLine":9`) {
		t.Error("a line of the flattened text is given as the file's")
	}
	if b, _ := json.Marshal(SARIF(nil, "1")); !strings.Contains(string(b), `"results":[]`) {
		t.Errorf("no findings: %s", b)
	}
}
