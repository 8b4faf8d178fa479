package leakgate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Program is the name of the second opinion's program.
const Program = "agent-contracts-gitleaks"

// Find returns the second opinion's program: what the environment variable
// AGENT_CONTRACTS_GITLEAKS names, one beside this program, or one on the path;
// "" if there is none.
func Find(getenv func(string) string) string {
	if p := getenv("AGENT_CONTRACTS_GITLEAKS"); p != "" {
		return p
	}
	name := Program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		p := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p
		}
	}
	p, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return p
}

// Second is the running program. It gets texts on stdin, so that none of them
// is ever in a file.
type Second struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts the program. Close ends it.
func Start(program string) (*Second, error) {
	s := &Second{cmd: exec.Command(program)}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return s, nil
}

// Opinion is what the program says of one text.
type Opinion struct {
	Findings []PlaceInText `json:"findings"`
	Seconds  float64       `json:"cpu_seconds"` // of processor time
}

// PlaceInText is a finding: a rule of gitleaks and a line, from 1.
type PlaceInText struct {
	Rule string `json:"rule"`
	Line int    `json:"line"`
}

// Judge returns what the program finds in one text. Of its name gitleaks reads
// that it is a file of checksums.
func (s *Second) Judge(name string, text []byte) (*Opinion, error) {
	head, err := json.Marshal(struct {
		Name  string `json:"name"`
		Bytes int    `json:"bytes"`
	}{name, len(text)})
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := s.in.Write(append(head, '\n'))
		if err == nil {
			_, err = s.in.Write(text)
		}
		sent <- err
	}()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.cmd.Process.Kill() // so that the sender does not wait for a reader
		<-sent
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	if err := <-sent; err != nil {
		return nil, err
	}
	o := &Opinion{}
	if err := json.Unmarshal(line, o); err != nil {
		return nil, errors.New("its answer is no JSON")
	}
	return o, nil
}

// Close ends the program.
func (s *Second) Close() error {
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("gitleaks: %w", err)
	}
	return nil
}
