package contract_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract/internal/enumgen"
)

func TestEnumsAreThoseOfTheSchemas(t *testing.T) {
	want, err := enumgen.Source(schemas.FS)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(enumgen.File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what the schemas give: run go generate ./tools/contract", enumgen.File)
	}
}

// Two schemas that spell one enumeration differently are found.
func TestEnumsThatPart(t *testing.T) {
	files := fstest.MapFS{}
	names, err := schemas.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		b, err := schemas.FS.ReadFile(n.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n.Name() == "policy.schema.json" {
			b = bytes.ReplaceAll(b, []byte(`"pi-rpc/v1"`), []byte(`"pi-rpc/v2"`))
		}
		files[n.Name()] = &fstest.MapFile{Data: b}
	}
	if _, err := enumgen.Source(files); err == nil || !strings.Contains(err.Error(), "policy.schema.json") {
		t.Errorf("got %v, want an error that names policy.schema.json", err)
	}
}

func strs[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// The enumerations of a failure are OpenDesign v0.19.2's, in its order.
func TestEnumsAreOpenDesigns(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "research", "opendesign.md"))
	if err != nil {
		t.Skip("no research/opendesign.md beside the repository")
	}
	_, section, found := strings.Cut(string(b), "### 5.1 Object and enums")
	if !found {
		t.Fatal("the report has no section 5.1")
	}
	for name, have := range map[string][]string{
		"category": strs(contract.FailureCategories), "stage": strs(contract.FailureStages), "user_action": strs(contract.UserActions),
		"detail": contract.FailureDetails, "cancel_origin": contract.CancelOrigins,
	} {
		m := regexp.MustCompile(`\*\*` + name + `\*\*[^:]*: ([a-z0-9_, \n]+)`).FindStringSubmatch(section)
		if m == nil {
			t.Errorf("the report has no list of %s", name)
			continue
		}
		want := strings.Split(strings.Join(strings.Fields(m[1]), " "), ", ")
		if !slices.Equal(have, want) {
			t.Errorf("%s: we have %v, the report %v", name, have, want)
		}
	}
	if want := append(slices.Clone(contract.CancelOrigins), "first_output_deadline", "inactivity_watchdog", "daemon_restart"); !slices.Equal(contract.TerminalTriggers, want) {
		t.Errorf("terminal_trigger: we have %v, the report %v", contract.TerminalTriggers, want)
	}
}
