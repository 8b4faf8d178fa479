package run

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// ledger notes whether the run wrote an artifact: a web page, picture, sound
// or film, or a DESIGN.md, by a tool call that did not fail.
type ledger struct {
	artifact bool
	pending  map[string]string // paths by the id of the call
}

var writers = map[string]bool{
	"Write": true, "create_file": true, "Edit": true, "str_replace_edit": true, "MultiEdit": true, "multi_edit": true,
}

var artifactExtensions = map[string]bool{
	".html": true, ".htm": true, ".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".avif": true,
	".svg": true, ".mp4": true, ".mov": true, ".webm": true, ".mp3": true, ".wav": true, ".m4a": true,
}

func (l *ledger) see(e event.Event) {
	switch e.Type() {
	case "tool_use":
		if !writers[e.Get("name").Str()] || e.Get("id").Str() == "" {
			return
		}
		if p := writtenPath(e.Get("input")); p != "" {
			if l.pending == nil {
				l.pending = map[string]string{}
			}
			l.pending[e.Get("id").Str()] = p
		}
	case "tool_result":
		id := e.Get("toolUseId").Str()
		p, ok := l.pending[id]
		if !ok {
			return
		}
		delete(l.pending, id)
		l.artifact = l.artifact || !e.Get("isError").True() && isArtifact(p)
	}
}

func writtenPath(input event.Value) string {
	v, err := rawjson.Parse([]byte(input.JSON()))
	if err != nil {
		return ""
	}
	if p := v.Get("file_path").Str(); p != "" {
		return p
	}
	return v.Get("path").Str()
}

func isArtifact(p string) bool {
	p = strings.ToLower(p)
	if dot := strings.LastIndexByte(p, '.'); dot >= 0 && artifactExtensions[p[dot:]] {
		return true
	}
	return p == "design.md" || strings.HasSuffix(p, "/design.md")
}
