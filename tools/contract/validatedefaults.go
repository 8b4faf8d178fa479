package contract

import "cmp"

// kindOfType returns the kind of the record that a struct pointer is for.
func kindOfType(v any) (RecordKind, bool) {
	switch v.(type) {
	case *Observation:
		return KindObservation, true
	case *SourceEvidence:
		return KindSourceEvidence, true
	case *Shape:
		return KindShape, true
	case *SupportMatrix:
		return KindSupportMatrix, true
	case *ErrorCase:
		return KindErrorCase, true
	case *Evidence:
		return KindEvidence, true
	case *Request:
		return KindRequest, true
	case *Answer:
		return KindAnswer, true
	case *Policy:
		return KindPolicy, true
	case *LatestSeen:
		return KindLatestSeen, true
	case *Aliases:
		return KindAliases, true
	case *Families:
		return KindFamilies, true
	case *Scenario:
		return KindScenario, true
	}
	return "", false
}

// setDefaults fills in the defaults of the specification that are not the
// zero value of their field.
func setDefaults(v any) {
	switch v := v.(type) {
	case *Observation:
		v.ParserReplay.Status = cmp.Or(v.ParserReplay.Status, ReplayNotRun)
	case *SourceEvidence:
		v.CLIVersion = cmp.Or(v.CLIVersion, UnknownVersion)
	case *Shape:
		v.StderrClass = cmp.Or(v.StderrClass, "none")
	case *ErrorCase:
		v.ClassifierInput.Events = orEmpty(v.ClassifierInput.Events)
	case *SupportMatrix:
		for i := range v.Agents {
			e := &v.Agents[i]
			e.ServerVariants = orEmpty(e.ServerVariants)
			e.KnownBreakingShapes = orEmpty(e.KnownBreakingShapes)
			e.Notes = orEmpty(e.Notes)
			e.Policy.AllowRun = cmp.Or(e.Policy.AllowRun, DefaultAllowRun(e.SupportStatus))
		}
	}
}

func orEmpty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}
