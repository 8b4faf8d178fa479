package leakgate

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

const help = "Take it out of the file and of its history, and revoke it if it is real. agent-contracts redact makes a transcript fit for publishing."

// says is what a finding of a rule comes to.
func says(rule string) string {
	if rule == leak.Unread {
		return "This cannot be read and may hold a secret"
	}
	return "This looks like a secret (" + rule + ")"
}

// uri returns the reference to a file: relative to where the command ran, or
// with its scheme.
func uri(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") { // a drive
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}

// SARIF returns the findings in the form of SARIF 2.1.0, the static analysis
// results interchange format that code hosts read, with what GitHub asks of it:
// a region with a line in every result, and texts in every rule.
func SARIF(list []Finding, version string) any {
	type object = map[string]any
	runs := []object{}
	for _, e := range []Engine{EngineLeak, EngineGitleaks} {
		var ids []string
		results := []object{}
		for _, f := range list {
			if f.Engine != e {
				continue
			}
			if !slices.Contains(ids, f.Rule) {
				ids = append(ids, f.Rule)
			}
			region := object{"startLine": f.Line}
			if f.End > f.Start {
				region["byteOffset"], region["byteLength"] = f.Start, f.End-f.Start
			}
			if f.View == viewFlattened { // its lines are not the file's, and a region there must be
				region["startLine"] = 1
			}
			place := object{"artifactLocation": object{"uri": uri(f.File)}, "region": region}
			results = append(results, object{
				"ruleId": f.Rule, "level": "error", "locations": []object{{"physicalLocation": place}},
				"message": object{"text": says(f.Rule) + ", read as " + f.View},
			})
		}
		slices.Sort(ids)
		rules := []object{}
		for _, id := range ids {
			text := object{"text": says(id)}
			rules = append(rules, object{"id": id, "shortDescription": text, "fullDescription": text, "help": object{"text": help}})
		}
		driver := object{"name": "agent-contracts " + string(e), "rules": rules}
		if e == EngineLeak {
			driver["semanticVersion"] = version
		} else if len(results) == 0 {
			continue
		}
		runs = append(runs, object{"tool": object{"driver": driver}, "results": results})
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": runs}
}
