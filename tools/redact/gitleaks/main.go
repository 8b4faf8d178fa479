// Command gitleaks gives the leak gate a second, independent opinion: the
// rules of gitleaks 8.30.1. It is a module of its own, so that the 60 modules
// that gitleaks needs stay out of the program.
//
//	go build -C tools/redact/gitleaks -tags gore2regex -o "$(go env GOPATH)/bin/agent-contracts-gitleaks" .
//
// Stdin is a sequence of texts, each behind a line {"name":"…","bytes":N};
// the name tells gitleaks what lock files and checksums are.
// Stdout has one line for each: its name, what was found and the seconds of
// processor time. No line holds a byte of a text. The marker gitleaks:allow
// switches nothing off.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/detect"
)

type header struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// finding is a place in a text: its line, from 1.
type finding struct {
	Rule string `json:"rule"`
	Line int    `json:"line"`
}

type opinion struct {
	Name     string    `json:"name"`
	Findings []finding `json:"findings"`
	Seconds  float64   `json:"cpu_seconds"`
}

// maxDecodeDepth is how many decodings (base64, hexadecimal, percent) gitleaks
// stacks.
const maxDecodeDepth = 2

func main() {
	zerolog.SetGlobalLevel(zerolog.Disabled) // its log may quote what it reads
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gitleaks:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return err
	}
	d.IgnoreGitleaksAllow = true
	d.MaxDecodeDepth = maxDecodeDepth
	r, w := bufio.NewReader(in), json.NewEncoder(out)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a header: %w", err)
		}
		var h header
		if err := json.Unmarshal(line, &h); err != nil || h.Bytes < 0 {
			return errors.New("reading a header: it is no {\"name\":…,\"bytes\":N}")
		}
		text := make([]byte, h.Bytes)
		if _, err := io.ReadFull(r, text); err != nil {
			return fmt.Errorf("reading a text: %w", err)
		}
		if err := w.Encode(judge(d, h.Name, string(text))); err != nil {
			return err
		}
	}
}

// part is how much gitleaks reads at once, as its own command does.
const part = 100_000

func judge(d *detect.Detector, name, text string) opinion {
	o := opinion{Name: name, Findings: []finding{}}
	before := processorTime()
	line := 1
	for text != "" {
		end := min(part, len(text))
		if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(text)
		}
		for _, f := range d.Detect(detect.Fragment{Raw: text[:end], FilePath: name}) {
			o.Findings = append(o.Findings, finding{Rule: f.RuleID, Line: line + f.StartLine})
		}
		line += strings.Count(text[:end], "\n")
		text = text[end:]
	}
	o.Seconds = processorTime() - before
	return o
}
