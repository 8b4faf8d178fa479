package harness

import (
	"os"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// pipes are the three standard streams of a child: our ends and the child's.
type pipes struct {
	stdin, stdout, stderr *os.File // ours; stdin is nil when the child gets an empty one
	child                 [3]childEnd
}

// newPipes makes the streams of one child.
func newPipes(mode contract.StdinMode) (*pipes, error) {
	p := &pipes{}
	var err error
	if mode == contract.StdinNone || mode == contract.StdinPromptFile {
		err = p.child[0].openNull()
	} else {
		p.stdin, err = p.child[0].connect(true)
	}
	if err == nil {
		p.stdout, err = p.child[1].connect(false)
	}
	if err == nil {
		p.stderr, err = p.child[2].connect(false)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// closeChild closes the child's ends, which the child has as its own by now.
func (p *pipes) closeChild() {
	for i := range p.child {
		p.child[i].close()
	}
}

// abandon stops reading from somebody who holds a pipe open.
func (p *pipes) abandon() {
	p.stdout.Close()
	p.stderr.Close()
}

// close closes every end. It may be called after the others.
func (p *pipes) close() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			f.Close()
		}
	}
	p.closeChild()
}
