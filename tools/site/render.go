package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"path"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// view is what every template gets.
type view struct {
	Title string
	Nav   string // the part of the site that the page belongs to
	Live  bool
	Made  string // when the newest record was made
	Page  any
}

// home stands for the site's root in the templates. Pages are served below any
// address, and as files, so that each gets its own way to the root instead.
// Template data cannot contain it: a quote is escaped there.
const home = `"~/`

var functions = template.FuncMap{
	"day": day, "clock": clock, "percent": percent, "count": count, "plain": plain, "short": shortOf, "asset": assetPath,
	"versionPath": versionPath, "diffPath": diffPath, "join": strings.Join,
	"add":          func(a, b int) int { return a + b },
	"hashes":       func(d contract.Digest) string { return d.Hex() },
	"dirOf":        func(f contract.ProtocolFamily) string { return f.Dir() },
	"answer":       func(c matrix.Claim) string { return plain(c.Answer()) },
	"bar":          func(width int, shares ...float64) int { return barWidth(width, shares) },
	"slots":        func() []int { return patterned },
	"profileWords": profileWords,
	"meaning":      meaningOf, "verdictTone": verdictTone,
}

// patterned are the colours that have a pattern; the first one is plain.
var patterned = []int{2, 3, 4, 5, 6, 7, 8}

// barWidth is the part of a bar that some shares of it fill.
func barWidth(width int, shares []float64) int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	return int(sum*float64(width) + 0.5)
}

// meaningOf says what a signal means.
func meaningOf(id string) string {
	for _, r := range compare.Rules() {
		if r.ID == id {
			return r.Meaning
		}
	}
	return ""
}

// templates has one set for each page: the layout and its own. They are parsed
// when the first page is made: most commands make none.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	out := map[string]*template.Template{}
	base := template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	entries, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic("site: the templates are embedded: " + err.Error())
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		out[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+e.Name()))
	}
	return out
}

// render makes the page of a template. at is its address without the leading
// slash; "" is the first page.
func (s *Site) render(at, name, nav, title string, page any) ([]byte, error) {
	var b bytes.Buffer
	v := view{Title: title, Nav: nav, Live: s.live, Made: s.Matrix.GeneratedAt, Page: page}
	if err := templates()[name].ExecuteTemplate(&b, "layout.html", v); err != nil {
		return nil, fmt.Errorf("making the page /%s: %w", at, err)
	}
	out := bytes.ReplaceAll(b.Bytes(), []byte(home+"record/"), []byte(`"`+strings.ReplaceAll(s.recordURL, "~", rootOf(at))))
	return bytes.ReplaceAll(out, []byte(home), []byte(`"`+rootOf(at))), nil
}

// rootOf is the relative way from a page to the site's root.
func rootOf(at string) string {
	if at == "404.html" {
		return "/" // stands in for pages of any depth
	}
	if n := strings.Count(at, "/"); n > 0 {
		return strings.Repeat("../", n)
	}
	return "./"
}

// assets returns the files that pages need by their address, which has the hash
// of their content so that they can be kept for ever, and their addresses by
// name.
var assets = sync.OnceValues(readAssets)

func readAssets() (byPath map[string][]byte, names map[string]string) {
	byPath, names = map[string][]byte{}, map[string]string{}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic("site: the assets are embedded: " + err.Error())
	}
	for _, e := range entries {
		b, err := assetFiles.ReadFile("assets/" + e.Name())
		if err != nil {
			panic("site: the assets are embedded: " + err.Error())
		}
		sum := sha256.Sum256(b)
		ext := path.Ext(e.Name())
		p := "assets/" + strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:4]) + ext
		byPath[p], names[e.Name()] = b, p
	}
	return byPath, names
}

func assetPath(name string) (string, error) {
	_, names := assets()
	p, ok := names[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return p, nil
}
