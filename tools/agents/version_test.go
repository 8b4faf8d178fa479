package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// testAgent returns an agent with the scheme and products that its real
// definition has or will have.
func testAgent(id string) *contract.Agent {
	p := &contract.VersionProbe{Args: []string{"--version"}, TimeoutMS: 3000, Scheme: contract.SchemePrerelease}
	switch id {
	case "cursor-agent", "copilot":
		p.Scheme = contract.SchemeBuild
	case "kimi":
		p.Products = []contract.VersionProduct{{ID: "kimi-cli", Pattern: "^kimi, version "}, {ID: "kimi-code", Pattern: "^v?[0-9]"}}
	case "codex":
		p.Products = []contract.VersionProduct{{ID: "codex-cli", Pattern: "^codex-cli "}}
	}
	return &contract.Agent{ID: id, VersionProbe: p}
}

func TestParseVersion(t *testing.T) {
	tests := []struct {
		name, agent, out string
		want             Version
	}{
		{"banner", "codex", "codex-cli 0.63.0\n", Version{Token: "0.63.0", Product: "codex-cli", Parts: []string{"0", "63", "0"}}},
		{"prerelease", "codex", "codex-cli 0.148.0-alpha.9\n", Version{Token: "0.148.0-alpha.9", Product: "codex-cli", Parts: []string{"0", "148", "0"}, Prerelease: "alpha.9"}},
		{"product line wins over an earlier number", "codex", "update 9.9.9 available\ncodex-cli 0.63.0\n", Version{Token: "0.63.0", Product: "codex-cli", Parts: []string{"0", "63", "0"}}},
		{"another program of that name", "codex", "v20.20.2\n", Version{Token: "20.20.2", Parts: []string{"20", "20", "2"}}},
		{"code page", "gemini", "Active code page: 65001\r\n0.41.2\r\n", Version{Token: "0.41.2", Parts: []string{"0", "41", "2"}}},
		{"two parts", "kimi", "kimi, version 0.58\n", Version{Token: "0.58", Product: "kimi-cli", Parts: []string{"0", "58"}}},
		{"second product", "kimi", "0.26.0\n", Version{Token: "0.26.0", Product: "kimi-code", Parts: []string{"0", "26", "0"}}},
		{"calendar with build", "cursor-agent", "2025.11.06-8fe8a63", Version{Token: "2025.11.06" + "-8fe8a63", Parts: []string{"2025", "11", "6"}, Build: "8fe8a63"}},
		{"numbered build", "copilot", "1.0.64-3\nCommit: abc\n", Version{Token: "1.0.64-3", Parts: []string{"1", "0", "64"}, Build: "3"}},
		{"end of a sentence", "copilot", "GitHub Copilot CLI 1.0.25.\n", Version{Token: "1.0.25", Parts: []string{"1", "0", "25"}}},
		{"colours and byte order mark", "x", "\ufeff\x1b[1;32mx\x1b[0m \x1b]0;title 9.9.9\x07v1.2.3\r\n", Version{Token: "1.2.3", Parts: []string{"1", "2", "3"}}},
		{"addresses, paths, durations and dates are none", "x", "listening on 127.0.0.1:80\n/opt/node/20.1.0/bin\nlib/python3.11\ntook 1.5s, 80.5%\n2026-04-27\nx 7.0\n", Version{Token: "7.0", Parts: []string{"7", "0"}}},
		{"bytes in another encoding", "x", "\xb2\xbb\xca\xc7 1.2\n", Version{Token: "1.2", Parts: []string{"1", "2"}}},
		{"package specification", "x", "x/1.4.0 linux-x64 node-v24.1.0", Version{Token: "1.4.0", Parts: []string{"1", "4", "0"}}},
		{"semantic build", "x", "1.4.0-rc.1+20260101", Version{Token: "1.4.0-rc.1+20260101", Parts: []string{"1", "4", "0"}, Prerelease: "rc.1", Build: "20260101"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseVersion(testAgent(tt.agent), []byte(tt.out))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Line, got.Token) {
				t.Errorf("line %q does not hold the token %q", got.Line, got.Token)
			}
			got.Line, got.Scheme = "", ""
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Releases that print no version are asked by their protocol's first request.
func TestVersionQuestion(t *testing.T) {
	a := testAgent("adapter")
	a.VersionProbe.Handshake = &contract.VersionHandshake{Versions: "<1.0.0", Request: `{"method":"initialize"}`}
	a.VersionProbe.Products = []contract.VersionProduct{{ID: "adapter", Pattern: `"agentInfo":\{"name":"adapter".*?"version":"(?P<version>[^"]+)"`}}
	for release, want := range map[string]string{"0.16.0": "{\"method\":\"initialize\"}\n", "1.0.0": "", "": ""} {
		args, request := VersionQuestion(a, release)
		if request != want || (want == "") != (len(args) == 1) {
			t.Errorf("%q: %q, %q", release, args, request)
		}
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"adapter","version":"0.16.0"}}}`
	if v, err := ParseVersion(a, []byte(answer+"\n")); err != nil || v.Token != "0.16.0" || v.Product != "adapter" {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestNoVersionNoObservation(t *testing.T) {
	// The last one is "'node' is not recognized" as cmd.exe writes it in GBK.
	for _, out := range []string{"", "\n\r\n", "codex-cli\n", "Active code page: 65001\r\n", "127.0.0.1\n", "'node' \xb2\xbb\xca\xc7\xc4\xda\xb2\xbf\xc3\xfc\xc1\xee\r\n"} {
		if v, err := ParseVersion(testAgent("codex"), []byte(out)); !errors.Is(err, ErrNoVersion) {
			t.Errorf("%q gave %q, %v; want ErrNoVersion", out, v.Token, err)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	// Each list is in ascending order.
	for agent, order := range map[string][]string{
		"codex":        {"0.9.0", "0.20.0", "0.100.0", "0.148.0-alpha.9", "0.148.0-alpha.10", "0.148.0-beta.1", "0.148.0", "0.148.1-alpha.1"},
		"cursor-agent": {"2025.9.30", "2025.11.06", "2025.11.06-8fe8a63", "2026.07.20-8cc9c0b"},
		"copilot":      {"0.0.401-1", "1.0.36-0", "1.0.64", "1.0.64-3", "1.0.64-12", "1.0.65"},
		"kimi":         {"0.58", "1.6", "1.6.1", "1.48.0", "1.49"},
	} {
		for i := range order {
			for j := range order {
				got, err := CompareVersions(testAgent(agent), order[i], order[j])
				if err != nil {
					t.Fatal(err)
				}
				if want := sign(i - j); got != want {
					t.Errorf("%s: compare(%s, %s) = %d, want %d", agent, order[i], order[j], got, want)
				}
			}
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

func TestProductsHaveNoOrder(t *testing.T) {
	kimi := testAgent("kimi")
	old, _ := ParseVersion(kimi, []byte("kimi, version 1.49.0"))
	successor, _ := ParseVersion(kimi, []byte("0.26.0"))
	if _, err := old.Compare(successor); !errors.Is(err, ErrOtherProduct) {
		t.Errorf("kimi-cli 1.49.0 against kimi-code 0.26.0: %v, want ErrOtherProduct", err)
	}
}

func TestVersionIn(t *testing.T) {
	for _, tt := range []struct {
		agent, version, versions string
		want                     bool
	}{
		{"codex", "0.133.0", ">=0.133.0", true},
		{"codex", "0.133.0-alpha.1", ">=0.133.0", false},
		{"codex", "0.134.0-alpha.1", ">=0.133.0", true},
		{"codex", "0.44.0", "<0.44.0", false},
		{"kimi", "0.58", ">=0.58.0 <1.0.0", true},
		{"cursor-agent", "2025.11.06-8fe8a63", ">=2025.11.6", true},
		{"copilot", "1.0.64-3", ">=1.0.64", true},
		{"codex", "0.1.2504172351", "*", true},
		{"codex", "1.2.3-01", ">=1.2.3", true},
	} {
		v, err := ParseToken(testAgent(tt.agent), tt.version)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.In(tt.versions); err != nil || got != tt.want {
			t.Errorf("%s in %q: %v, %v; want %v", tt.version, tt.versions, got, err, tt.want)
		}
	}
}

// TestPublicVersionTable reads the table of version outputs from public
// reports, which is not part of this repository.
func TestPublicVersionTable(t *testing.T) {
	root := "../.."
	cases := os.Getenv("AGENT_CONTRACTS_CASES")
	if cases == "" {
		cases = filepath.Join(root, "../shared/cases")
	}
	b, err := os.ReadFile(filepath.Join(cases, "076-version-banner-shapes/version.table.tsv"))
	if err != nil {
		t.Skip("no case folder: set AGENT_CONTRACTS_CASES to run the reported cases")
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) != 3 || f[0] == "agent" {
			continue
		}
		n++
		if v, err := ParseVersion(testAgent(f[0]), []byte(f[1])); err != nil || v.Token != f[2] {
			t.Errorf("%s %q: %q, %v; want %q", f[0], f[1], v.Token, err, f[2])
		}
	}
	if n == 0 {
		t.Error("the table has no rows")
	}
	b, err = os.ReadFile(filepath.Join(cases, "../research/error-texts.md"))
	if err != nil {
		t.Skip("no research folder beside the case folder")
	}
	_, table, _ := strings.Cut(string(b), "## `--version` strings")
	checkMarkdownTable(t, table)
}

func checkMarkdownTable(t *testing.T, table string) {
	rows := 0
	for line := range strings.Lines(table) {
		f := strings.Split(line, "|")
		if len(f) < 5 || strings.HasPrefix(f[1], "---") || strings.TrimSpace(f[1]) == "CLI" {
			continue
		}
		agent, raw := strings.Fields(f[1])[0], strings.TrimSpace(f[2])
		want := strings.Fields(strings.TrimSpace(f[3]))[0]
		rows++
		raw = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(raw)
		for i, one := range strings.Split(raw, " / ") {
			expected := want
			if agent == "copilot" && strings.Contains(raw, " / ") {
				expected = one // the build suffix is kept
			} else if i > 0 || agent == "qwen" {
				expected = "" // several sources in one row: any version will do
			}
			v, err := ParseVersion(testAgent(agent), []byte(one))
			if got := strings.TrimSuffix(v.Token, "-"+v.Build); err != nil || expected != "" && v.Token != expected && got != expected {
				t.Errorf("%s %q: %q, %v; want %q", agent, one, v.Token, err, expected)
			}
		}
	}
	if rows < 20 {
		t.Errorf("read %d rows of the table", rows)
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"codex-cli 0.63.0\n", "2025.11.06-8fe8a63", "\x1b[1mv1.2\r\n", "1.2.3-a.b+c", "Active code page: 65001\r\n0.41.2", "\xb2\xbb 1.2"} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, out []byte, build bool) {
		agent := testAgent("codex")
		if build {
			agent = testAgent("copilot")
		}
		v, err := ParseVersion(agent, out)
		if err != nil {
			if !errors.Is(err, ErrNoVersion) {
				t.Fatal(err)
			}
			return
		}
		if !strings.Contains(v.Line, v.Token) || len(v.Parts) < 2 || len(v.Parts) > 3 {
			t.Fatalf("%+v does not hang together", v)
		}
		// What was recorded is read back as the same version.
		again, err := ParseToken(agent, v.Token)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := again.Compare(v); err != nil || c != 0 {
			t.Fatalf("%q read back compares %d, %v", v.Token, c, err)
		}
		if ok, err := v.In("*"); err != nil || !ok {
			t.Fatalf("%q in *: %v, %v", v.Token, ok, err)
		}
	})
}

func TestCompareIsAnOrder(t *testing.T) {
	token := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 3)
		s := fmt.Sprintf("%d.%d", n.Draw(t, "major"), n.Draw(t, "minor"))
		if rapid.Bool().Draw(t, "three") {
			s += fmt.Sprintf(".%d", n.Draw(t, "patch"))
		}
		return s + rapid.SampledFrom([]string{"", "-0", "-3", "-12", "-alpha", "-alpha.2", "-alpha.10", "-8fe8a63"}).Draw(t, "suffix")
	})
	rapid.Check(t, func(t *rapid.T) {
		agent := testAgent(rapid.SampledFrom([]string{"codex", "copilot"}).Draw(t, "agent"))
		a, b, c := token.Draw(t, "a"), token.Draw(t, "b"), token.Draw(t, "c")
		compare := func(x, y string) int {
			n, err := CompareVersions(agent, x, y)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if compare(a, b) != -compare(b, a) {
			t.Fatalf("%s and %s are not antisymmetric", a, b)
		}
		if compare(a, b) <= 0 && compare(b, c) <= 0 && compare(a, c) > 0 {
			t.Fatalf("%s ≤ %s ≤ %s but not %s ≤ %s", a, b, c, a, c)
		}
	})
}
