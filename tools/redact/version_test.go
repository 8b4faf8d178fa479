package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// madeSum is what madeVersion makes of the transcripts below. Other bytes for
// the same ones need another Version: change both, and only both.
const (
	madeVersion = "1.4.0"
	madeSum     = "920b0c7e8b572845fc07ee3a4c521476d49420a2c907f8693796e41181c5c9d2"
)

// A change of the program that gives other bytes raises its version, so that an
// audit can say whose difference it is (decision 0025). Rules and vocabulary are
// of the test: those of the registry have a history of their own.
func TestVersionNamesTheBytes(t *testing.T) {
	v := &Vocabulary{SchemaVersion: 1, Groups: []VocabularyGroup{
		{ID: "a", Kind: "words", Entries: []string{"error", "cannot", "open", "for", "you", "failed", "of", "account", "org", "your", "balance", "is", "used", "the", "plan"}},
		{ID: "b", Kind: "keys", Entries: []string{"error", "message"}},
	}}
	f := &contract.Families{Dialects: []contract.Dialect{
		{ID: "frames", ProtocolFamily: contract.FamilyEvents, Transport: contract.TransportJSONL, EventType: []string{"type"}, Enums: []string{"status"}, Opaque: []string{"input"}, Redact: contract.RedactRules{
			Literals: []string{"status"}, Names: []string{"tool"}, Vocabulary: []string{"error"}, Model: []string{"text"}, Measured: []string{"ms"},
			Pieces: []contract.PieceRule{{When: contract.Match{"type": {"delta"}}, Path: "delta"}},
		}},
		{ID: "plain", ProtocolFamily: contract.FamilyPlain, Transport: contract.TransportPlain},
	}}
	r, err := New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for n, k := range walkKinds {
		for i := range f.Dialects {
			raw, cut := "", ""
			for j, p := range k.make(&made{rand.New(rand.NewPCG(uint64(n), uint64(i)))}) {
				said := around[j%len(around)].before + p.text + around[j%len(around)].after
				raw += `{"type":"a","status":` + quote(p.text) + `,"tool":` + quote(p.text) + `,"text":` + quote(said) + `,"error":` + quote(said) + `,"input":{` + quote(p.text) + `:` + quote(said) + `},"ms":12,"new":` + quote(quote(said)) + "}\n" + said + "\n" + `cannot open {"requestBody":[` + quote(said) + "]}\n"
				for s := p.text; s != ""; s = s[min(5, len(s)):] {
					cut += `{"type":"delta","delta":` + quote(s[:min(5, len(s))]) + "}\n"
				}
			}
			password := (&made{rand.New(rand.NewPCG(uint64(n), 9))}).from("aBcDeFgHiJkL", 20)
			raw += `{"type":"a","error":` + quote("DB_PASSWORD="+password) + "}\n"
			all := stdout(raw + cut)
			all.Records = append(all.Records, stream(transcript.Stderr, raw).Records...)
			for _, hermetic := range []bool{false, true} {
				out, _, err := r.Redact(all, Input{Dialect: f.Dialects[i].ID, Hermetic: hermetic})
				if err != nil {
					t.Fatal(err)
				}
				for j := range out.Records {
					h.Write(out.Records[j].Line())
				}
			}
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != madeSum || Version != madeVersion {
		t.Errorf("version %s makes %s, the test knows %s of %s: other bytes take another Version and another sum here, and one needs the other", Version, got, madeSum, madeVersion)
	}
}
