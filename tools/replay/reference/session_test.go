package reference

import "testing"

// What CLIs print when the session to resume is not there; captured from the
// releases named.
func TestLostSessionTexts(t *testing.T) {
	for agent, stderr := range map[string]string{
		"codex":    "Error: thread/resume: thread/resume failed: no rollout found for thread id 0199a213-81c0-7800-8aa1-bbab2a035a53 (code -32600)\n", // 0.171.0
		"claude":   "No conversation found with session ID: 0199a213-81c0-7800-8aa1-bbab2a035a53\n",                                                   // 2.1.332
		"opencode": "\x1b[91m\x1b[1mError: \x1b[0mSession not found\n",                                                                                // 1.18.33
		"kimi":     "error: failed to run prompt: Session \"0199a213-81c0-7800-8aa1-bbab2a035a53\" not found.\n",                                      // 2.1.0
		"qwen":     "No saved session found with ID 0199a213-81c0-7800-8aa1-bbab2a035a53. Run `qwen --resume` without an ID.\n",                       // 0.24.4
		"pi":       "No session found matching '0199a213-81c0-7800-8aa1-bbab2a035a53'\n",                                                              // 1.6.0
		"copilot":  "Error: No session, task, or name matched '0199a213-81c0-7800-8aa1-bbab2a035a53'.\n",                                              // 1.0.102
		"gemini":   "Error resuming session: No previous sessions found for this project.\n",                                                          // 0.61.0
	} {
		if v := classifyStderr(agent, []byte(stderr)); v == nil || v.Detail != "session_resume_expired" {
			t.Errorf("%s: %+v", agent, v)
		}
	}
}
