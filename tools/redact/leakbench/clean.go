package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// clean counts the frames of transcripts without secrets in which something is
// found.
func (b *bench) clean() error {
	frames, ours, theirs := 0, 0, 0
	err := filepath.WalkDir(b.fixtures, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		frames += bytes.Count(text, []byte("\n"))
		lines := map[int]bool{}
		for _, f := range b.scanner.Scan(text) {
			lines[f.Line] = true
		}
		ours += len(lines)
		if b.second == nil {
			return nil
		}
		found, err := b.second.Judge("", text)
		if err != nil {
			return err
		}
		clear(lines)
		for _, f := range found.Findings {
			lines[f.Line] = true
		}
		theirs += len(lines)
		return nil
	})
	if err != nil {
		return err
	}
	share := func(n int) string { return fmt.Sprintf("%d (%.4f %%)", n, 100*float64(n)/float64(max(frames, 1))) }
	second := "not run"
	if b.second != nil {
		second = share(theirs)
	}
	fmt.Fprintf(b.out, "| frames without a secret | taken for one by the leak scan | by gitleaks |\n|---|---|---|\n| %d | %s | %s |\n\n", frames, share(ours), second)
	return nil
}

// speed scans one long transcript, mostly tool output, as long sessions are.
func (b *bench) speed() error {
	text := session(b.megabytes << 20)
	runtime.GC()
	before, started := processorTime(), time.Now()
	b.scanner.Scan(text)
	ours, wall := processorTime()-before, time.Since(started).Seconds()
	mb := float64(len(text)) / 1e6
	fmt.Fprintf(b.out, "| %.0f MB | processor seconds | MB a processor second | wall |\n|---|---|---|---|\n| leak scan | %.2f | %.1f | %.2f s |\n", mb, ours, mb/ours, wall)
	if b.second == nil {
		return nil
	}
	started = time.Now()
	found, err := b.second.Judge("", text)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.out, "| gitleaks | %.2f | %.1f | %.2f s |\n| ratio | %.1f | | %.1f |\n", found.Seconds, mb/found.Seconds, time.Since(started).Seconds(),
		found.Seconds/ours, time.Since(started).Seconds()/wall)
	return err
}

func session(n int) []byte {
	var s strings.Builder
	for i := 0; s.Len() < n; i++ {
		fmt.Fprintf(&s, `{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`+"\n", i, i)
		fmt.Fprintf(&s, `{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"/bin/bash -lc 'ls -la src/part%d'","aggregated_output":%s,"exit_code":0,"status":"completed"}}`+"\n",
			i, i, encode.Quote(strings.Repeat(fmt.Sprintf("drwxr-xr-x 2 user group 4096 Jan 1 10:%02d some file name %d\n", i%60, i), 60)))
		fmt.Fprintf(&s, `{"type":"item.completed","item":{"id":"item_%d_m","type":"agent_message","text":"Step %d is done, I looked at the files and will go on with the next part of the work."}}`+"\n", i, i)
		s.WriteString(`{"type":"turn.completed","usage":{"input_tokens":1840,"cached_input_tokens":256,"output_tokens":732}}` + "\n")
	}
	return []byte(s.String())
}
