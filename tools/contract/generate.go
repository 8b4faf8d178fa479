//go:build ignore

// This program writes enums_gen.go. It runs without the package, which needs
// that file.
package main

import (
	"fmt"
	"os"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract/internal/enumgen"
)

func main() {
	b, err := enumgen.Source(schemas.FS)
	if err == nil {
		err = os.WriteFile(enumgen.File, b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
