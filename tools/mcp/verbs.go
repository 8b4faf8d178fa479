package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// param is one input of a tool and where it goes on the command line.
type param struct {
	name     string
	kind     string // JSON Schema type; array means a list of strings
	about    string
	flag     string // "" for a positional argument
	required bool
}

// verb is a tool: a command of the program under the name that agents see.
type verb struct {
	name    string
	command []string
	about   string
	changes bool // it starts or stops something
	params  []param
}

var (
	agentParam = param{name: "agent", kind: "string", about: "agent id, such as codex or claude", required: true}
	runParam   = param{name: "run_id", kind: "string", about: "id of a job", required: true}
)

// verbs are the read verbs and the job verbs.
var verbs = []verb{
	{"can_i_use", []string{"can-i-use"}, "Whether a version of a coding-agent CLI may be run: yes, no or unknown, with the evidence and the cheapest next step. Offline.", false, []param{
		agentParam, {name: "version", kind: "string", about: "version as the CLI prints it", required: true},
		{name: "platform", kind: "string", about: "such as linux-x64; default: this machine", flag: "platform"}}},
	{"compatibility", []string{"compatibility"}, "Classify the agent CLIs that are installed on this machine against the support matrix.", false, []param{
		{name: "agents", kind: "array", about: "agent ids; default: all that are installed"},
		{name: "probe", kind: "boolean", about: "also run the CLI once against a model provider on loopback", flag: "probe"}}},
	{"explain_claim", []string{"matrix", "--explain"}, "The chain from a claim about a version to its evidence.", false, []param{
		agentParam, {name: "version", kind: "string", about: "version as the CLI prints it", required: true}}},
	{"compare", []string{"compare"}, "What changed between two shapes, fixtures, observations or recordings, and what it means for a reader.", false, []param{
		{name: "a", kind: "string", about: "older side: a file of the registry or a signature", required: true},
		{name: "b", kind: "string", about: "newer side", required: true}}},
	{"explain_code", []string{"explain"}, "What a finding or rule code means and what to do about it.", false, []param{
		{name: "code", kind: "string", about: "code; default: all of them"}}},
	{"health", []string{"health"}, "Which agents, versions and probes broke expectations, and what is worth capturing again.", false, nil},
	{"review_list", []string{"review", "list"}, "Questions that wait for a person.", false, nil},
	{"job_list", []string{"job", "list"}, "The newest jobs.", false, []param{
		{name: "limit", kind: "integer", about: "how many", flag: "limit"},
		{name: "status", kind: "string", about: "only those with this status", flag: "status"}}},
	{"job_status", []string{"job", "status"}, "What a job is doing, or how it ended: branch on terminal and outcome, never on status.", false, []param{runParam}},
	{"job_output", []string{"job", "output"}, "The console, artifacts and result of a job.", false, []param{runParam,
		{name: "tail_chars", kind: "integer", about: "how much of the console's end", flag: "tail-chars"}}},
	{"job_wait", []string{"job", "wait"}, "Observe jobs for a bounded time. It never touches the work.", false, []param{
		{name: "run_ids", kind: "array", about: "ids of jobs", required: true},
		{name: "max_wait", kind: "number", about: "seconds; 0 is one look", flag: "max-wait"},
		{name: "poll_interval", kind: "number", about: "seconds between looks", flag: "poll-interval"}}},
	{"capture", []string{"capture", "--detach"}, "Start a job that runs a real CLI through probes and records its protocol. Returns its run id at once.", true, []param{
		{name: "agents", kind: "array", about: "AGENT or AGENT@VERSION", required: true},
		{name: "probes", kind: "array", about: "probe ids, basic or all", flag: "probe"},
		{name: "idempotency_key", kind: "string", about: "submitting the same again returns the first job", flag: "idempotency-key"}}},
	{"job_kill", []string{"job", "kill"}, "Signal the processes of a job. Says whether the signal was delivered; the end is seen by job_wait.", true, []param{runParam,
		{name: "signal", kind: "string", about: "TERM, INT or KILL", flag: "signal"}}},
	{"job_resume", []string{"job", "resume"}, "Go on with a job that waited for an answer.", true, []param{runParam}},
}

// schema is the JSON Schema of a verb's input.
func (v *verb) schema() map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range v.params {
		s := map[string]any{"type": p.kind, "description": p.about}
		if p.kind == "array" {
			s["items"] = map[string]any{"type": "string"}
		}
		props[p.name] = s
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}

// args makes the command line. What an agent says can never be taken for a flag:
// flags carry their value in one word, and positional words come after "--".
func (v *verb) args(input json.RawMessage) ([]string, error) {
	given := map[string]any{}
	if len(input) > 0 {
		if err := json.Unmarshal(input, &given); err != nil {
			return nil, fmt.Errorf("the arguments are no JSON object")
		}
	}
	out, words := slices.Clone(v.command), []string{}
	for _, p := range v.params {
		value, found := given[p.name]
		delete(given, p.name)
		if !found || value == nil {
			if p.required {
				return nil, fmt.Errorf("%s is missing", p.name)
			}
			continue
		}
		list, err := p.words(value)
		if err != nil {
			return nil, err
		}
		if p.flag == "" {
			words = append(words, list...)
		} else {
			out = append(out, "--"+p.flag+"="+strings.Join(list, ","))
		}
	}
	for name := range given {
		return nil, fmt.Errorf("unknown argument %q", name)
	}
	return append(append(out, "--"), words...), nil
}

func (p *param) words(value any) ([]string, error) {
	wrong := fmt.Errorf("%s: want %s", p.name, p.kind)
	switch v := value.(type) {
	case string:
		if p.kind == "string" {
			return []string{v}, nil
		}
	case bool:
		if p.kind == "boolean" {
			return []string{strconv.FormatBool(v)}, nil
		}
	case float64:
		if p.kind == "number" || p.kind == "integer" && v == float64(int64(v)) {
			return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
		}
	case []any:
		if p.kind != "array" {
			return nil, wrong
		}
		var out []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return nil, wrong
			}
			out = append(out, s)
		}
		return out, nil
	}
	return nil, wrong
}
