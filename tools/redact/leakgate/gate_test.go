package leakgate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
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

func TestSARIF(t *testing.T) {
	b, err := json.Marshal(SARIF([]Finding{
		{EngineLeak, "jwt", `a\b.txt`, 3, 10, 20, "base64"}, {EngineGitleaks, "x", "c", 2, 0, 0, viewRaw}, {EngineGitleaks, "x", "c", 9, 0, 0, viewFlattened},
	}, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"version":"2.1.0"`, `"byteLength":10,"byteOffset":10,"startLine":3`, `"ruleId":"jwt"`, `"rules":[{"id":"jwt"}]`, `"rules":[{"id":"x"}]`, `"region":{"startLine":2}`,
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
