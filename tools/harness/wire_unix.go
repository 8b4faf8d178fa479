//go:build unix

package harness

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// message is what a sandbox and its supervisor tell each other. Op says which
// fields count.
type message struct {
	Op string `json:"op"`

	// hello, from the supervisor: it is ready; the listener comes along. A
	// problem means that it is not and ends.
	Problem string `json:"problem,omitempty"`

	// start, to the supervisor: the three streams come along. Texts are bytes
	// here: an argument need not be UTF-8, and a JSON string must.
	Path []byte   `json:"path,omitempty"`
	Args [][]byte `json:"args,omitempty"`
	Env  [][]byte `json:"env,omitempty"`
	Dir  []byte   `json:"dir,omitempty"`
	UID  int      `json:"uid,omitempty"`
	GID  int      `json:"gid,omitempty"`

	// started and refused, its answers.
	PID   int `json:"pid,omitempty"`
	Errno int `json:"errno,omitempty"`

	// signal, to the supervisor. exited, from it, with Code or Signal.
	Signal string `json:"signal,omitempty"`
	Group  bool   `json:"group,omitempty"`
	Code   int    `json:"code,omitempty"`

	// swept, from the supervisor: the run is over.
	Killed int `json:"killed,omitempty"`
	Left   int `json:"left,omitempty"`
}

// maxMessage bounds a message; a start holds a whole environment.
const maxMessage = 16 << 20

// wire carries messages and file descriptors over a stream socket: four bytes
// of length, then JSON. Descriptors ride on the length.
type wire struct {
	c  *net.UnixConn
	mu sync.Mutex // one sender at a time
}

func newWire(f *os.File) (*wire, error) {
	defer f.Close() // FileConn has a copy
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("opening the control socket: it is no unix socket")
	}
	return &wire{c: u}, nil
}

func (w *wire) send(m message, fds ...int) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return errors.New("arguments and environment are too long")
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, _, err := w.c.WriteMsgUnix(head, oob, nil); err != nil {
		return err
	}
	_, err = w.c.Write(body)
	return err
}

func (w *wire) receive() (m message, fds []int, err error) {
	head := make([]byte, 4)
	oob := make([]byte, unix.CmsgSpace(3*4))
	for n := 0; n < len(head); {
		k, oobn, _, _, err := w.c.ReadMsgUnix(head[n:], oob)
		if err != nil {
			return m, fds, err
		}
		if k == 0 {
			return m, fds, net.ErrClosed
		}
		fds = append(fds, rights(oob[:oobn])...)
		n += k
	}
	length := binary.BigEndian.Uint32(head)
	if length > maxMessage {
		return m, fds, errors.New("message is too long")
	}
	body := make([]byte, length)
	for n := 0; n < len(body); {
		k, err := w.c.Read(body[n:])
		if err != nil {
			return m, fds, err
		}
		n += k
	}
	return m, fds, json.Unmarshal(body, &m)
}

// rights returns the descriptors that came along.
func rights(oob []byte) []int {
	var fds []int
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range list {
		if got, err := unix.ParseUnixRights(&list[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func toBytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
