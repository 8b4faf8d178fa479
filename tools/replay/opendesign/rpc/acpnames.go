package rpc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Names that tools have in daemon events.
const (
	toolEdit  = "Edit"
	toolWrite = "Write"
	toolBash  = "Bash"
	toolOther = "Other"
	toolAny   = "Tool"
	kindOther = "other"
)

// kindNames are the names of the kinds that OpenDesign knows. It trusts them
// more than a tool's own name; "other" is known and says nothing.
var kindNames = map[string]string{
	"edit": toolEdit, "patch": toolEdit, "replace": toolEdit, "update": toolEdit,
	"write": toolWrite, "create": toolWrite, "save": toolWrite,
	"read":    "Read",
	"execute": toolBash, "bash": toolBash, "shell": toolBash, "terminal": toolBash,
	"search": "Grep", "grep": "Grep", "glob": "Grep",
	"fetch": "Fetch", "web": "Fetch",
	"think": "Think", "thought": "Think", "reason": "Think", "reasoning": "Think",
	kindOther: toolOther,
}

func kindOf(u rawjson.Value) string { return jstext.Lower(trimmed(u.Get("kind"))) }

func recognizedKind(kind string) bool { return kindNames[jstext.Lower(kind)] != "" }

func writesByKind(kind string) bool {
	name := kindNames[kind]
	return name == toolEdit || name == toolWrite
}

// capital is the text with its first letter in upper case. Half of a surrogate
// pair is no letter.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r > 0xffff || r == utf8.RuneError {
		return s
	}
	return strings.ToUpper(s[:n]) + s[n:]
}

var (
	writeWords = jstext.Words("edit", "write", "create", "update", "save", "patch", "replace")
	editWords  = jstext.Words("edit", "patch", "replace")
	// titleWords are looked for in a title, in this order. A title's "update"
	// counts as writing, a kind's as editing.
	titleWords = []struct {
		name  string
		words *jstext.Patterns
	}{
		{"Grep", jstext.Words("grep", "search", "glob")},
		{toolBash, jstext.Words("bash", "shell", "execute", "terminal", "run")},
		{"Read", jstext.Words("read")},
		{toolEdit, editWords},
		{toolWrite, jstext.Words("write", "create", "save", "update")},
	}
)

// writesFile reports whether a frame calls its tool one that writes.
func writesFile(u rawjson.Value) bool {
	return writesByKind(kindOf(u)) || writeWords.Match(jstext.Fold(u.Get("title").Str()+" "+u.Get("name").Str()))
}

// toolName names the tool of one frame. Only a kind that says so makes it a
// shell.
func toolName(u rawjson.Value) string {
	kind := kindOf(u)
	byKind, known := kindNames[kind]
	name := ""
	switch own, title := trimmed(u.Get("name")), trimmed(u.Get("title")); {
	case known && kind != kindOther:
		name = byKind
	case own != "":
		name = custom(own)
	case known:
		name = byKind
	case title != "":
		name = custom(titleName(title))
	case kind != "":
		name = capital(kind)
	default:
		name = toolAny
	}
	switch name {
	case toolWrite, "create_file", toolEdit, "str_replace_edit", "MultiEdit", "multi_edit":
		return name
	}
	if !writesFile(u) || known && !writesByKind(kind) {
		return name
	}
	if editWords.Match(jstext.Fold(u.Get("title").Str() + " " + u.Get("name").Str() + " " + u.Get("kind").Str())) {
		return toolEdit
	}
	return toolWrite
}

func titleName(title string) string {
	for _, t := range titleWords {
		if t.words.Match(jstext.Fold(title)) {
			return t.name
		}
	}
	first, _ := cutSpace(title)
	return capital(first)
}

// cutSpace cuts the text at its first white space.
func cutSpace(s string) (before, after string) {
	if i := strings.IndexFunc(s, jstext.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

var plainName = jstext.Regexp(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// custom returns a name that an agent gave if it looks like one of a tool, not
// like a path or prose, and does not pretend to be a shell.
func custom(name string) string {
	if len(name) > 64 || !plainName().MatchString(name) || runsCommands(name) {
		return toolOther
	}
	return name
}

// runsCommands reports whether it is the name of a shell.
func runsCommands(name string) bool {
	return kindNames[jstext.Lower(name)] == toolBash
}

var (
	thoughtName  = jstext.Regexp(`^(think|thinking|thought|reason|reasoning)$`)
	thoughtTitle = jstext.Regexp(`^(think|thinking|thought|reason|reasoning)\b`)
)

// isThought reports whether a frame is about a thought that an agent presents
// as a tool.
func isThought(u rawjson.Value) bool {
	return kindNames[kindOf(u)] == "Think" ||
		thoughtName().MatchString(string(jstext.Fold(trimmed(u.Get("name"))))) ||
		thoughtTitle().MatchString(string(jstext.Fold(trimmed(u.Get("title")))))
}

// Ranks of the places that name a tool's file: a later frame changes the path
// only if its place ranks as high.
const (
	rankTitle = iota + 1
	rankInput
	rankLocation
)

// filePath returns the file that a frame names and the rank of the place.
func filePath(u rawjson.Value) (path string, rank int) {
	for _, key := range [...]string{"locations", "content"} {
		if list := u.Get(key); list.Kind() == rawjson.Array {
			for item := range list.Children() {
				if p := trimmed(item.Get("path")); p != "" {
					return p, rankLocation
				}
			}
		}
	}
	for _, key := range [...]string{"path", "file_path", "filename", "filePath"} {
		if p := trimmed(u.At("rawInput", key)); p != "" {
			return p, rankInput
		}
	}
	if p := pathInTitle().FindString(u.Get("title").Str()); p != "" && looksLikePath(p) {
		return p, rankTitle
	}
	return "", 0
}

var pathInTitle = jstext.Regexp(`[\w./\\-]+\.[A-Za-z0-9]+`)

// pathExtensions tell a file from another name with a dot.
var pathExtensions = strings.Fields("html htm css js ts tsx jsx mjs cjs md mdx json jsonc yaml yml toml svg png jpg " +
	"jpeg gif webp avif ico mp4 mov webm mp3 wav m4a pdf txt csv xml py go rs rb php sh bash zsh vue svelte astro scss " +
	"less map wasm")

// looksLikePath reports whether a word of a title names a file.
func looksLikePath(word string) bool {
	if word[0] == '.' || strings.ContainsAny(word, `/\`) {
		return true
	}
	dot := strings.LastIndexByte(word, '.')
	return slices.Contains(pathExtensions, jstext.Lower(word[dot+1:]))
}
