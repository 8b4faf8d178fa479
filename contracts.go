// Package agentcontracts is the registry of agent CLI contracts as Go data: it
// embeds the schemas, the probes, the agents, the support matrix and the
// records, so that a program can use them without a checkout and without I/O.
//
// Embedded answers what a program asks before it starts a CLI, in less than a
// microsecond; EmbeddedContracts gives the tests of a program that reads CLIs
// what they replay. The npm package @open-design/agent-cli-contracts has the
// same questions and the same answers.
package agentcontracts

import (
	"embed"
	"io/fs"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Version is the version of the program and of this package.
const Version = contract.ToolVersion

//go:embed registry schemas/*.json all:probes
var files embed.FS

// records are what a consumer's tests are made of (docs/decisions/0017).
//
//go:embed observations evidence fixtures goldens/open-design-parser errors
var records embed.FS

// Files returns the embedded registry: registry/, schemas/ and probes/ as they
// lie in the repository.
func Files() fs.FS { return files }
