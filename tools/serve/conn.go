package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// listener refuses connections beyond a number, and tells clients that are too
// slow why they are cut off; package http closes both without a word.
type listener struct {
	net.Listener
	free *counter
}

type counter struct{ n, most atomic.Int64 }

func newCounter(most int) *counter {
	c := &counter{}
	c.most.Store(int64(most))
	return c
}

var (
	tooMany = lastWords("503 Service Unavailable", "too many connections", "Retry-After: 2\r\n")
	tooSlow = lastWords("408 Request Timeout", "the request took too long", "")
)

// lastWords is an answer after which the connection is closed.
func lastWords(status, text, header string) []byte {
	body := fmt.Sprintf("{\"error\":%q}\n", text)
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.free.n.Add(1) <= l.free.most.Load() {
			return &conn{Conn: c, free: l.free}, nil
		}
		l.free.n.Add(-1)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(tooMany) // an empty send buffer takes it at once
		_ = c.Close()
	}
}

// conn is a connection that knows whether it is in the middle of a request.
type conn struct {
	net.Conn
	free *counter
	once sync.Once
	// begun says that a request's first byte came, answering that a handler
	// has the request, cut that the client was told its last words.
	begun, answering, cut atomic.Bool
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.answering.Load() {
		c.begun.Store(true)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && c.begun.Load() && !c.answering.Load() {
		c.begun.Store(false)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Conn.Write(tooSlow)
		c.cut.Store(true)
	}
	return n, err
}

// Write implements net.Conn. Package http takes half a line that a deadline
// ended for a whole one that is malformed, and would answer that too.
func (c *conn) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { c.free.n.Add(-1) })
	return c.Conn.Close()
}

type connKey struct{}

func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// answer marks the connection of a request as being answered, until the
// function that it returns is called.
func answer(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.answering.Store(true)
	return func() {
		c.begun.Store(false)
		c.answering.Store(false)
	}
}
