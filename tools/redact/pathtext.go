package redact

import (
	"strings"
)

// isExtension knows file endings that say nothing about whose file it is.
func isExtension(e string) bool {
	switch e {
	case "html", "htm", "css", "js", "jsx", "ts", "tsx", "mjs", "cjs", "md", "mdx", "json", "jsonl", "ndjson", "toml", "yaml", "yml",
		"txt", "py", "go", "rs", "rb", "sh", "bash", "zsh", "ps1", "cmd", "bat", "exe", "c", "h", "cc", "cpp", "java", "kt", "php", "vue", "svelte", "svg", "png", "jpg", "jpeg", "gif", "webp", "pdf",
		"log", "xml", "ini", "conf", "cfg", "env", "lock", "sql", "csv", "tsv", "sock", "tmp", "zip", "gz", "tgz":
		return true
	}
	return false
}

// roots classify absolute POSIX paths: h home, t temporary, s system.
var roots = []struct{ prefix, class string }{
	{"/home", "h"}, {"/Users", "h"}, {"/root", "h"},
	{"/tmp", "t"}, {"/var/tmp", "t"}, {"/var/folders", "t"}, {"/private/tmp", "t"}, {"/private/var", "t"}, {"/dev/shm", "t"},
	{"/usr", "s"}, {"/bin", "s"}, {"/sbin", "s"}, {"/etc", "s"}, {"/opt", "s"}, {"/lib", "s"}, {"/lib64", "s"},
	{"/proc", "s"}, {"/dev", "s"}, {"/sys", "s"}, {"/nix", "s"}, {"/var", "s"}, {"/System", "s"}, {"/Library", "s"}, {"/Applications", "s"},
}

// isPathByte says which bytes a path inside a text may hold. Bytes above
// ASCII belong to names too.
func isPathByte(c byte) bool {
	return pathByte[c]
}

var pathByte = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c)) || c >= 0x80 || strings.IndexByte("_-.+@~/\\$%", byte(c)) >= 0
	}
	return
}()

// pathAt returns the end of the path that starts at i, or 0. A path is
// absolute (POSIX, drive, UNC, ~), starts with ./ or ../, is a home path with
// its slashes turned to dashes, or ends in a known file extension.
func pathAt(s string, i int) int {
	if i > 0 && (isPathByte(s[i-1]) || s[i-1] == '<' || s[i-1] == ':' && (i < 2 || isAlnum(s[i-2])) && strings.HasPrefix(s[i:], "//")) {
		return 0
	}
	end := i
	for end < len(s) && (isPathByte(s[end]) || end == i+1 && s[end] == ':' && end+1 < len(s) && (s[end+1] == '\\' || s[end+1] == '/') && isLetter(s[i])) {
		end++
	}
	if next := userNameEnd(s, i, end); next > end {
		for end = next; end < len(s) && isPathByte(s[end]); {
			end++
		}
	}
	for end > i && (s[end-1] == '.' || s[end-1] == '%' || s[end-1] == '+') {
		end--
	}
	p := s[i:end]
	if strings.HasPrefix(s[end:], "://") || !isPath(p) {
		return 0
	}
	return end
}

func isPath(p string) bool {
	switch {
	case len(p) < 2:
		return p == "~"
	case p[0] == '/':
		return len(p) > 2 && p[1] != '/' && (isAlnum(p[1]) || p[1] >= 0x80 || strings.IndexByte("._-@$", p[1]) >= 0)
	case strings.HasPrefix(p, `\\`):
		return len(p) > 4 && strings.IndexByte(p[2:], '\\') > 0
	case len(p) > 3 && isLetter(p[0]) && p[1] == ':' && (p[2] == '\\' || p[2] == '/'):
		return true
	case p[0] == '~' && isLetter(p[1]) && strings.IndexByte(p, '/') > 0: // another user's home
		return true
	case strings.HasPrefix(p, "~/"), strings.HasPrefix(p, "./"), strings.HasPrefix(p, "../"):
		return true
	}
	return isSlug(p) || isEncodedHome(p) || isRelative(p)
}

// isSlug finds home paths whose separators became dashes, as CLIs name their
// project folders (case 082).
func isSlug(p string) bool {
	q := p
	if len(p) > 3 && isLetter(p[0]) && p[1] == '-' && p[2] == '-' {
		q = p[2:]
	}
	if q == "" || q[0] != '-' {
		return false
	}
	for _, h := range []string{"-home-", "-Users-", "-root-", "-users-", "-mnt-c-", "-tmp-", "-var-folders-", "-private-"} {
		if strings.HasPrefix(q, h) && len(q) > len(h) {
			return true
		}
	}
	return false
}

func isRelative(p string) bool {
	if !isAlnum(p[0]) && p[0] != '.' && p[0] != '_' {
		return false
	}
	for i := range len(p) {
		if c := p[i]; c == '@' || c == '%' || c == '$' || c == '~' {
			return false
		}
	}
	return extension(p) != "" && p[0] != '.' || strings.HasPrefix(p, ".") && strings.IndexByte(p, '/') > 1
}

// isFile says that a whole value is a path with folders and a known extension.
func isFile(v string) bool { return strings.ContainsAny(v, `/\\`) && extension(v) != "" }

// extension returns the known file extension of p with its dot, or "".
func extension(p string) string {
	i := strings.LastIndexByte(p, '.')
	if i <= 0 || !isExtension(p[i+1:]) { // none has a slash in it
		return ""
	}
	return p[i:]
}

// sanitizedPathAt returns the end of a path as mapPath writes it: /w, /w/p3,
// C:\w\p3.html, \\w\p3, p3.html. A bare pN counts only with an extension.
func sanitizedPathAt(s string, i int) int {
	j := i
	if strings.HasPrefix(s[j:], `C:\`) || strings.HasPrefix(s[j:], `C:/`) {
		j += 2
	} else if strings.HasPrefix(s[j:], `\\`) {
		j++
	}
	rooted := j < len(s) && (s[j] == '/' || s[j] == '\\')
	if strings.HasPrefix(s[j:], "./p") {
		return pathNameAt(s, j+2, true)
	}
	if rooted {
		sep := s[j]
		if j+1 >= len(s) || strings.IndexByte("whtsx", s[j+1]) < 0 {
			return 0
		}
		j += 2
		if j == len(s) || !isPathByte(s[j]) {
			return j
		}
		if s[j] != sep {
			return 0
		}
		j++
		if j == len(s) || !isPathByte(s[j]) {
			return j
		}
	}
	return pathNameAt(s, j, rooted)
}

// pathNameAt returns the end of pN, pN.ext or pN/ at j.
func pathNameAt(s string, j int, rooted bool) int {
	if j >= len(s) || s[j] != 'p' {
		return 0
	}
	d := j + 1
	for d < len(s) && isDigit(s[d]) {
		d++
	}
	if d == j+1 || d-j > 9 {
		return 0
	}
	end, ext := d, false
	if d < len(s) && s[d] == '.' {
		e := d + 1
		for e < len(s) && isAlnum(s[e]) {
			e++
		}
		if isExtension(s[d+1 : e]) {
			end, ext = e, true
		}
	}
	if !ext && !rooted {
		return 0
	}
	if end < len(s) && (s[end] == '/' || s[end] == '\\') {
		end++
	}
	for t := end; t < len(s); t++ { // a full stop may follow, a longer name may not
		if s[t] != '.' {
			if isPathByte(s[t]) {
				return 0
			}
			break
		}
	}
	return end
}

// mapPathAgain is mapPath, which remembers.
func (r *run) mapPathAgain(p string) string {
	if out, ok := r.mapped.get(p); ok {
		return out
	}
	out := r.mapPath(p)
	r.mapped.putAgain(p, out)
	return out
}

// mapPath returns the sanitized form of a path: its kind of root, a name that
// depends on the whole path, its extension and a trailing separator.
func (r *run) mapPath(p string) string {
	if sanitizedPathAt(p, 0) == len(p) {
		return p
	}
	if isSlug(p) || isEncodedHome(p) {
		return r.names.texts.keep(r.names.appendPath([]byte("/h/"), p))
	}
	sep, start := "/", ""
	switch {
	case strings.HasPrefix(p, `\\`):
		sep, start = `\`, `\`
	case len(p) > 2 && p[1] == ':':
		sep, start = p[2:3], "C:"
	}
	return r.pathWith(p, sep, start)
}

// classify returns the kind of root and what identifies the path below it. A
// path in the workspace has the same name absolute and relative.
func (r *run) classify(p string) (class, rel string) {
	for _, k := range r.known {
		if rest, ok := cutPath(p, k.path); ok {
			if k.class == "w" || rest == "" {
				return k.class, rest
			}
			return k.class, p
		}
	}
	switch {
	case strings.HasPrefix(p, `\\`):
		return "x", p
	case len(p) > 2 && p[1] == ':':
		if strings.EqualFold(p[2:min(len(p), 8)], `\users`) || strings.EqualFold(p[2:min(len(p), 8)], "/users") {
			return "h", p
		}
		return "x", p
	case p[0] != '/' && p[0] != '~':
		return "", strings.TrimPrefix(p, "./")
	}
	if p[0] == '~' {
		return "h", p
	}
	for _, root := range roots {
		if _, ok := cutPath(p, root.prefix); ok {
			return root.class, p
		}
	}
	return "x", p
}

// cutPath removes the folder dir from the start of p.
func cutPath(p, dir string) (rest string, ok bool) {
	if dir == "" || !strings.HasPrefix(p, dir) {
		return "", false
	}
	rest = p[len(dir):]
	if rest == "" {
		return "", true
	}
	if rest[0] != '/' && rest[0] != '\\' {
		return "", false
	}
	return rest[1:], true
}
