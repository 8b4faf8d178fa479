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
	effect  effect
	params  []param
}

// effect is what a verb does beside answering.
type effect int

const (
	reads  effect = iota
	starts        // it starts work
	ends          // it stops or removes something, which nothing brings back
)

var (
	agentParam  = param{name: "agent", kind: "string", about: "agent id, such as codex or claude", required: true}
	agentsParam = param{name: "agents", kind: "array", about: "agent ids; default: all"}
	runParam    = param{name: "run_id", kind: "string", about: "id of a job", required: true}
	keyParam    = param{name: "idempotency_key", kind: "string", about: "submitting the same again returns the first job", flag: "idempotency-key"}
)

// verbs are the read verbs and the job verbs.
var verbs = []verb{
	{"can_i_use", []string{"can-i-use"}, "Whether a version of a coding-agent CLI may be run: yes, no or unknown, with the evidence and the cheapest next step. Offline.", reads, []param{
		agentParam, {name: "version", kind: "string", about: "version as the CLI prints it", required: true},
		{name: "platform", kind: "string", about: "such as linux-x64; default: this machine", flag: "platform"}}},
	{"compatibility", []string{"compatibility"}, "Classify the agent CLIs that are installed on this machine against the support matrix.", reads, []param{
		{name: "agents", kind: "array", about: "agent ids; default: all that are installed"},
		{name: "probe", kind: "boolean", about: "also run the CLI once against a model provider on loopback", flag: "probe"}}},
	{"explain_claim", []string{"matrix", "--explain"}, "The chain from a claim about a version to its evidence.", reads, []param{
		agentParam, {name: "version", kind: "string", about: "version as the CLI prints it", required: true}}},
	{"compare", []string{"compare"}, "What changed between two shapes, fixtures, observations or recordings, and what it means for a reader.", reads, []param{
		{name: "a", kind: "string", about: "older side: a file of the registry or a signature", required: true},
		{name: "b", kind: "string", about: "newer side", required: true}}},
	{"explain_code", []string{"explain"}, "What a finding or rule code means and what to do about it.", reads, []param{
		{name: "code", kind: "string", about: "code; default: all of them"}}},
	{"health", []string{"health"}, "Which agents, versions and probes broke expectations, and what is worth capturing again.", reads, nil},
	{"plan", []string{"plan"}, "What to capture next, and why. Needs a registry with records.", reads, []param{agentsParam,
		{name: "platforms", kind: "array", about: "such as linux-x64; default: those with records", flag: "platform"}}},
	{"error_cases", []string{"errors"}, "The failing runs of the registry and what the consumer makes of them. Needs a registry with records.", reads, []param{
		{name: "agents", kind: "array", about: "AGENT or AGENT@VERSION; default: all"},
		{name: "disagree", kind: "boolean", about: "only those that the consumer gets wrong", flag: "disagree"}}},
	{"evidence_show", []string{"evidence", "show"}, "The chain from an observation to its raw bundle, and what was said of it.", reads, []param{
		{name: "observation", kind: "string", about: "file of an observation", required: true}}},
	{"review_list", []string{"review", "list"}, "Questions that wait for a person.", reads, nil},
	{"job_list", []string{"job", "list"}, "The newest jobs.", reads, []param{
		{name: "limit", kind: "integer", about: "how many", flag: "limit"},
		{name: "status", kind: "string", about: "only those with this status", flag: "status"}}},
	{"job_status", []string{"job", "status"}, "What a job is doing, or how it ended: branch on terminal and outcome, never on status.", reads, []param{runParam}},
	{"job_output", []string{"job", "output"}, "The console, artifacts and result of a job.", reads, []param{runParam,
		{name: "tail_chars", kind: "integer", about: "how much of the console's end", flag: "tail-chars"}}},
	{"job_logs", []string{"job", "logs"}, "The whole console of a job.", reads, []param{runParam}},
	{"job_wait", []string{"job", "wait"}, "Observe jobs for a bounded time. It never touches the work.", reads, []param{
		{name: "run_ids", kind: "array", about: "ids of jobs", required: true},
		{name: "max_wait", kind: "number", about: "seconds; 0 is one look", flag: "max-wait"},
		{name: "poll_interval", kind: "number", about: "seconds between looks", flag: "poll-interval"}}},
	{"capture", []string{"capture", "--detach"}, "Start a job that runs a real CLI through probes and records its protocol. Returns its run id at once.", starts, []param{
		{name: "agents", kind: "array", about: "AGENT or AGENT@VERSION", required: true},
		{name: "probes", kind: "array", about: "probe ids, basic or all", flag: "probe"},
		keyParam}},
	{"bisect", []string{"bisect", "--detach"}, "Start a job that finds the releases which changed an agent's protocol. Returns its run id at once.", starts, []param{agentParam,
		{name: "probes", kind: "array", about: "probe ids, basic or all", flag: "probe"},
		{name: "from", kind: "string", about: "oldest release to look at", flag: "from"},
		{name: "to", kind: "string", about: "newest release to look at", flag: "to"},
		keyParam}},
	{"discover", []string{"discover", "--detach"}, "Start a job that finds the newest release of each agent. Returns its run id at once.", starts, []param{agentsParam, keyParam}},
	{"replay_run", []string{"replay", "--run", "--all", "--detach"}, "Start a job that plays the fixtures of a registry as real processes and holds whole runs against them. Returns its run id at once.", starts, []param{
		{name: "kind", kind: "string", about: "only fixtures of this parser or dialect, such as codex", flag: "kind"}, keyParam}},
	{"campaign", []string{"campaign", "--detach"}, "Start a job that captures what plan asks for on this platform. Returns its run id at once.", starts, []param{agentsParam, keyParam}},
	{"job_kill", []string{"job", "kill"}, "Signal the processes of a job. Says whether the signal was delivered; the end is seen by job_wait.", ends, []param{runParam,
		{name: "signal", kind: "string", about: "TERM, INT or KILL", flag: "signal"}}},
	{"job_prune", []string{"job", "prune"}, "Remove the files of jobs that ended long ago. A pruned id is not_found and says when it was pruned.", ends, []param{
		{name: "older_than", kind: "string", about: "how long ago the job must have ended, such as 720h", flag: "older-than", required: true},
		{name: "dry_run", kind: "boolean", about: "only say what would be removed", flag: "dry-run"}}},
	{"job_resume", []string{"job", "resume"}, "Go on with a job that waited for an answer.", starts, []param{runParam}},
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
