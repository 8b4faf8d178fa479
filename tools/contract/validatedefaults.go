package contract

import (
	"cmp"
	"reflect"
	"sync"
)

// newRecord returns a pointer to an empty struct for the kind, or nil if there
// is none.
func newRecord(kind RecordKind) any {
	switch kind {
	case KindObservation:
		return new(Observation)
	case KindSourceEvidence:
		return new(SourceEvidence)
	case KindShape:
		return new(Shape)
	case KindSupportMatrix:
		return new(SupportMatrix)
	case KindErrorCase:
		return new(ErrorCase)
	case KindEvidence:
		return new(Evidence)
	case KindRequest:
		return new(Request)
	case KindAnswer:
		return new(Answer)
	case KindPolicy:
		return new(Policy)
	case KindLatestSeen:
		return new(LatestSeen)
	case KindDriftIgnores:
		return new(DriftIgnores)
	case KindDriftReport:
		return new(DriftReport)
	case KindAliases:
		return new(Aliases)
	case KindAgents:
		return new(AgentsFile)
	case KindProbe:
		return new(EnvPolicy)
	case KindScenario:
		return new(Scenario)
	case KindExpectation:
		return new(Expectation)
	case KindFamilies:
		return new(Families)
	case KindReleases:
		return new(Releases)
	case KindIncidents:
		return new(Incidents)
	case KindCompatibility:
		return new(CompatibilityResponse)
	}
	return nil
}

// kindOfType returns the kind of the record that a struct pointer is for.
func kindOfType(v any) (RecordKind, bool) {
	kind, ok := kindsOfTypes()[reflect.TypeOf(v)]
	return kind, ok
}

var kindsOfTypes = sync.OnceValue(func() map[reflect.Type]RecordKind {
	out := map[reflect.Type]RecordKind{}
	for _, kind := range RecordKinds {
		if r := newRecord(kind); r != nil {
			out[reflect.TypeOf(r)] = kind
		}
	}
	return out
})

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
