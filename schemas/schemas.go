// Package schemas embeds the JSON Schemas of the registry's records and data
// files. They are data: the checks are in tools/contract.
package schemas

import "embed"

// FS holds one <kind>.schema.json for each record kind (contract.RecordKind).
//
//go:embed *.json
var FS embed.FS

// BaseURI is the start of every schema's $id; the file name follows.
const BaseURI = "https://open-design-agent-contracts.invalid/schemas/"
