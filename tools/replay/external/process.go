package external

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// process is one run of the program.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	lines   chan []byte // of stdout; nil for one that is too long; closed at the end
	stop    chan struct{}
	stderr  atomic.Int64
	quiet   chan struct{} // closed when stderr has ended
	exited  chan struct{}
	waitErr error // once exited is closed
}

func start(o Options) (*process, error) {
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir = o.Dir
	ownGroup(cmd)
	p := &process{cmd: cmd, lines: make(chan []byte, 64), stop: make(chan struct{}), quiet: make(chan struct{}), exited: make(chan struct{})}
	// Pipes of our own: Wait must not close an end that is still being read.
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, outR.Close(), outW.Close())
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	if p.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	outW.Close()
	errW.Close()
	if err != nil {
		return nil, errors.Join(err, outR.Close(), errR.Close())
	}
	go p.readLines(outR)
	go func() {
		defer close(p.quiet)
		defer errR.Close()
		_, _ = io.Copy(counter{&p.stderr}, errR)
	}()
	go func() {
		p.waitErr = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

// Write implements io.Writer.
func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// readLines sends the lines that are not blank until the end or stop.
func (p *process) readLines(r io.ReadCloser) {
	defer r.Close()
	defer close(p.lines)
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		tooLong := len(line) > maxOutput
		if errors.Is(err, bufio.ErrBufferFull) && !tooLong {
			continue
		}
		if tooLong {
			line = nil
		}
		if text := trimmed(line); tooLong || len(text) > 0 {
			select {
			case p.lines <- text:
			case <-p.stop:
				return
			}
		}
		if err != nil || tooLong {
			return
		}
		line = nil
	}
}

func trimmed(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// kill ends the program and everything in its group.
func (p *process) kill() {
	select {
	case <-p.stop:
	default:
		close(p.stop)
	}
	p.stdin.Close()
	killGroup(p.cmd)
	<-p.exited
}

// untilQuiet waits until all of stderr is counted; who holds it open longer
// than the limit is not waited for.
func (p *process) untilQuiet(limit <-chan time.Time) {
	select {
	case <-p.quiet:
	case <-limit:
	}
}
