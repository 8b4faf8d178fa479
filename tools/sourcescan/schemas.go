package sourcescan

import (
	"bytes"
	"iter"
)

// bundledSchemas reads the texts that a schema library lets a value be: the
// arguments of enum(["a", "b"]), of literal("a"), and of the literals at the head
// of a union([…]). A minifier shortens the library's name to anything, but keeps
// those of its functions and of members of objects. A value is named by the member
// that it is of, status:busy, and where it has none by the function.
func (s *Surface) bundledSchemas(file string, b []byte) {
	var libraries map[string]bool
	known := func(library string) bool { // looking takes a while, and most files have none
		if libraries == nil {
			libraries = schemaLibraries(b)
		}
		return libraries[library]
	}
	add := func(key, function string, values []string) {
		if key == "" {
			key = function
		}
		for _, v := range values {
			s.word(file, key, v)
		}
	}
	inUnion := map[int]bool{}
	for c := range calls(b, "union(") {
		if key := member(b, c.at); key != "" && (c.library != "" || known("")) {
			add(key, "", literals(b, c, inUnion))
		}
	}
	for c := range calls(b, "literal(") {
		if !inUnion[c.args] && (c.library != "" || known("")) {
			values, _ := texts(b, c.args)
			add(member(b, c.at), "literal", values)
		}
	}
	for c := range calls(b, "enum(") {
		if values, _ := texts(b, c.args); len(values) > 0 && known(c.library) {
			add(member(b, c.at), "enum", values)
		}
	}
}

// schemaLibraries finds the names under which a file has a schema library, "" for
// functions by themselves: those that make an object and a string of it too. Other
// things have a method enum or function literal.
func schemaLibraries(b []byte) map[string]bool {
	out, objects := map[string]bool{}, map[string]bool{}
	for c := range calls(b, "object(") {
		if c.args < len(b) && b[c.args] == '{' {
			objects[c.library] = true
		}
	}
	for c := range calls(b, "string(") {
		if c.args < len(b) && b[c.args] == ')' && objects[c.library] {
			out[c.library] = true
		}
	}
	return out
}

// call is a call of a function that a schema library may have.
type call struct {
	at      int    // where z.enum( begins
	args    int    // behind its parenthesis
	library string // z; "" for a function by itself
}

// calls finds z.enum(, enum( and _enum(: a bundler that takes a library apart
// puts the line before a word of the language.
func calls(b []byte, function string) iter.Seq[call] {
	return func(yield func(call) bool) {
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte(function))
			if i < 0 {
				return
			}
			c := call{at: at + i, args: at + i + len(function)}
			at = c.args
			if function == "enum(" && c.at > 0 && b[c.at-1] == '_' {
				c.at--
			}
			if c.at > 0 && b[c.at-1] == '.' {
				begin := c.at - 1
				for begin > 0 && isNameByte(b[begin-1]) {
					begin--
				}
				if c.library = string(b[begin : c.at-1]); c.library == "" {
					continue // of what a call returned
				}
				for c.at = begin; c.at > 0 && (isNameByte(b[c.at-1]) || b[c.at-1] == '.'); {
					c.at--
				}
			} else if c.at > 0 && isNameByte(b[c.at-1]) {
				continue // the end of another name
			}
			if !yield(c) {
				return
			}
		}
	}
}

func isNameByte(c byte) bool { return letter(c) || '0' <= c && c <= '9' || c == '_' || c == '$' }

// member returns the name of the member whose value begins at a place, or "": it
// stands behind the brace or the comma of an object. A condition has neither
// before its second half, x ? a : b.
func member(b []byte, at int) string {
	b = trimmed(b[:at])
	if len(b) == 0 || b[len(b)-1] != ':' {
		return ""
	}
	b = trimmed(b[:len(b)-1])
	quote := byte(0)
	if len(b) > 0 && isQuote(b[len(b)-1]) {
		quote, b = b[len(b)-1], b[:len(b)-1]
	}
	i := len(b)
	for i > 0 && isNameByte(b[i-1]) {
		i--
	}
	name := string(b[i:])
	b = b[:i]
	if quote != 0 {
		if len(b) == 0 || b[len(b)-1] != quote {
			return ""
		}
		b = b[:len(b)-1]
	}
	b = trimmed(b)
	if len(name) > maxWord || name == "" || !letter(name[0]) || len(b) == 0 || b[len(b)-1] != '{' && b[len(b)-1] != ',' {
		return ""
	}
	return name
}

func trimmed(b []byte) []byte { return bytes.TrimRight(b, " \t\r\n") }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// literals returns the values of the literals at the head of a union, and notes
// which calls they are.
func literals(b []byte, union call, seen map[int]bool) []string {
	callee := append(bytes.Clone(b[union.at:union.args-len("union(")]), "literal("...)
	var out []string
	at := space(b, union.args)
	if at == len(b) || b[at] != '[' {
		return nil
	}
	for {
		at = space(b, at+1)
		if !bytes.HasPrefix(b[at:], callee) {
			return out
		}
		at += len(callee)
		values, end := texts(b, at)
		if len(values) == 0 || b[end] != ')' {
			return out
		}
		seen[at] = true
		out = append(out, values...)
		if at = space(b, end+1); at == len(b) || b[at] != ',' {
			return out
		}
	}
}

// maxCall bounds the texts of one call.
const maxCall = 64 << 10

// texts reads a call's first argument, one text or a list of nothing but texts:
// "a", or ["a", 'b', `c`]. It returns those that are words, and the place behind;
// of anything else nothing.
func texts(b []byte, at int) (words []string, end int) {
	b = b[:min(len(b), at+maxCall)]
	list := false
	if at = space(b, at); at < len(b) && b[at] == '[' {
		list, at = true, space(b, at+1)
	}
	for at < len(b) && isQuote(b[at]) {
		n := bytes.IndexByte(b[at+1:], b[at])
		if n < 0 || bytes.ContainsAny(b[at+1:at+1+n], "\\\n") || b[at] == '`' && bytes.IndexByte(b[at+1:at+1+n], '$') >= 0 {
			return nil, 0
		}
		if value := b[at+1 : at+1+n]; isWord(value) {
			words = append(words, string(value))
		}
		at = space(b, at+n+2)
		if !list || at == len(b) || b[at] != ',' {
			break
		}
		at = space(b, at+1)
	}
	if list {
		if at == len(b) || b[at] != ']' {
			return nil, 0
		}
		at = space(b, at+1)
	}
	if at == len(b) || b[at] != ')' && b[at] != ',' {
		return nil, 0
	}
	return words, at
}

func isWord(b []byte) bool {
	if len(b) == 0 || len(b) > maxWord || !letter(b[0]) {
		return false
	}
	for _, c := range b {
		if !isWordByte(c) {
			return false
		}
	}
	return true
}

// space returns the place of what follows white space, at most the end.
func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}
