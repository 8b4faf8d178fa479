package compare

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// flagLine is a line of a help text that declares flags: short and long names,
// an argument, two or more spaces or a line break, and what it is for.
var (
	flagLine     = lazyregexp.New(`^\s*((?:-{1,2}[A-Za-z0-9?][\w.-]*(?:[ =][<\[]?[\w|.,:<>\]-]+)?(?:,\s*|\s*\|\s*)?)+)`)
	flagName     = lazyregexp.New(`(?:^|[\s,|])(-{1,2}[A-Za-z0-9?][\w.-]*)`)
	requiresFlag = lazyregexp.New(`(?i)\b(?:requires?|must (?:be used with|also (?:pass|use|specify))|needs|missing required (?:option|flag|argument)s?:?|used without)\s+(?:the\s+)?["'` + "`" + `]?(--[A-Za-z0-9][\w-]*)`)
	isRequired   = lazyregexp.New(`(?i)["'` + "`" + `]?(--[A-Za-z0-9][\w-]*)["'` + "`" + `]?\s+(?:flag\s+|option\s+)?(?:is|are)\s+(?:now\s+)?required`)
	deprecated   = lazyregexp.New(`(?i)\bdeprecated\b`)
)

// Help compares the older and the newer help text of a CLI.
func Help(a, b string, family contract.ProtocolFamily) Result {
	c := &comparison{dialect: &contract.Dialect{}, family: family, signals: map[contract.Digest]*Signal{}}
	from, to := Flags(a), Flags(b)
	for name, f := range to {
		old, known := from[name]
		switch {
		case !known:
			c.add(Signal{ID: FlagAdded, To: name})
		case f.Deprecated && !old.Deprecated:
			c.add(Signal{ID: FlagDeprecated, To: name})
		}
	}
	for name := range from {
		if _, ok := to[name]; !ok {
			c.add(Signal{ID: FlagRemoved, From: name})
		}
	}
	r := Result{Verdict: contract.VerdictSameShape, Signals: c.sorted()}
	if len(r.Signals) > 0 {
		r.Verdict = contract.VerdictCompatibleNewShape
	}
	if r.Breaking() {
		r.Verdict = contract.VerdictParserIncompatible
	}
	return r
}

// Flag is what a help text says of a command-line flag.
type Flag struct{ Deprecated bool }

// Flags reads the long flags of a help text, and short ones that have no long
// name. The text after a flag up to the next one belongs to it.
func Flags(help string) map[string]Flag {
	out := map[string]Flag{}
	var last []string
	for line := range strings.Lines(help) {
		head := flagLine.Get().FindString(line)
		if head != "" {
			last = flagNames(head)
			for _, n := range last {
				if _, seen := out[n]; !seen {
					out[n] = Flag{}
				}
			}
		}
		if strings.TrimSpace(line) == "" {
			last = nil
		}
		if deprecated.Get().MatchString(line) {
			for _, n := range last {
				out[n] = Flag{Deprecated: true}
			}
		}
	}
	return out
}

func flagNames(head string) []string {
	var long, short []string
	for _, m := range flagName.Get().FindAllStringSubmatch(head, -1) {
		name := strings.TrimRight(m[1], ".-")
		if strings.HasPrefix(name, "--") {
			long = append(long, name)
		} else {
			short = append(short, name)
		}
	}
	if len(long) > 0 {
		return long
	}
	return short
}

// IsHelp reports whether a text looks like a help text: some of its lines
// declare long flags, and none is a JSON object.
func IsHelp(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "{") {
			return false
		}
	}
	for name := range Flags(text) {
		if strings.HasPrefix(name, "--") {
			return true
		}
	}
	return false
}

// requiredFlags returns the flags that an error text asks for.
func requiredFlags(text string) []string {
	var out []string
	for _, re := range []*regexp.Regexp{requiresFlag.Get(), isRequired.Get()} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}
