package conformance

import (
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// quickCLI and slowCLI stand in for a CLI as the work of jobs: the first ends at
// once, the second goes on until it is killed.
const (
	quickCLI = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'codex-cli 0.133.0'; exit 0; fi\nexit 1\n"
	slowCLI  = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'codex-cli 0.133.0'; exit 0; fi\nexec sleep 600\n"
)

// Ours is the profile of this program.
func Ours() *Profile {
	capture := func(cli, probe string, more ...string) []string {
		return append([]string{"capture", "codex", "--bin", "{dir}/" + cli, "--probe", probe, "--detach"}, more...)
	}
	return &Profile{
		Name:  "agent-contracts",
		Env:   map[string]string{"HOME": "{dir}", "XDG_STATE_HOME": "{dir}/state", "XDG_DATA_HOME": "{dir}/data", "XDG_CACHE_HOME": "{dir}/cache"},
		Files: map[string]string{"quick": quickCLI, "slow": slowCLI, "none.jsonl": ""}, // of no record

		Read:            []string{"can-i-use", "codex", "0.133.0"},
		NotFound:        []string{"job", "status", neverWas},
		InvalidInput:    []string{"job", "list", "--no-such-flag"},
		SubmitSlow:      capture("slow", "chat-text-success"),
		SubmitEnds:      capture("quick", "version-probe"),
		SubmitFails:     []string{"replay", "--run", "{dir}/none.jsonl", "--detach"},
		SubmitInvalid:   capture("quick", "no-such-probe"),
		SubmitNotify:    capture("quick", "version-probe", "--notify-cmd", "{notify}"),
		SubmitStdin:     []string{"capture", "--input", "-", "--detach"},
		SubmitStdinText: captureInput("codex"),

		Asks:             []string{"capture", "codex", "--bin", "{dir}/quick", "--probe", "version-probe", "--ask", "inline"},
		SubmitSlowNotify: capture("slow", "chat-text-success", "--notify-cmd", "{notify}"),
		SubmitUnreadable: []string{"capture", "--input", "{dir}/nothing", "--detach"},
		SubmitLong:       capture("quick", "version-probe", "--label", "{long}"),
		// Neither can be captured, which its run says with the name.
		SubmitInput: []string{"capture", "--input", "{input}", "--detach"},
		InputText:   captureInput("aider"), InputEdited: captureInput("deepseek"), InputSeen: "aider cannot be captured",

		Status:     []string{"job", "status", "{run_id}"},
		Output:     []string{"job", "output", "{run_id}", "--tail-chars", "{tail}"},
		List:       []string{"job", "list", "--limit", "{limit}"},
		ListStatus: []string{"job", "list", "--limit", "{limit}", "--status", "{status}"},
		Kill:       []string{"job", "kill", "{run_id}"},
		Wait:       []string{"job", "wait", "{run_ids}", "--max-wait", "{max_wait}", "--poll-interval", "{poll}"},

		ListField: "jobs", EntriesField: "entries", MaxWaitField: "max_wait_seconds", PollField: "poll_interval_seconds", TerminalField: "terminal",
		DeliveredField: "delivered", AgeField: "preparing_seconds", ThresholdField: "preparing_threshold_seconds",

		DamageFind: embedded("agents"), DamageReplace: embedded("nobody"),
	}
}

// embedded is how the registry in the program begins, with another name for its
// list. It is put together here so that the program holds it only once.
func embedded(name string) string {
	return fmt.Sprintf("\"%s\": [\n    {\n      \"id\": \"codex\",\n      \"name\": \"Codex CLI\"", name)
}

// captureInput is what a capture reads from --input.
func captureInput(agent string) string {
	return fmt.Sprintf(`{"agent":%q,"target_version":"0.133.0","platform":%q,"probe":"version-probe","protocol_family":"plain/v1"}`, agent, contract.HostPlatform())
}
