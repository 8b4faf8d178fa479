package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Migration turns a record of one schema version into one of another version
// that is nearer to SchemaVersion. It gets the decoded record, with numbers as
// json.Number, and may change it; it must set schema_version.
type Migration func(record map[string]any) (map[string]any, error)

// Migrations knows how to read records of other schema versions. The zero
// value knows none. Every migration needs an entry in CHANGELOG.md.
type Migrations struct {
	byVersion map[migrationKey]Migration
}

type migrationKey struct {
	kind RecordKind
	from int
}

// Register adds the migration of records of kind from one version. It refuses
// the version that this program writes, and a second migration from the same
// version.
func (m *Migrations) Register(kind RecordKind, from int, fn Migration) error {
	key := migrationKey{kind, from}
	if from == SchemaVersion || from < 1 {
		return fmt.Errorf("registering a migration of %s from version %d: only versions other than %d migrate", kind, from, SchemaVersion)
	}
	if _, ok := m.byVersion[key]; ok {
		return fmt.Errorf("registering a migration of %s from version %d: there is one already", kind, from)
	}
	if m.byVersion == nil {
		m.byVersion = map[migrationKey]Migration{}
	}
	m.byVersion[key] = fn
	return nil
}

// apply migrates the record step by step until it has SchemaVersion. It
// returns the record and "", or a sentence on why it cannot.
func (m *Migrations) apply(kind RecordKind, record map[string]any) (map[string]any, string) {
	for {
		from, ok := schemaVersion(record)
		if !ok || from == SchemaVersion {
			return record, ""
		}
		fn := m.byVersion[migrationKey{kind, from}]
		if fn == nil {
			return record, fmt.Sprintf("schema_version is %d, this program reads %d and has no migration", from, SchemaVersion)
		}
		next, err := fn(record)
		if err != nil {
			return record, fmt.Sprintf("migrating from schema_version %d: %v", from, err)
		}
		to, ok := schemaVersion(next)
		if !ok || distance(to) >= distance(from) {
			return record, fmt.Sprintf("the migration from schema_version %d does not come nearer to %d", from, SchemaVersion)
		}
		record = next
	}
}

// any reports whether there is a migration of records of the kind.
func (m *Migrations) any(kind RecordKind) bool {
	for key := range m.byVersion {
		if key.kind == kind {
			return true
		}
	}
	return false
}

func distance(version int) int { return max(version-SchemaVersion, SchemaVersion-version) }

// schemaVersion returns the record's version; false if it has none that is a
// positive integer, which the schema reports.
func schemaVersion(record map[string]any) (int, bool) {
	n, ok := record["schema_version"].(json.Number)
	if !ok {
		return 0, false
	}
	v, err := strconv.Atoi(string(n))
	return v, err == nil && v >= 1
}
