package leak

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// dumper is a program that prints bytes: n a line, each by a verb, with a gap
// between groups. Its format gets where the line is, its bytes and its text.
type dumper struct {
	n, group          int
	verb, gap, format string
}

func (d dumper) dump(s string) (out string) {
	for at := 0; at < len(s); at += d.n {
		line := s[at:min(len(s), at+d.n)]
		bytes := ""
		for i := range len(line) {
			if i > 0 && i%d.group == 0 {
				bytes += d.gap
			}
			bytes += fmt.Sprintf(d.verb, line[i])
		}
		text := strings.Map(func(r rune) rune {
			if r < ' ' {
				return '.'
			}
			return r
		}, line)
		out += fmt.Sprintf(d.format, at, bytes, text)
	}
	return out
}

// Programs differ in how they show where the bytes of a line are, in groups, and in
// what stands beside them.
func TestDumpsOfPrograms(t *testing.T) {
	s := NewScanner(nil)
	r := rand.New(rand.NewPCG(8, 8))
	for range 50 {
		text := "\x00\x01 export KEY=" + "ghp_" + token(r, 36) + "\n"
		for name, program := range map[string]dumper{
			"tcpdump -X":     {16, 2, "%02x", " ", "\t0x%04x:  %-39s  %s\n"},
			"xxd -g1":        {16, 1, "%02x", " ", "%08x: %-47s  %s\n"},
			"xxd -g4":        {16, 4, "%02x", " ", "%08x: %-35s  %s\n"},
			"xxd -c 32":      {32, 2, "%02x", " ", "%08x: %-79s  %s\n"},
			"xxd -c 8":       {8, 2, "%02x", " ", "%08x: %-19s  %s\n"},
			"od -A x -t x1z": {16, 1, "%02x", " ", "%06x %-47s  >%s<\n"},
			"od -t x1":       {16, 1, "%02x", " ", "%07[1]o %[2]s\n"},
			"od -b":          {16, 1, "%03o", " ", "%07[1]o %[2]s\n"},
			"without places": {20, 1, "%02x", " ", "%[2]s\n"},
			"openssl":        {15, 1, "%02x", ":", "    %[2]s:\n"},
		} {
			dump := program.dump(text)
			for form, b := range map[string]string{"": dump, " in JSON": `{"a":` + encode.Quote("$ run\n"+dump) + "}", " in JSON in JSON": encode.Quote(encode.Quote(dump))} {
				if len(s.Scan([]byte(b))) == 0 {
					t.Fatalf("%s%s: not found in\n%s", name, form, dump)
				}
			}
		}
	}
}
