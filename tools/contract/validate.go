package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Validator checks single records. The zero value knows no migrations.
type Validator struct {
	Migrations Migrations
	// Lean leaves out of the records that Check gives what no rule looks at: the
	// data of an error case's events.
	Lean bool
}

// Validate checks one record with everything that can be known from the record
// alone: its spelling, its schema and the rules of its kind. It returns every
// problem, sorted; none means that the record is valid. file is only named in
// the problems. ValidateIn also applies the rules that need other files.
func Validate(kind RecordKind, file string, data []byte) []Problem {
	var v Validator
	return v.Validate(kind, file, data)
}

// Validate is the package's Validate with the validator's migrations: a record
// of another schema_version is migrated first, and the problems are those of
// the migrated record.
func (v *Validator) Validate(kind RecordKind, file string, data []byte) []Problem {
	_, findings, _, _ := v.check(kind, data, newRecord(kind))
	return problemsOf(file, findings)
}

// Checked is a record that was checked alone.
type Checked struct {
	place    string
	record   any // a pointer as newRecord makes it; nil where the text gives none
	findings []finding
	clean    bool // no member has a wrong type
}

// Check checks one record alone, for callers that need several of: its
// problems, its content, and its problems in its registry. It reads the text
// once, and keeps nothing of it.
func (v *Validator) Check(kind RecordKind, place string, data []byte) *Checked {
	return v.CheckInto(kind, place, data, newRecord(kind))
}

// CheckInto is Check with room for the record, a pointer to a zero struct of the
// kind, which is of no use to anybody else. RecordOf tells whether it is there.
func (v *Validator) CheckInto(kind RecordKind, place string, data []byte, room any) *Checked {
	c := &Checked{place: place}
	_, c.findings, c.record, c.clean = v.check(kind, data, room)
	return c
}

// OK reports whether the record alone has nothing but warnings.
func (c *Checked) OK() bool { return c.clean && !HasErrors(problemsOf(c.place, c.findings)) }

// In returns what ValidateIn does. It may be called once.
func (c *Checked) In(r Resolver) []Problem {
	findings := c.findings
	if c.record != nil {
		found := crossFindings(r, c.place, c.record)
		findings = append(slices.Clone(findings), withoutCovered(found, slices.Clone(findings))...)
	}
	return problemsOf(c.place, findings)
}

// RecordOf returns a checked record, which is shared and must not be changed;
// nil if it is of another kind or not OK.
func RecordOf[T any](c *Checked) *T {
	if out, is := c.record.(*T); is && c.OK() {
		return out
	}
	return nil
}

// ValidateIn checks a record alone and against the rest of its registry.
// place is the record's place. It returns every problem at once, sorted: a
// record with one fault is still checked for the others.
func (v *Validator) ValidateIn(r Resolver, kind RecordKind, place string, data []byte) []Problem {
	return v.Check(kind, place, data).In(r)
}

// Decode checks one record and reads it into a struct, with the
// specification's defaults for what the record leaves out. The kind follows
// from the type. With an error among the problems the record is incomplete and
// must not be used.
func Decode[T any](v *Validator, file string, data []byte) (*T, []Problem) {
	out := new(T)
	kind, ok := kindOfType(out)
	if !ok {
		return out, problemsOf(file, []finding{{"RECORD-KIND", "", fmt.Sprintf("%T is not a record type", out)}})
	}
	text, findings, record, clean := v.check(kind, data, newRecord(kind))
	problems := problemsOf(file, findings)
	if HasErrors(problems) {
		return out, problems
	}
	if made, is := record.(*T); is && clean {
		return made, problems
	}
	if err := json.Unmarshal(text, out); err != nil {
		return out, append(problems, problemsOf(file, []finding{{"SCHEMA-OTHER", "", err.Error()}})...)
	}
	setDefaults(out)
	return out, problems
}

// check returns what is wrong with one record, the record's text, which is
// data unless the record was migrated, and the record as newRecord makes it:
// nil where the kind has no struct, or the text is no JSON object of the version
// that this program reads, or a member refuses its content. clean says that no
// member had a wrong type.
func (v *Validator) check(kind RecordKind, data []byte, room any) (text []byte, findings []finding, made any, clean bool) {
	if room != nil && !v.Migrations.any(kind) && quickRead(kind, data, room, v.Lean) {
		setDefaults(room)
		return data, recordFindings(kind, room), room, true
	}
	s, err := schemaOf(kind)
	if err != nil {
		code := "SCHEMA-OTHER"
		if schemaMissing(err) {
			code = "RECORD-KIND"
		}
		return data, []finding{{code, "", err.Error()}}, nil, false
	}
	record, findings, ok := decode(kind, data)
	if !ok {
		return data, findings, nil, false
	}
	object, isObject := record.(map[string]any)
	if isObject {
		migrated, why := v.Migrations.apply(kind, object)
		if why != "" {
			return data, append(findings, finding{"SCHEMA-VERSION", "/schema_version", why}), nil, false
		}
		if v.Migrations.any(kind) {
			if data, err = json.Marshal(migrated); err != nil {
				return nil, append(findings, finding{"SCHEMA-VERSION", "", err.Error()}), nil, false
			}
			record = migrated
		}
	}
	findings = append(findings, withoutCovered(s.check(record), slices.Clone(findings))...)
	if !isObject {
		return data, findings, nil, false
	}
	if made = newRecord(kind); made == nil {
		return data, findings, nil, false
	}
	tolerable, clean := unmarshalTolerant(data, made)
	if !tolerable {
		return data, findings, nil, false
	}
	return data, append(findings, withoutCovered(recordFindings(kind, made), slices.Clone(findings))...), made, clean
}

// withoutCovered drops what was found at or below a place about which
// something more basic is known already: a misspelled number is not also out
// of range.
func withoutCovered(found, known []finding) []finding {
	if len(known) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(f finding) bool {
		return slices.ContainsFunc(known, func(k finding) bool {
			return k.pointer == f.pointer || k.pointer != "" && strings.HasPrefix(f.pointer, k.pointer+"/")
		})
	})
}

// problemsOf adds file, severity and hint, and sorts.
func problemsOf(file string, findings []finding) []Problem {
	if len(findings) == 0 {
		return nil
	}
	out := make([]Problem, len(findings))
	for i, f := range findings {
		out[i] = Problem{Code: f.code, Severity: SeverityError, File: file, Pointer: f.pointer, Message: f.message}
		if r, ok := RuleOf(f.code); ok {
			out[i].Severity, out[i].Hint = r.Severity, r.Action
		}
	}
	return SortProblems(out)
}

// recordFindings applies the rules of one kind that its schema cannot say.
func recordFindings(kind RecordKind, record any) []finding {
	rules, ok := recordRules[kind]
	if !ok {
		return nil
	}
	c := &checker{}
	rules(c, record)
	return c.findings
}

// checker collects what the rules of a kind find.
type checker struct{ findings []finding }

func (c *checker) report(code, pointer, format string, args ...any) {
	c.findings = append(c.findings, finding{code, pointer, fmt.Sprintf(format, args...)})
}

// rulesFor turns rules over a struct into rules over any record. Members of a
// wrong type, which the schema reports, are empty in the struct.
func rulesFor[T any](check func(*checker, *T)) func(*checker, any) {
	return func(c *checker, record any) { check(c, record.(*T)) }
}

// unmarshalTolerant reads a record with its defaults although some members
// have a wrong type, and then it is not clean; not tolerable if a member refuses
// its content altogether. Both are the schema's to report.
func unmarshalTolerant(text []byte, v any) (tolerable, clean bool) {
	err := json.Unmarshal(text, v)
	var wrong *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &wrong) {
		return false, false
	}
	setDefaults(v)
	return true, err == nil
}

// recordRules holds the second pass of each kind.
var recordRules = map[RecordKind]func(*checker, any){
	KindObservation:    rulesFor(checkObservation),
	KindSourceEvidence: rulesFor(checkSourceEvidence),
	KindShape:          rulesFor(checkShape),
	KindSupportMatrix:  rulesFor(checkMatrix),
	KindErrorCase:      rulesFor(checkErrorCase),
	KindEvidence:       rulesFor(checkEvidence),
	KindRequest:        rulesFor(checkRequest),
	KindAnswer:         rulesFor(checkAnswer),
	KindPolicy:         rulesFor(checkPolicy),
	KindLatestSeen:     rulesFor(checkLatestSeen),
	KindAliases:        rulesFor(checkAliases),
	KindDriftIgnores:   rulesFor(checkDriftIgnores),
	KindAgents:         rulesFor(checkItself[*AgentsFile]("AGENTS-RULE")),
	KindReleases:       rulesFor(checkItself[*Releases]("RELEASES-RULE")),
	KindIncidents:      rulesFor(checkItself[*Incidents]("INCIDENTS-RULE")),
	KindScenario:       rulesFor(checkItself[*Scenario]("SCENARIO-RULE")),
	KindExpectation:    rulesFor(checkItself[*Expectation]("EXPECTATION-RULE")),
}

// checkItself reports, under one rule, every line of a type's own Validate.
func checkItself[T interface{ Validate() error }](code string) func(*checker, T) {
	return func(c *checker, v T) {
		err := v.Validate()
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			c.report(code, "", "%s", strings.TrimSpace(line))
		}
	}
}
