// Package agentcontracts is the registry of agent CLI contracts as Go data: it
// embeds the schemas, the probes, the agents and the support matrix, so that a
// program can use them without a checkout and without I/O.
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

// Files returns the embedded registry: registry/, schemas/ and probes/ as they
// lie in the repository.
func Files() fs.FS { return files }
