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

// ACP is the official JSON Schema of the Agent Client Protocol, version 1, as
// the npm package @agentclientprotocol/sdk ships it in the release ACPVersion
// (third_party/acp/README.md).
//
//go:embed third_party/acp/schema.json
var ACP []byte

// ACPVersion is the release of @agentclientprotocol/sdk that ACP is from.
const ACPVersion = "2.4.0"
