package leakgate

import (
	"fmt"
	"path/filepath"
	"slices"
)

// SARIF returns the findings in the form of SARIF 2.1.0, the static analysis
// results interchange format that code hosts read.
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
			place := object{"artifactLocation": object{"uri": filepath.ToSlash(f.File)}}
			if f.View != viewFlattened { // its lines are not the file's
				place["region"] = region
			}
			results = append(results, object{
				"ruleId": f.Rule, "level": "error", "locations": []object{{"physicalLocation": place}},
				"message": object{"text": fmt.Sprintf("looks like a secret (%s), read as %s", f.Rule, f.View)},
			})
		}
		slices.Sort(ids)
		rules := []object{}
		for _, id := range ids {
			rules = append(rules, object{"id": id})
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
