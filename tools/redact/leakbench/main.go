// Command leakbench measures the leak scan beside gitleaks in one run: recall
// over token kinds and the forms in which they travel, what is found in
// transcripts without secrets, and speed.
//
//	go run ./tools/redact/leakbench --seed 1 --each 5
//
// Without agent-contracts-gitleaks (docs/REDACTION.md) it measures the scan
// alone. Stdout is Markdown.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leakgate"
)

type options struct {
	seed, each uint
	fixtures   string
	megabytes  int
}

func main() {
	var o options
	flag.UintVar(&o.seed, "seed", 1, "seed of the secrets")
	flag.UintVar(&o.each, "each", 5, "secrets of each kind; 0: no recall")
	flag.StringVar(&o.fixtures, "fixtures", "fixtures", "folder of transcripts without secrets; empty: none")
	flag.IntVar(&o.megabytes, "speed", 0, "megabytes of the transcript that is timed; 0: none")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "leakbench:", err)
		os.Exit(1)
	}
}

func run(o options, out io.Writer) error {
	b := &bench{options: o, scanner: leak.NewScanner(nil), out: out}
	if program := leakgate.Find(os.Getenv); program != "" {
		var err error
		if b.second, err = leakgate.Start(program); err != nil {
			return err
		}
		defer b.second.Close()
	}
	if o.each > 0 {
		if err := b.recall(); err != nil {
			return err
		}
	}
	if o.fixtures != "" {
		if err := b.clean(); err != nil {
			return err
		}
	}
	if o.megabytes > 0 {
		return b.speed()
	}
	return nil
}
