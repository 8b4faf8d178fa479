package run

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
)

// bootstrap are the lines that agent amr prints while it starts. The daemon
// shows them to nobody.
var bootstrap = jstext.Regexp(`^(?:performing one time database migration, may take a few minutes\.\.\.` +
	`|sqlite-migration:(?:done|\d+(?:\.\d+)?%?)` +
	`|database migration complete\.?` +
	`|warning:\s*opencode_server_password is not set;\s*server is unsecured\.?` +
	`|opencode server listening on http://127\.0\.0\.1:\d+/?)$`)

// shownStderr is what the daemon shows of a child's stderr: everything, but of
// amr whole lines only, without those of its start. A line ends with \n, \r or
// both.
type shownStderr struct {
	filtered bool
	line     string // not ended yet
}

func (s *shownStderr) write(text string) string {
	if !s.filtered {
		return text
	}
	s.line += text
	var shown strings.Builder
	for {
		end := strings.IndexAny(s.line, "\r\n")
		if end < 0 {
			return shown.String()
		}
		next := end + 1
		if strings.HasPrefix(s.line[end:], "\r\n") {
			next++
		}
		shown.WriteString(visible(s.line[:end], s.line[end:next]))
		s.line = s.line[next:]
	}
}

// flush gives the last line up.
func (s *shownStderr) flush() string {
	shown := visible(s.line, "")
	s.line = ""
	return shown
}

func visible(line, end string) string {
	if bootstrap().MatchString(string(jstext.Fold(jstext.Trim(line)))) {
		return ""
	}
	return line + end
}
