package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestEveryByteAtEveryPlace: text is scanned and written eight bytes at once;
// a byte that matters does so wherever it stands.
func TestEveryByteAtEveryPlace(t *testing.T) {
	for place := range 18 {
		for c := range 256 {
			before, after := strings.Repeat("a", place), strings.Repeat("b", 9)
			token := []byte(`"` + before + string([]byte{byte(c)}) + after + `"`)
			v, err := Parse(token)
			switch {
			case c == '"' || c == '\\' || c < 0x20:
				var syntax *SyntaxError
				// The quote ends the text early; of an escape (\b) every byte counts.
				if c == '\\' {
					if err != nil || v.Str() != before+"\b"+after[1:] {
						t.Fatalf("a backslash at %d: %v", place, err)
					}
				} else if want := place + 1 + strings.Count(`"`, string(rune(c))); !errors.As(err, &syntax) || syntax.Offset != want {
					t.Fatalf("byte %#x at %d: %v, want an error at byte %d", c, place, err, want)
				}
			case err != nil:
				t.Fatalf("byte %#x at %d: %v", c, place, err)
			case v.Str() != string(token[1:len(token)-1]) || string(v.AppendStr(nil)) != v.Str():
				t.Fatalf("byte %#x at %d is read as another", c, place)
			}
			if c >= 0x80 {
				continue // broken UTF-8: TestBrokenUTF8IsDecodedAsNodeDoes
			}
			var back string
			quoted := AppendQuote([]byte("x"), before+string(rune(c))+after)
			if err := json.Unmarshal(quoted[1:], &back); err != nil || back != before+string(rune(c))+after {
				t.Fatalf("byte %#x at %d is written as %s", c, place, quoted)
			}
		}
	}
}

// TestManyMembers: of duplicate keys the last value stands at the first one's
// place, in small objects and in large ones.
func TestManyMembers(t *testing.T) {
	for n := range 60 {
		var text, want []string
		for i := range n {
			text = append(text, fmt.Sprintf(`"k%d":0`, i))
		}
		for i := range n {
			key := fmt.Sprintf(`"k%d"`, i)
			if i%2 == 0 {
				key = fmt.Sprintf(`"\u006b%d"`, i) // the same key, spelled otherwise
			}
			text = append(text, fmt.Sprintf(`%s:%d`, key, i))
			want = append(want, fmt.Sprintf(`"k%d":%d`, i, i))
		}
		v, err := Parse([]byte("{" + strings.Join(text, ",") + "}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Stringify(); got != "{"+strings.Join(want, ",")+"}" || len(v.Members()) != n {
			t.Errorf("%d members: %s", n, got)
		}
	}
}

func TestKeyIs(t *testing.T) {
	v, err := Parse([]byte(`{"\u0061b":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	member := v.Get("ab")
	if !member.KeyIs("ab") || member.KeyIs("a") || v.KeyIs("") || (Value{}).KeyIs("") {
		t.Error("a key is not the one that it is")
	}
	for e := range member.Children() {
		if e.KeyIs("") {
			t.Error("an element of a list has a key")
		}
	}
}
