package site

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// chip is a status as people see it: a colour, a sign and a word, each of which
// would do alone.
type chip struct {
	Tone string // good, warn, bad or none: a class of the style sheet
	Sign string
	Word string
}

// chipOf shows a support status. The tone is the policy's, which people may
// have overridden.
func chipOf(s contract.SupportStatus, allow contract.AllowRun) chip {
	c := chip{Word: statusWords[s]}
	if c.Word == "" {
		c.Word = strings.ReplaceAll(string(s), "_", " ")
	}
	switch {
	case allow == contract.AllowRunAllow:
		c.Tone, c.Sign = "good", "✓"
	case allow == contract.AllowRunBlock:
		c.Tone, c.Sign = "bad", "✕"
	case s == contract.SupportUnknown:
		c.Tone, c.Sign = "none", "?"
	default:
		c.Tone, c.Sign = "warn", "!"
	}
	return c
}

var statusWords = map[contract.SupportStatus]string{
	contract.SupportLocalShapeVerified:    "verified here",
	contract.SupportVersionRangeVerified:  "verified",
	contract.SupportServerVariantPossible: "server variants",
	contract.SupportNewerThanVerified:     "newer than verified",
	contract.SupportTooOld:                "too old",
	contract.SupportKnownBreaking:         "known to break",
	contract.SupportKnownBreakingShape:    "shape known to break",
	contract.SupportActiveShapeUnknown:    "shape unknown",
	contract.SupportUnknown:               "not verified",
}

// readingChip shows what the consumer makes of a shape.
func readingChip(s contract.ReplayStatus) chip {
	switch s {
	case contract.ReplayCompatible:
		return chip{"good", "✓", "loses nothing"}
	case contract.ReplayIncompatible:
		return chip{"bad", "✕", "loses something"}
	}
	return chip{"none", "–", "not read"}
}

// fresh is the freshness clock of an agent: the newest capture and until when
// it counts as fresh. The reader's browser says how much of it is left.
type fresh struct {
	At, Until string // RFC 3339; Until is "" where the agent has no limit
}

func freshness(agent *contract.Agent, at string) fresh {
	f := fresh{At: at}
	if t, err := time.Parse(time.RFC3339, at); err == nil && agent.FreshnessDays > 0 {
		f.Until = t.AddDate(0, 0, agent.FreshnessDays).UTC().Format(time.RFC3339)
	}
	return f
}

// day spells a time's date for people.
func day(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return t.UTC().Format("2 Jan 2006")
}

// clock spells a time for people, to the minute.
func clock(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

// percent spells a share.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", share*100) }

// count spells a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// plain spells an identifier as words.
func plain(id any) string { return strings.ReplaceAll(fmt.Sprint(id), "_", " ") }

// tierWords say how much coverage an agent is due.
var tierWords = []string{"Tier 0: complete coverage", "Tier 1: every basic probe", "Tier 2: what can be had"}

// profileWords say how a profile starts an agent.
func profileWords(profile string) string {
	switch profile {
	case contract.ProfileProduction:
		return "as OpenDesign does"
	case contract.ProfileCompatible:
		return "as the release accepts"
	case "acp":
		return "over ACP"
	case "strict":
		return "over ACP, strict client"
	}
	return "in profile " + profile
}
