package issues

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type record struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	Title  string `json:"title"`
	Body   string `json:"body"`
}

// fakeGitHub keeps issues, two a page.
func fakeGitHub(t *testing.T, have ...record) (api string, list *[]record, writes *int) {
	all, n := have, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/repos/o/n/issues")
		switch {
		case r.Method == http.MethodGet && path == "":
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			page = max(page, 1)
			from, to := min(len(all), 2*(page-1)), min(len(all), 2*page)
			if to < len(all) {
				w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, page+1))
			}
			_ = json.NewEncoder(w).Encode(all[from:to])
		case r.Method == http.MethodPost && path == "":
			n++
			x := record{Number: len(all) + 1, State: "open"}
			_ = json.NewDecoder(r.Body).Decode(&x)
			all = append(all, x)
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(x)
		case r.Method == http.MethodPatch:
			n++
			i, _ := strconv.Atoi(strings.TrimPrefix(path, "/"))
			_ = json.NewDecoder(r.Body).Decode(&all[i-1])
			_ = json.NewEncoder(w).Encode(all[i-1])
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, &all, &n
}

func TestOneIssueForEachThing(t *testing.T) {
	x := Issue{Fingerprint: "source-risk:codex:0.172.0", Title: "codex 0.172.0", Body: "one", Labels: []string{"source_protocol_risk"}}
	api, list, writes := fakeGitHub(t,
		record{1, "open", "mine", "no marker"},
		record{2, "closed", "done", begin + "source-risk:codex:0.170.0 -->\nx\n" + end},
		record{3, "open", "claude", begin + "source-risk:claude:2.1.0 -->\nold\n" + end + "\nI look at it."},
	)
	c, err := NewClient(nil, api, "")
	if err != nil {
		t.Fatal(err)
	}
	closed := Issue{Fingerprint: "source-risk:codex:0.170.0", Title: "again", Body: "y", Labels: x.Labels}
	claude := Issue{Fingerprint: "source-risk:claude:2.1.0", Title: "claude", Body: "new", Labels: x.Labels}
	run := func(dry bool, list ...Issue) []string {
		done, err := Publish(t.Context(), c, "o/n", list, dry)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, d := range done {
			out = append(out, fmt.Sprintf("%s #%d", d.Action, d.Number))
		}
		return out
	}
	if d := cmp.Diff([]string{"open #0", "keep #2", "update #3"}, run(true, x, closed, claude)); d != "" || *writes != 0 {
		t.Errorf("a dry run wrote %d times\n%s", *writes, d)
	}
	if d := cmp.Diff([]string{"open #4", "keep #4", "keep #2", "update #3"}, run(false, x, x, closed, claude)); d != "" || *writes != 2 {
		t.Errorf("%d writes\n%s", *writes, d)
	}
	if got := (*list)[2].Body; !strings.Contains(got, "new") || strings.Contains(got, "old") || !strings.HasSuffix(got, "I look at it.") {
		t.Errorf("the body is %q", got)
	}
	if d := cmp.Diff([]string{"keep #4", "keep #3"}, run(false, x, claude)); d != "" || *writes != 2 {
		t.Errorf("the same again: %d writes\n%s", *writes, d)
	}
}

func TestErrorsAreShort(t *testing.T) {
	c, err := NewClient(nil, "http://127.0.0.1:1", "very-secret")
	if err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{"o/n", "o", "o/n/x", ""} {
		_, err := Publish(t.Context(), c, repo, []Issue{{Fingerprint: "a", Labels: []string{"l"}}}, false)
		if err == nil || strings.Contains(err.Error(), "very-secret") || strings.Contains(err.Error(), "http://") {
			t.Errorf("%s: %v", repo, err)
		}
	}
	if _, err := NewClient(nil, "nowhere", ""); err == nil {
		t.Error("an address without a host is taken")
	}
}
