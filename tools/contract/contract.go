// Package contract holds the record types of the registry, their enums,
// canonical JSON, hashes and the schema checks. It owns what a record is and
// imports nothing of ours except the schema files; it never reads or writes a
// registry (that is package store).
//
// Rules come from the registry specification ("Registry Schema Contract") and
// from FINE-PRINT.md; types and functions name the part they implement.
package contract

// SchemaVersion is the version of every record type that this program writes.
const SchemaVersion = 1

// ToolVersion is the version of this program and of its Go package. It is
// semver; what the records say is not versioned by it.
const ToolVersion = "0.1.0"
