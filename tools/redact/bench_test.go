package redact

import (
	"fmt"
	"strings"
	"testing"
)

// session makes a Codex stream of about n bytes: mostly tool output and
// messages, as long sessions are.
func session(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":%s,"exit_code":0,"status":"completed"}}`+"\n",
			i, i, quote(strings.Repeat(fmt.Sprintf("drwxr-xr-x 2 user group 4096 Jan 1 10:%02d some file name %d\n", i%60, i), 60)))
		fmt.Fprintf(&b, `{"type":"item.completed","item":{"id":"item_%d_m","type":"agent_message","text":"Step %d is done, I looked at the files and will go on with the next part of the work."}}`+"\n", i, i)
		b.WriteString(`{"type":"turn.completed","usage":{"input_tokens":1840,"cached_input_tokens":256,"output_tokens":732}}` + "\n")
	}
	return b.String()
}

func BenchmarkRedact(b *testing.B) {
	r := newRedactor(b)
	raw := stdout(session(4 << 20))
	b.SetBytes(int64(len(raw.Bytes("cli->server", "stdout"))))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Redact(raw, Input{Dialect: "codex", Cwd: "/home/user/w"}); err != nil {
			b.Fatal(err)
		}
	}
}
