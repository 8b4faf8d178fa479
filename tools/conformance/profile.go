package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Profile says how an executable spells what the contract speaks of. Commands
// are argument lists without --machine; {run_id}, {run_ids}, {limit}, {tail},
// {max_wait}, {poll}, {status}, {notify}, {input}, {long} and {dir} are filled in.
type Profile struct {
	Name string `json:"name"`
	// Env are additional variables, Files what {dir} holds before each
	// requirement (name to content; all are executable).
	Env   map[string]string `json:"env"`
	Files map[string]string `json:"files"`

	Read          []string `json:"read"`           // a command that succeeds
	NotFound      []string `json:"not_found"`      // one that asks for a run that never was
	InvalidInput  []string `json:"invalid_input"`  // one with a flag that does not exist
	SubmitSlow    []string `json:"submit_slow"`    // work that takes minutes
	SubmitEnds    []string `json:"submit_ends"`    // work that succeeds soon
	SubmitFails   []string `json:"submit_fails"`   // work that fails soon
	SubmitInvalid []string `json:"submit_invalid"` // a submission that must be refused
	SubmitNotify  []string `json:"submit_notify"`  // like SubmitEnds, with a delivery command
	// SubmitStdin is a submission that reads SubmitStdinText before it starts
	// the work; the judge makes the executable unstartable meanwhile.
	SubmitStdin     []string `json:"submit_stdin"`
	SubmitStdinText string   `json:"submit_stdin_text"`
	// Asks is a command that asks a person when it is called on a terminal.
	Asks []string `json:"asks"`
	// SubmitSlowNotify is like SubmitSlow, with a delivery command.
	SubmitSlowNotify []string `json:"submit_slow_notify"`
	// SubmitUnreadable names an instruction file that is not there, SubmitLong
	// has an argument {long} that is as long as a system may allow.
	SubmitUnreadable []string `json:"submit_unreadable"`
	SubmitLong       []string `json:"submit_long"`
	// SubmitInput takes its instructions from the file {input}, which holds
	// InputText, and InputEdited once it is submitted. InputSeen is in the output
	// of a run that executed the first and not in that of the second.
	SubmitInput []string `json:"submit_input"`
	InputText   string   `json:"input_text"`
	InputEdited string   `json:"input_edited"`
	InputSeen   string   `json:"input_seen"`

	Status     []string `json:"status"`
	Output     []string `json:"output"`
	List       []string `json:"list"`
	ListStatus []string `json:"list_status"`
	Kill       []string `json:"kill"`
	Wait       []string `json:"wait"`

	// The names that the contract leaves open.
	ListField     string `json:"list_field"`
	EntriesField  string `json:"entries_field"`
	MaxWaitField  string `json:"max_wait_field"`
	PollField     string `json:"poll_field"`
	TerminalField string `json:"terminal_field"`
	// DeliveredField of a kill says whether a signal was delivered, AgeField of a
	// status how old a record is that is being prepared, ThresholdField of a wait
	// from which age that is not waited for.
	DeliveredField string `json:"delivered_field"`
	AgeField       string `json:"age_field"`
	ThresholdField string `json:"threshold_field"`

	// Damage replaces bytes of the executable so that a required part is gone.
	DamageFind    string `json:"damage_find"`
	DamageReplace string `json:"damage_replace"`
}

// LoadProfile reads a profile of somebody else's executable.
func LoadProfile(name string) (*Profile, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	p := &Profile{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("reading profile %s: %w", name, err)
	}
	if p.Name == "" {
		return nil, fmt.Errorf("reading profile %s: it has no name", name)
	}
	return p, nil
}

// need is an entry of a profile that a requirement cannot do without.
type need struct {
	name string
	in   func(*Profile) bool
}

func command(name string, get func(*Profile) []string) need {
	return need{name, func(p *Profile) bool { return len(get(p)) > 0 }}
}

var (
	needRead     = command("read", func(p *Profile) []string { return p.Read })
	needNotFound = command("not_found", func(p *Profile) []string { return p.NotFound })
	needInvalid  = command("invalid_input", func(p *Profile) []string { return p.InvalidInput })
	needSlow     = command("submit_slow", func(p *Profile) []string { return p.SubmitSlow })
	needEnds     = command("submit_ends", func(p *Profile) []string { return p.SubmitEnds })
	needFails    = command("submit_fails", func(p *Profile) []string { return p.SubmitFails })
	needRefused  = command("submit_invalid", func(p *Profile) []string { return p.SubmitInvalid })
	needNotify   = command("submit_notify", func(p *Profile) []string { return p.SubmitNotify })
	needStdin    = command("submit_stdin", func(p *Profile) []string { return p.SubmitStdin })
	needStatus   = command("status", func(p *Profile) []string { return p.Status })
	needOutput   = command("output", func(p *Profile) []string { return p.Output })
	needList     = command("list", func(p *Profile) []string { return p.List })
	needFilter   = command("list_status", func(p *Profile) []string { return p.ListStatus })
	needKill     = command("kill", func(p *Profile) []string { return p.Kill })
	needWait     = command("wait", func(p *Profile) []string { return p.Wait })
	needDamage   = need{"damage_find", func(p *Profile) bool { return p.DamageFind != "" }}

	needAsks       = command("asks", func(p *Profile) []string { return p.Asks })
	needSlowNotify = command("submit_slow_notify", func(p *Profile) []string { return p.SubmitSlowNotify })
	needUnreadable = command("submit_unreadable", func(p *Profile) []string { return p.SubmitUnreadable })
	needLong       = command("submit_long", func(p *Profile) []string { return p.SubmitLong })
	needInput      = need{"submit_input", func(p *Profile) bool { return len(p.SubmitInput) > 0 && p.InputSeen != "" }}
	needDelivered  = need{"delivered_field", func(p *Profile) bool { return p.DeliveredField != "" }}
	needAge        = need{"age_field", func(p *Profile) bool { return p.AgeField != "" }}
	needThreshold  = need{"threshold_field", func(p *Profile) bool { return p.ThresholdField != "" }}
)

// fill puts values into a command; {run_ids} becomes as many arguments.
func fill(args []string, values map[string]string, ids ...string) []string {
	var out []string
	for _, a := range args {
		if a == "{run_ids}" {
			out = append(out, ids...)
			continue
		}
		for k, v := range values {
			a = strings.ReplaceAll(a, "{"+k+"}", v)
		}
		out = append(out, a)
	}
	return out
}

// machine adds --machine where it is a flag of the executable's own.
func machine(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return slices.Insert(slices.Clone(args), i, "--machine")
	}
	return append(slices.Clone(args), "--machine")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
