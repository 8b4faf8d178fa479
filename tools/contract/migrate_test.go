package contract

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A made-up version 2 calls the runner "machine"; version 3 nests it.
func madeUpMigrations(t *testing.T) Validator {
	t.Helper()
	var v Validator
	from2 := func(r map[string]any) (map[string]any, error) {
		r["schema_version"] = json.Number("1")
		capture, ok := r["capture"].(map[string]any)
		if !ok {
			return nil, errors.New("capture is missing")
		}
		capture["runner"] = capture["machine"]
		delete(capture, "machine")
		return r, nil
	}
	from3 := func(r map[string]any) (map[string]any, error) {
		r["schema_version"] = json.Number("2")
		capture := r["capture"].(map[string]any)
		capture["machine"] = capture["machine"].(map[string]any)["name"]
		return r, nil
	}
	if err := errors.Join(v.Migrations.Register(KindObservation, 2, from2), v.Migrations.Register(KindObservation, 3, from3)); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	reg := validRegistry(t)
	place := firstOf(reg, KindObservation)
	v2 := edit(t, edit(t, edit(t, reg[place], "/schema_version", "2"), "/capture/runner", ""), "/capture/machine", `"a machine"`)
	v3 := edit(t, edit(t, v2, "/schema_version", "3"), "/capture/machine", `{"name": "a machine"}`)
	v := madeUpMigrations(t)
	for name, record := range map[string][]byte{"one step": v2, "two steps": v3} {
		o, ps := Decode[Observation](&v, place, record)
		if len(ps) > 0 {
			t.Fatalf("%s: %v", name, ps)
		}
		if o.Capture.Runner != "a machine" || o.SchemaVersion != 1 {
			t.Errorf("%s: runner %q, version %d", name, o.Capture.Runner, o.SchemaVersion)
		}
	}
	if _, ps := Decode[Observation](&v, place, reg[place]); len(ps) > 0 {
		t.Errorf("a record of version 1 stays as it is: %v", ps)
	}
}

func TestMigrationRefusals(t *testing.T) {
	t.Parallel()
	reg := validRegistry(t)
	observation, shape := firstOf(reg, KindObservation), firstOf(reg, KindShape)
	v := madeUpMigrations(t)
	for name, c := range map[string]struct {
		kind   RecordKind
		place  string
		record []byte
		want   string
	}{
		"no migration from 4":      {KindObservation, observation, edit(t, reg[observation], "/schema_version", "4"), "has no migration"},
		"of another kind":          {KindShape, shape, edit(t, reg[shape], "/schema_version", "2"), "has no migration"},
		"the migration fails":      {KindObservation, observation, edit(t, edit(t, reg[observation], "/schema_version", "2"), "/capture", ""), "capture is missing"},
		"huge version":             {KindObservation, observation, edit(t, reg[observation], "/schema_version", "900000000000000"), "has no migration"},
		"what it gives is invalid": {KindObservation, observation, edit(t, edit(t, reg[observation], "/schema_version", "2"), "/capture/machine", "7"), "want string"},
	} {
		ps := v.Validate(c.kind, c.place, c.record)
		if len(ps) != 1 || !strings.Contains(ps[0].Message, c.want) {
			t.Errorf("%s: %v, want one problem with %q", name, ps, c.want)
		}
	}
	same := func(r map[string]any) (map[string]any, error) { return r, nil }
	if v.Migrations.Register(KindObservation, 1, same) == nil || v.Migrations.Register(KindObservation, 2, same) == nil {
		t.Error("a migration from the current version, or a second one, was accepted")
	}
	if err := v.Migrations.Register(KindShape, 2, same); err != nil {
		t.Fatal(err)
	}
	if ps := v.Validate(KindShape, shape, edit(t, reg[shape], "/schema_version", "2")); len(ps) != 1 || ps[0].Code != "SCHEMA-VERSION" {
		t.Errorf("a migration that goes nowhere: %v", ps)
	}
}
