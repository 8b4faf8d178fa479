package redact

import (
	"fmt"
	"strings"
	"testing"
)

// A value keeps the placeholder that it was given, however many come behind it.
func TestNamesStay(t *testing.T) {
	n := newNames()
	n.reserve("<id:2> <text:1> /w/p3")
	kinds := []string{"text", "id", "host", "num"}
	given := map[string]string{}
	for round := range 2 {
		taken := map[string]bool{"<id:2>": true, "<text:1>": true}
		for i := range 30000 {
			value := fmt.Sprint("value ", i)
			got := n.get(kinds[i%len(kinds)], value)
			if want, ok := given[value]; round == 1 && (!ok || got != want) {
				t.Fatalf("value %d was %s and is %s", i, want, got)
			}
			if taken[got] || !strings.HasPrefix(got, "<"+kinds[i%len(kinds)]+":") || placeholderAt(got, 0) != len(got) {
				t.Fatalf("value %d got %s", i, got)
			}
			taken[got], given[value] = true, got
		}
	}
	if got := string(n.appendPath(nil, "value 1")); got != "p1" {
		t.Errorf("the first path is %s", got)
	}
	n.appendPath(nil, "value 2")
	if got := string(n.appendPath(nil, "value 3")); got != "p4" {
		t.Errorf("the third path is %s, although p3 was reserved", got)
	}
}

// A kind has no more placeholders than a name has room for: the next one would be
// another kind's.
func TestNamesEnd(t *testing.T) {
	n := newNames()
	n.get("text", "first")
	n.last[1] = maxNumber - 1
	if got := n.get("text", "last"); got != fmt.Sprintf("<text:%d>", maxNumber) {
		t.Errorf("the last one is %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("there is one more")
		}
	}()
	n.get("text", "one more")
}

// Texts that are kept in one piece of memory do not change each other.
func TestKeptTextsStay(t *testing.T) {
	var room texts
	var want, got []string
	for i := range 2000 {
		s := strings.Repeat(fmt.Sprint(i, " "), i%50+1)
		want, got = append(want, s), append(got, room.keep([]byte(s)))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("text %d became %q", i, got[i])
		}
	}
}
