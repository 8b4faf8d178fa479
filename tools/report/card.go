package report

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Card is the body of a message to a Feishu custom bot.
type Card struct {
	// Timestamp (Unix seconds) and Sign are set by the client that has the
	// bot's secret.
	Timestamp string   `json:"timestamp,omitempty"`
	Sign      string   `json:"sign,omitempty"`
	MsgType   string   `json:"msg_type"`
	Card      cardBody `json:"card"`
}

type cardBody struct {
	Config   map[string]bool `json:"config"`
	Header   cardHeader      `json:"header"`
	Elements []cardElement   `json:"elements"`
}

type cardHeader struct {
	Title    cardText `json:"title"`
	Template string   `json:"template"` // the colour
}

type cardText struct {
	Tag     string `json:"tag"` // plain_text or lark_md
	Content string `json:"content"`
}

type cardElement struct {
	Tag     string       `json:"tag"` // div, hr, action
	Text    *cardText    `json:"text,omitempty"`
	Fields  []cardField  `json:"fields,omitempty"`
	Actions []cardButton `json:"actions,omitempty"`
}

type cardField struct {
	IsShort bool     `json:"is_short"`
	Text    cardText `json:"text"`
}

type cardButton struct {
	Tag  string   `json:"tag"`
	Text cardText `json:"text"`
	URL  string   `json:"url"`
	Type string   `json:"type"`
}

// maxCardChanges is how many changes a card names; Feishu refuses a message of
// more than 20 KB.
const maxCardChanges = 12

var cardColours = map[contract.Verdict]string{
	contract.VerdictSameShape: "green", contract.VerdictCompatibleNewShape: "blue", contract.VerdictServerVariant: "orange",
	contract.VerdictParserIncompatible: "red", contract.VerdictRedactionFailed: "red",
}

// Card turns a summary into a message for Feishu, not signed yet.
func (s *Summary) Card() *Card {
	out := &Card{MsgType: "interactive", Card: cardBody{
		Config: map[string]bool{"wide_screen_mode": true},
		Header: cardHeader{plain(s.Title()), cardColours[s.ShapeStatus]},
	}}
	facts := cardElement{Tag: "div"}
	for _, f := range s.fields() {
		facts.Fields = append(facts.Fields, cardField{true, markdown("**" + f[0] + "**\n" + escape(f[1]))})
	}
	out.add(facts, cardElement{Tag: "hr"}, cardElement{Tag: "div", Text: ptr(markdown(s.changeList()))})
	var buttons []cardButton
	for _, b := range [][2]string{{"Contract", s.ContractURL}, {"Capture run", s.RunURL}} {
		if b[1] != "" {
			buttons = append(buttons, cardButton{"button", plain(b[0]), b[1], "default"})
		}
	}
	if len(buttons) > 0 {
		out.add(cardElement{Tag: "action", Actions: buttons})
	}
	return out
}

func (c *Card) add(e ...cardElement) { c.Card.Elements = append(c.Card.Elements, e...) }

// changeList names the new event types and changed fields.
func (s *Summary) changeList() string {
	var b strings.Builder
	b.WriteString("**Changes**")
	if len(s.Changes) == 0 {
		b.WriteString("\nnone")
	}
	for _, c := range s.Changes[:min(len(s.Changes), maxCardChanges)] {
		fmt.Fprintf(&b, "\n%s %s", icons[c.Severity], escape(short(Spell(c))))
	}
	if n := len(s.Changes) - maxCardChanges; n > 0 {
		fmt.Fprintf(&b, "\nand %d more", n)
	}
	return b.String()
}

func plain(s string) cardText    { return cardText{"plain_text", s} }
func markdown(s string) cardText { return cardText{"lark_md", s} }
func ptr[T any](v T) *T          { return &v }

// maxChange is the longest change that a card spells, in runes.
const maxChange = 160

func short(s string) string {
	r := []rune(s)
	if len(r) <= maxChange {
		return s
	}
	return string(r[:maxChange-1]) + "…"
}

// escape keeps a text from being markup: Feishu reads tags, emphasis and code.
func escape(s string) string {
	s = contract.Printable(strings.ReplaceAll(s, "\n", " "))
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "~", "&#126;", "`", "&#96;").Replace(s)
}
