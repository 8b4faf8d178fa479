//go:build unix

package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client that does not finish its request is told so, once, and cut off.
func TestSlowClient(t *testing.T) {
	w := newWorld(t)
	w.header = 2 * time.Second // to say the beginning in, on a loaded machine too
	addr := w.start(t)
	for i, begun := range []string{"GET / HT", "\x16\x03\x01", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Sl"} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			cutOff(t, addr, begun)
		})
	}
	// One that says nothing at all gets nothing.
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil || len(b) > 0 {
		t.Errorf("a silent client got %d bytes, %v", len(b), err)
	}
	_ = c.Close()
}

// cutOff begins a request and reads that it took too long.
func cutOff(t *testing.T, addr, begun string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, begun); err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(c)
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatalf("after %q: %v", begun, err)
	}
	if res.StatusCode != http.StatusRequestTimeout {
		t.Errorf("after %q: status %d, want 408", begun, res.StatusCode)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the answer's body: %v", err)
	}
	if more, err := io.ReadAll(answer); err != nil || len(more) > 0 {
		t.Errorf("after %q and the answer: %q, %v", begun, more, err)
	}
	_ = c.Close()
}

// A head that is too large is refused before anything reads it whole.
func TestHugeHead(t *testing.T) {
	addr := newWorld(t).start(t)
	for _, request := range []string{
		"GET /?q=" + strings.Repeat("a", 4*maxHeader) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + strings.Repeat("a", 4*maxHeader) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(c, request) }() // cut off in the middle
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d, want 431", res.StatusCode)
		}
		_ = c.Close()
	}
}

// A thousand connections at once are all answered; one beyond the limit is told
// that there are too many, and there is room again when one closes.
func TestManyConnections(t *testing.T) {
	const many = 1000
	w := newWorld(t)
	w.connections, w.header = many, time.Minute // all are there before the first asks
	addr := w.start(t)
	conns := make([]net.Conn, many)
	for i := range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		conns[i] = c
	}
	var group sync.WaitGroup
	for _, c := range conns {
		group.Go(func() {
			if status := ask(c, addr); status != "200 OK" {
				t.Errorf("one of %d connections: %s", many, status)
			}
		})
	}
	group.Wait()
	extra, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = extra.Close() }()
	if status := ask(extra, addr); status != "503 Service Unavailable" {
		t.Errorf("one connection too many: %s", status)
	}
	_ = conns[0].Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // until the server has seen it
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		status := ask(c, addr)
		_ = c.Close()
		if status == "200 OK" {
			return
		}
	}
	t.Error("a closed connection leaves no room")
}

// ask makes one request on a connection and returns the status of the answer.
func ask(c net.Conn, addr string) string {
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err.Error()
	}
	_, _ = fmt.Fprintf(c, "GET /api/v1/classify?agent=codex&version=0.144.0 HTTP/1.1\r\nHost: %s\r\n\r\n", addr) // refused ones are closed already
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Status
}
