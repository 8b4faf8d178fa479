package sourcescan

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// bundle searches bundled JavaScript, in a file or inside a program, for the
// values of discriminators: type:"x", and those that schema libraries are told. A
// bundle that nobody minified has its enumerations and schemas too.
func (s *Surface) bundle(file string, b []byte) {
	s.bundledSchemas(file, b)
	s.bundledEnums(file, b)
	s.bundledObjects(file, b)
	s.bundledWords(file, b)
}

func (s *Surface) bundledWords(file string, b []byte) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return
		}
		at += i + 1
		quote := at - 1
		end := at
		for end < len(b) && end-at <= maxWord && isWordByte(b[end]) {
			end++
		}
		if end == at || end >= len(b) || b[end] != '"' || !letter(b[at]) {
			continue
		}
		value := string(b[at:end])
		key := keyBefore(b[max(0, quote-40):quote])
		if key != "" {
			s.word(file, key, value)
		}
		at = end + 1
	}
}

const maxWord = 64

func isWordByte(c byte) bool {
	return letter(c) || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// keyBefore returns the discriminator whose value follows, or "".
func keyBefore(b []byte) string {
	b = bytes.TrimRight(b, " ")
	if len(b) == 0 || b[len(b)-1] != ':' {
		return ""
	}
	b = bytes.TrimRight(b[:len(b)-1], " \"")
	i := len(b)
	for i > 0 && (letter(b[i-1]) || b[i-1] == '_') {
		i--
	}
	if key := string(b[i:]); bundled[key] {
		return key
	}
	return ""
}

// bundled are the discriminators that say something in a bundle, where no type
// tells a protocol's "kind" or "reason" from that of anything else.
var bundled = map[string]bool{"type": true, "subtype": true, "method": true, "sessionUpdate": true, "stop_reason": true, "stopReason": true}

// bundledEnums reads the members of TypeScript enumerations as compilers write
// them, StreamEventType2["INIT"] = "init", where the name says that they name
// kinds of frames and states. Minified ones have no name.
func (s *Surface) bundledEnums(file string, b []byte) {
	const between = "\"] = \""
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(between))
		if i < 0 {
			return
		}
		member, value := at+i, at+i+len(between)
		at = value
		end := value
		for end < len(b) && end-value <= maxWord && isWordByte(b[end]) {
			end++
		}
		open := bytes.LastIndex(b[max(0, member-maxWord):member], []byte("[\""))
		if open < 0 || end == value || end >= len(b) || b[end] != '"' {
			continue
		}
		open += max(0, member-maxWord)
		if name := nameBefore(b, open); discriminates(name) {
			s.word(file, name, string(b[value:end]))
		}
	}
}

// discriminates reports whether the name of an enumeration says that its members
// name kinds of frames and states.
func discriminates(name string) bool {
	for _, suffix := range []string{"EventType", "MessageType", "Kind", "Reason", "Role", "Status", "Subtype", "Update"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// bundledObjects reads the members of a schema library's objects that have a
// name and a line for each member: zUsage = z.object({.
func (s *Surface) bundledObjects(file string, b []byte) {
	const opens = ".object({\n"
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(opens))
		if i < 0 {
			return
		}
		call := at + i
		at = call + len(opens)
		line := b[bytes.LastIndexByte(b[:call], '\n')+1 : call]
		before, library, found := bytes.Cut(line, []byte(" = "))
		name := nameBefore(before, len(before))
		if !found || name == "" || nameBefore(library, len(library)) != strings.TrimRight(string(library), "0123456789") {
			continue
		}
		indent := len(line) - len(bytes.TrimLeft(line, " ")) + 2
		for text := range bytes.Lines(b[at:]) {
			member := strings.TrimLeft(string(text), " ")
			depth := len(text) - len(member)
			if depth < indent {
				break
			}
			if field, kind, ok := strings.Cut(strings.TrimSpace(member), ": "); ok && depth == indent {
				s.field(name, file, strings.Trim(field, `"`), memberType(kind, string(library)+"."))
			}
		}
	}
}

// numbered is a name with the number that a bundler put behind it.
var numbered = lazyregexp.New(`([A-Za-z_$]\w*?)\d+\b`)

// memberType spells the type of a schema's member, an optional one as in a type
// of TypeScript.
func memberType(kind, library string) string {
	kind = strings.TrimSuffix(strings.ReplaceAll(kind, library, ""), ",")
	kind = numbered.Get().ReplaceAllString(kind, "$1")
	for _, optional := range []string{".nullish()", ".optional()"} {
		if before, ok := strings.CutSuffix(kind, optional); ok {
			return "?" + before
		}
	}
	return kind
}

// nameBefore returns the name that ends at a place, without the number that a
// bundler put behind it, or "" where none does.
func nameBefore(b []byte, end int) string {
	i := end
	for i > 0 && (letter(b[i-1]) || '0' <= b[i-1] && b[i-1] <= '9' || b[i-1] == '_' || b[i-1] == '$') {
		i--
	}
	return strings.TrimRight(string(b[i:end]), "0123456789")
}
