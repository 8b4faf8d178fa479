//go:build unix

package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// victim names the work that a copy of this test binary does to be killed.
const victim = "EVIDENCE_TEST_VICTIM"

// TestMain plays the victim where the environment says so.
func TestMain(m *testing.M) {
	if what := os.Getenv(victim); what != "" {
		if err := suffer(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// suffer does the work, in the folder of the environment.
func suffer(what string) error {
	dir, ctx := os.Getenv("EVIDENCE_TEST_DIR"), context.Background()
	state := filepath.Join(dir, "state")
	switch what {
	case "promote":
		reg, err := store.Open(filepath.Join(dir, "registry"))
		if err != nil {
			return err
		}
		p := &Promoter{Registry: reg, Requests: requests.Open(state, reg, time.Now), By: "jo", Now: time.Now}
		p.Inline = func(_ context.Context, pending []contract.Request) ([]contract.Answer, error) {
			a, err := requests.AnswerApproval(&pending[0], requests.Approval{Approved: true}, requests.By{Name: "jo", At: time.Now()})
			return []contract.Answer{*a}, err
		}
		_, _, err = p.Promote(ctx, Promotion{Observation: os.Getenv("EVIDENCE_TEST_PLACE"), To: contract.LevelCommunityConfirmed})
		return err
	case "expire":
		raw, err := private.Open(private.Config{StateDir: state})
		if err != nil {
			return err
		}
		_, err = raw.Expire(ctx, later, false)
		return err
	}
	return errors.New("no such victim")
}

// strike runs a victim and kills it after a delay; 0 lets it live. It reports
// whether it was alive, and how long it took.
func strike(t *testing.T, what, dir, place string, delay time.Duration) (alive bool, took time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), victim+"="+what, "EVIDENCE_TEST_DIR="+dir, "EVIDENCE_TEST_PLACE="+place)
	var said bytes.Buffer
	c.Stderr = &said
	start := time.Now()
	must(t, c.Start())
	if delay > 0 {
		timer := time.AfterFunc(delay, func() { _ = c.Process.Kill() })
		defer timer.Stop()
	}
	err := c.Wait()
	if delay == 0 && err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return err != nil, time.Since(start)
}

// kills says how often and where: AGENT_CONTRACTS_KILLS and
// AGENT_CONTRACTS_KILL_SEED, as for captures.
func kills(t *testing.T) (int, *rand.Rand) {
	n, seed := 10, uint64(time.Now().UnixNano())
	if s := os.Getenv("AGENT_CONTRACTS_KILLS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		must(t, err)
	}
	if s := os.Getenv("AGENT_CONTRACTS_KILL_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		must(t, err)
	}
	t.Logf("AGENT_CONTRACTS_KILLS=%d AGENT_CONTRACTS_KILL_SEED=%d", n, seed)
	return n, rand.New(rand.NewPCG(seed, 0))
}

// repeat kills victims in copies of a folder and lets check look at each.
func repeat(t *testing.T, what, dir, place string, check func(dir string)) {
	copied := func() string {
		to := t.TempDir()
		must(t, os.CopyFS(to, os.DirFS(dir)))
		must(t, filepath.WalkDir(filepath.Join(to, "state"), func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				err = os.Chmod(p, 0o600)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}))
		return to
	}
	whole := copied()
	_, took := strike(t, what, whole, place, 0)
	check(whole)
	n, random := kills(t)
	alive := 0
	for range n {
		at := copied()
		delay := 1 + time.Duration(random.Int64N(int64(took)))
		hit, lived := strike(t, what, at, place, delay)
		if hit {
			alive++
		} else { // the machine may have less to do by now
			took = min(took, lived)
		}
		check(at)
		strike(t, what, at, place, 0) // it goes on where it stopped
		check(at)
	}
	t.Logf("%d of %d kills found it alive", alive, n)
	if alive == 0 && n > 1 {
		t.Error("no kill found it alive: the test proves nothing")
	}
}

func TestKillPromote(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	_, _, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	must(t, err)
	level := levelOf(t, reg, &o)
	repeat(t, "promote", filepath.Dir(reg.Dir()), o.Path, func(dir string) {
		t.Helper()
		at, err := store.Open(filepath.Join(dir, "registry"))
		must(t, err)
		valid(t, at)
		s, err := load(at, o.Path)
		must(t, err)
		promoted, attested := len(s.said(contract.EvidencePromotion)), len(s.said(contract.EvidenceAttestation))
		want := level
		if promoted == 1 {
			want = contract.LevelCommunityConfirmed
		}
		if promoted > 1 || attested != promoted || levelOf(t, at, &o) != want {
			t.Errorf("%d promotions, %d attestations, the shape is %s", promoted, attested, levelOf(t, at, &o))
		}
		left, err := at.Walk(".pending", "")
		if err != nil || len(left) > 0 {
			t.Errorf("left are %q, %v", left, err)
		}
	})
}

func TestKillExpire(t *testing.T) {
	const many, marker = 40, "MARKER-of-raw-bytes"
	dir := t.TempDir()
	raw, err := private.Open(private.Config{StateDir: filepath.Join(dir, "state")})
	must(t, err)
	var all []contract.Digest
	for i := range many {
		place := raw.Begin()
		content := []byte(strings.Repeat(marker, 100) + strconv.Itoa(i))
		must(t, os.WriteFile(place, content, 0o600))
		all = append(all, contract.Sum(content))
		must(t, raw.Keep(t.Context(), place, private.Meta{SHA256: all[i], RetainUntil: later.Add(-time.Hour)}, nil))
	}
	slices.Sort(all)
	repeat(t, "expire", dir, "", func(dir string) {
		t.Helper()
		at, err := private.Open(private.Config{StateDir: filepath.Join(dir, "state")})
		must(t, err)
		known, err := at.List(t.Context())
		must(t, err)
		var hashes []contract.Digest
		for _, m := range known {
			hashes = append(hashes, m.SHA256)
			r, err := at.Open(t.Context(), m.SHA256, nil)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				must(t, r.Close())
			}
			if m.ExpiredAt == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a bundle that did not expire cannot be read: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "state", "raw", m.SHA256.Hex()[:2], m.SHA256.Hex()+".age")); m.ExpiredAt != nil && err == nil {
				t.Error("a bundle that expired is still there")
			}
		}
		if !slices.Equal(hashes, all) {
			t.Errorf("%d of %d hashes are kept", len(hashes), len(all))
		}
		must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			if bytes.Contains(b, []byte(marker)) {
				t.Errorf("%s holds raw bytes in clear", p)
			}
			return err
		}))
	})
}
