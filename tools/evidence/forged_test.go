package evidence

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// changed is a bundle with another observation, and an evidence record that
// pins it: as consistent as a forger can make it.
func changed(t testing.TB, b *Bundle, change func(*contract.Observation)) *Bundle {
	t.Helper()
	files := maps.Clone(b.Files)
	place := b.Manifest.Observation
	o, e := &contract.Observation{}, &contract.Evidence{}
	must(t, json.Unmarshal(files[place], o))
	must(t, json.Unmarshal(files[store.EvidenceOf(place)], e))
	change(o)
	content, err := contract.Encode(o)
	must(t, err)
	files[place] = content
	e.Observation.SHA256 = contract.Sum(content)
	e.Capture.Raw.SHA256, e.Capture.Runner, e.Capture.WorkflowRunURL = o.Capture.RawClientTranscriptSHA256, o.Capture.Runner, o.Capture.WorkflowRunURL
	e.Capture.Fixture = contract.FileRef{Path: o.Extensions.Fixture, SHA256: o.Extensions.FixtureSHA256}
	files[store.EvidenceOf(place)], err = contract.Encode(e)
	must(t, err)
	return newBundle(place, files)
}

// refixtured is a bundle with another fixture under its hash.
func refixtured(t testing.TB, b *Bundle, change func(string) string) *Bundle {
	t.Helper()
	o := &contract.Observation{}
	must(t, json.Unmarshal(b.Files[b.Manifest.Observation], o))
	was := string(b.Files[o.Extensions.Fixture])
	fixture := change(was)
	if fixture == was {
		t.Fatal("nothing to change")
	}
	out := changed(t, b, func(o *contract.Observation) { o.Extensions.FixtureSHA256 = contract.Sum([]byte(fixture)) })
	out.Files[o.Extensions.Fixture] = []byte(fixture)
	return newBundle(out.Manifest.Observation, out.Files)
}

// retold is a bundle whose observation has another text, which its evidence
// record pins: what no program that writes records would write.
func retold(t testing.TB, b *Bundle, change func(string) string) *Bundle {
	t.Helper()
	files, place := maps.Clone(b.Files), b.Manifest.Observation
	was := string(files[place])
	text := change(was)
	if text == was {
		t.Fatal("nothing to change")
	}
	e := store.EvidenceOf(place)
	files[place] = []byte(text)
	files[e] = []byte(strings.ReplaceAll(string(files[e]), string(contract.Sum([]byte(was))), string(contract.Sum([]byte(text)))))
	return newBundle(place, files)
}

// A forger knows all the rules and computes every hash anew.
func TestForgedBundles(t *testing.T) {
	b, reg := submitted(t, "chat-tool-success")
	key := "ghp_" + strings.ReplaceAll(rand.Text()+rand.Text(), "=", "")[:36]
	observation := func(change func(*contract.Observation)) func(*testing.T) *Bundle {
		return func(t *testing.T) *Bundle { return changed(t, b, change) }
	}
	with := func(place, content string) func(*testing.T) *Bundle {
		return func(t *testing.T) *Bundle {
			files := maps.Clone(b.Files)
			files[place] = []byte(content)
			return newBundle(b.Manifest.Observation, files)
		}
	}
	inEvidence := func(from, to string) func(*testing.T) *Bundle {
		e := store.EvidenceOf(b.Manifest.Observation)
		return with(e, strings.Replace(string(b.Files[e]), from, to, 1))
	}
	without := func(part string) func(*testing.T) *Bundle {
		return func(t *testing.T) *Bundle {
			files := maps.Clone(b.Files)
			maps.DeleteFunc(files, func(f string, _ []byte) bool { return strings.HasPrefix(f, part) })
			if len(files) == len(b.Files) {
				t.Fatal("nothing to leave out")
			}
			return newBundle(b.Manifest.Observation, files)
		}
	}
	for name, forge := range map[string]func(*testing.T) *Bundle{
		"level community_confirmed": observation(func(o *contract.Observation) { o.ValidityLevel = contract.LevelCommunityConfirmed }),
		"level confirmed":           observation(func(o *contract.Observation) { o.ValidityLevel = contract.LevelConfirmed }),
		"level server_variant":      observation(func(o *contract.Observation) { o.ValidityLevel = contract.LevelServerVariant }),
		"level of a mock":           observation(func(o *contract.Observation) { o.ValidityLevel = contract.LevelSyntheticMock }),
		"level of the shape": func(t *testing.T) *Bundle {
			o := &contract.Observation{}
			must(t, json.Unmarshal(b.Files[b.Manifest.Observation], o))
			return with(o.Shape.Path, strings.Replace(string(b.Files[o.Shape.Path]), "runtime_observed", "community_confirmed", 1))(t)
		},
		"another version":  observation(func(o *contract.Observation) { o.CLIVersion = "99.0.0" }),
		"another agent":    observation(func(o *contract.Observation) { o.Agent = "claude" }),
		"an unknown agent": observation(func(o *contract.Observation) { o.Agent = "mallory" }),
		"another probe":    observation(func(o *contract.Observation) { o.Probe = "chat-text-success" }),
		"an old probe":     observation(func(o *contract.Observation) { o.Extensions.ProbeRevision = contract.Sum([]byte("x")) }),
		"another dialect":  observation(func(o *contract.Observation) { o.Extensions.Dialect = "gemini" }),
		"another result":   observation(func(o *contract.Observation) { o.Extensions.RunResult = "failed" }),
		"another reading":  observation(func(o *contract.Observation) { o.ParserReplay.Status = contract.ReplayIncompatible }),
		"a reading of readers that nobody has": observation(func(o *contract.Observation) {
			o.ParserReplay.Status, o.Extensions.Readers = contract.ReplayIncompatible, "mallory@1"
		}),
		"a shape of another normalizer": observation(func(o *contract.Observation) { o.Extensions.Normalizer = "9.9.9" }),
		"another exit code":             observation(func(o *contract.Observation) { code := 3; o.Extensions.ExitCode = &code }),
		"a broken expectation": observation(func(o *contract.Observation) {
			o.Extensions.Violations = []contract.ContractViolation{{Kind: "must_see", Path: "/must_see/0", Expected: "at least one done", Actual: "none"}}
		}),
		"weak success":      observation(func(o *contract.Observation) { o.Extensions.WeakSuccess = true }),
		"redaction failed":  observation(func(o *contract.Observation) { o.Redaction.Status = contract.RedactionFailed }),
		"another signature": observation(func(o *contract.Observation) { o.Shape.Signature = contract.Sum([]byte("x")) }),
		"from the future": observation(func(o *contract.Observation) {
			o.Capture.CapturedAt = time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)
		}),
		"a fixture elsewhere": observation(func(o *contract.Observation) { o.Extensions.Fixture = "../../etc/passwd" }),
		"no fixture":          observation(func(o *contract.Observation) { o.Extensions.Fixture, o.Extensions.FixtureSHA256 = "", "" }),
		"a secret in a name":  observation(func(o *contract.Observation) { o.Capture.Runner = key }),
		"a mail address":      observation(func(o *contract.Observation) { o.Extensions.Findings = []string{"ask jane.roe@" + "corp-mail.net"} }),
		"a secret in the text": func(t *testing.T) *Bundle {
			return refixtured(t, b, func(s string) string { return strings.Replace(s, "<text:", key+"<text:", 1) })
		},
		"what was never redacted": func(t *testing.T) *Bundle {
			return refixtured(t, b, func(s string) string {
				return strings.Replace(s, "<text:1>", "the quarterly figures of our customer", 1)
			})
		},
		"a fixture in another form": func(t *testing.T) *Bundle {
			return refixtured(t, b, func(s string) string { return strings.Replace(s, `{"dir"`, `{ "dir"`, 1) })
		},
		"another runner in the evidence": with(store.EvidenceOf(b.Manifest.Observation),
			strings.Replace(string(b.Files[store.EvidenceOf(b.Manifest.Observation)]), `"runner": "`, `"runner": "x`, 1)),
		"a member twice": func(t *testing.T) *Bundle {
			return retold(t, b, func(s string) string {
				return strings.Replace(s, `"agent": "codex"`, `"agent": "claude", "agent": "codex"`, 1)
			})
		},
		"another member": func(t *testing.T) *Bundle {
			return retold(t, b, func(s string) string {
				return strings.Replace(s, `"agent": "codex"`, `"agent": "codex", "trusted": true`, 1)
			})
		},
		"a newer schema": func(t *testing.T) *Bundle {
			return retold(t, b, func(s string) string { return strings.Replace(s, `"schema_version": 1`, `"schema_version": 2`, 1) })
		},
		"a newer schema of the evidence": inEvidence(`"schema_version": 1`, `"schema_version": 2`),
		"an attestation of its own":      inEvidence(`"capture": {`, `"attestation": {"by": "jo", "audited": "read", "raw_sha256": "`+string(contract.Sum(nil))+`", "statement": "fine"}, "capture": {`),
		"a promotion of its own":         inEvidence(`"kind": "capture"`, `"kind": "promotion"`),
		"very deep JSON": func(t *testing.T) *Bundle {
			return retold(t, b, func(s string) string {
				return strings.Replace(s, `"agent": "codex"`, `"agent": "codex", "x": `+strings.Repeat("[", 1e6)+strings.Repeat("]", 1e6), 1)
			})
		},
		"a very deep golden": with(goldenOf(t, b), strings.Repeat(`{"a":`, 1e6)+"1"+strings.Repeat("}", 1e6)),
		"a very deep frame": func(t *testing.T) *Bundle {
			return refixtured(t, b, func(s string) string {
				return strings.Replace(s, `\"<id:1>\"`, strings.Repeat("[", 1e6)+strings.Repeat("]", 1e6), 1)
			})
		},
		"bytes that are no text": func(t *testing.T) *Bundle {
			return refixtured(t, b, func(s string) string { return strings.Replace(s, "<text:1>", "\xff\xfe", 1) })
		},
		"no evidence":                     without("evidence/"),
		"no shape":                        without("shapes/"),
		"no fixture file":                 without("fixtures/"),
		"no golden":                       without("goldens/"),
		"a file more":                     with("registry/policy.json", "{}"),
		"a withdrawal beside":             with("evidence/codex/0.133.0/linux-x64/2027-01-01T000000.000Z.chat-tool-success.evidence.json", "{}"),
		"a golden of its own":             with(goldenOf(t, b), "{}"),
		"an evidence record that is none": with(store.EvidenceOf(b.Manifest.Observation), "{}"),
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			before := everything(t, reg)
			a, asked := acceptor(t, reg, true)
			_, err := a.Accept(t.Context(), forge(t), Contributor{})
			var refused *RefusedError
			var none *BundleError
			if !errors.As(err, &refused) && !errors.As(err, &none) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "quarterly") {
				t.Errorf("the error quotes it: %v", err)
			}
			if *asked > 0 || len(onlyAdded(t, before, everything(t, reg))) > 0 {
				t.Error("somebody was asked, or something was written")
			}
		})
	}
}

func goldenOf(t testing.TB, b *Bundle) string {
	t.Helper()
	o := &contract.Observation{}
	must(t, json.Unmarshal(b.Files[b.Manifest.Observation], o))
	return o.Extensions.ReferenceGolden
}
