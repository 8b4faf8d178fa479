package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// The bounds of --tail-chars.
const (
	DefaultTail = 20_000
	MaxTail     = 1_000_000
)

// Console is what the run wrote for people. Truncated says that Value is only
// its end (D7).
type Console struct {
	machine.Value[string]
	Truncated bool `json:"truncated"`
}

// Artifact is a file that the run left for its reader.
type Artifact struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Output is what a run has produced so far.
type Output struct {
	Lifecycle
	TailChars int                            `json:"tail_chars"` // as it was used
	Console   Console                        `json:"console"`
	Artifacts machine.Value[[]Artifact]      `json:"artifacts"`
	Manifest  machine.Value[Manifest]        `json:"manifest"`
	Result    machine.Value[json.RawMessage] `json:"result"` // the envelope of the work
}

// Manifest says what the run executes and where its files are.
type Manifest struct {
	Args   []string `json:"args"`
	Dir    string   `json:"dir"`
	Input  *string  `json:"input"` // the copy of what was read from stdin
	Folder string   `json:"folder"`
}

// Output returns the end of the console, and what else there is.
func (s *Store) Output(id string, tailChars int) (*Output, error) {
	o, err := s.observe(id)
	if err != nil {
		return nil, err
	}
	tailChars = min(max(tailChars, 0), MaxTail)
	out := &Output{Lifecycle: o.view, TailChars: tailChars, Console: console(o.dir, tailChars), Artifacts: artifacts(o.dir)}
	m := Manifest{Args: o.record.Args, Dir: o.record.Dir, Folder: o.dir}
	if in := filepath.Join(o.dir, inputFile); exists(in) {
		m.Input = &in
	}
	out.Manifest = machine.Got(m)
	out.Console.Value = final(o, out.Console.Value)
	out.Result = final(o, value[json.RawMessage](o.dir, resultFile))
	return out, nil
}

// Log returns the whole console of a run. One that was not written yet is
// fs.ErrNotExist, which is not an empty one.
func (s *Store) Log(id string) (io.ReadCloser, error) {
	dir, err := s.run(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, consoleFile))
	if err != nil {
		return nil, &BrokenError{id, consoleFile, err}
	}
	return f, nil
}

// console reads the last chars characters of a log without reading the rest.
func console(dir string, chars int) Console {
	name := filepath.Join(dir, consoleFile)
	f, err := os.Open(name)
	if err != nil {
		code, detail := unavailable(err)
		return Console{Value: machine.Missing[string](code, consoleFile+": "+detail)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		code, detail := unavailable(err)
		return Console{Value: machine.Missing[string](code, consoleFile+": "+detail)}
	}
	most := int64(chars) * utf8.UTFMax
	start := max(0, info.Size()-most)
	b, err := io.ReadAll(io.NewSectionReader(f, start, info.Size()-start))
	if err != nil {
		code, detail := unavailable(err)
		return Console{Value: machine.Missing[string](code, consoleFile+": "+detail)}
	}
	for start > 0 && len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	text := []rune(string(bytes.ToValidUTF8(b, []byte("�"))))
	cut := max(0, len(text)-chars)
	return Console{Value: machine.Got(string(text[cut:])), Truncated: start > 0 || cut > 0}
}

func artifacts(dir string) machine.Value[[]Artifact] {
	entries, err := os.ReadDir(filepath.Join(dir, artifactsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return machine.Missing[[]Artifact](machine.ReasonAbsent, "the artifacts folder of the run is missing")
	}
	if err != nil {
		code, detail := unavailable(err)
		return machine.Missing[[]Artifact](code, artifactsDir+": "+detail)
	}
	out := []Artifact{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			code, detail := unavailable(err)
			return machine.Missing[[]Artifact](code, artifactsDir+": "+detail)
		}
		if info.Mode().IsRegular() {
			out = append(out, Artifact{e.Name(), info.Size()})
		}
	}
	return machine.Got(out)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
