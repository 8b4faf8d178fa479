package provider

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// place is an address that tests put a listener or a peer at.
type place string

func (p place) Network() string { return "tcp" }
func (p place) String() string  { return string(p) }

// fakeListener hands out one connection from elsewhere, then ends.
type fakeListener struct {
	net.Listener
	conns []net.Conn
}

func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}
func (l *fakeListener) Addr() net.Addr { return place("127.0.0.1:1") }
func (l *fakeListener) Close() error   { return nil }

type fakeConn struct {
	net.Conn
	remote place
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr { return c.remote }
func (c *fakeConn) Close() error         { c.closed = true; return nil }

func TestOnlyLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "[fe80::1]:80": false, "localhost:80": false, "": false,
	} {
		if got := isLoopback(place(addr)); got != want {
			t.Errorf("isLoopback(%q) = %v", addr, got)
		}
	}
	s, err := New(scenario(textReply("x")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.Serve(l); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("a listener on every address was accepted: %v", err)
	}
	stranger := &fakeConn{remote: "10.0.0.7:4000"}
	near := &fakeConn{remote: "127.0.0.1:4000"}
	c, err := loopbackOnly{&fakeListener{conns: []net.Conn{stranger, near}}}.Accept()
	if err != nil || c != net.Conn(near) || !stranger.closed {
		t.Error("a peer from elsewhere was let in")
	}
}

func TestLifecycle(t *testing.T) {
	s, err := New(scenario(textReply("x")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.BaseURL() != "" {
		t.Error("a base URL before Start")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// Serve says either that it served until Close or that it came too late.
	if err := <-served; err != nil && err != errClosed {
		t.Error(err)
	}
	_ = l.Close()
	if err := s.Start(l); err == nil {
		t.Error("a closed server started")
	}
}

func TestCloseEndsStallsAndDelays(t *testing.T) {
	stall := contract.ScenarioReply{Kind: contract.ReplyStall, Text: []string{"partial"}}
	for _, w := range wires {
		t.Run(string(w.dialect)+" stall", func(t *testing.T) {
			s := start(t, scenario(stall), Options{})
			resp := send(t, s, http.MethodPost, w.path, w.ask)
			// The text arrives although the answer never ends.
			in, seen := bufio.NewReader(resp.Body), false
			for !seen {
				line, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				seen = strings.Contains(line, "partial")
			}
			if err := s.Close(); err != nil { // returns only when no answer is left
				t.Fatal(err)
			}
			if _, err := io.ReadAll(in); err == nil {
				t.Error("the stalled answer looks complete")
			}
		})
	}
}

func TestWaitEndsWithTheClientOrTheServer(t *testing.T) {
	newServer := func() *Server {
		s, err := New(scenario(textReply("x")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	waited := func(s *Server, ctx context.Context, stop func()) bool {
		done := make(chan bool)
		go func() { done <- s.wait(ctx, time.Hour) }()
		stop()
		return <-done
	}
	if s := newServer(); waited(s, context.Background(), func() { _ = s.Close() }) {
		t.Error("a delay outlived the server")
	}
	ctx, cancel := context.WithCancel(context.Background())
	if waited(newServer(), ctx, cancel) {
		t.Error("a delay outlived the client")
	}
	if !newServer().wait(context.Background(), 0) {
		t.Error("no delay is not over at once")
	}
}

func TestUnexpectedRequests(t *testing.T) {
	secret := fmt.Sprintf("hush-%d", time.Now().UnixNano())
	tests := []struct {
		name, method, path, body string
		reason                   string
	}{
		{"unknown route", "GET", "/v2/everything", "", "no API has this route"},
		{"other method", "PUT", "/v1/messages", messagesAsk, "no API has this route"},
		{"not JSON", "POST", "/v1/messages", "{" + secret, "the body does not have the form"},
		{"wrong types", "POST", "/v1/chat/completions", `{"model":7,"messages":"` + secret + `"}`, "the body does not have the form"},
		{"too many tool results", "POST", "/v1/responses", strings.Replace(responsesAfter, `"x"`, `"`+secret+`"`, 1), "no turn for that many tool results"},
		{"no tool for it", "POST", "/v1/messages", strings.Replace(messagesAsk, "Bash", "WebSearch", 1), "none of the 1 tools on offer can list_files"},
		{"Responses without stream", "POST", "/v1/responses", notStreamed(responsesAsk), "as a stream only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scenario(listFiles), Options{})
			resp := send(t, s, tt.method, tt.path, tt.body)
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("status = %d", resp.StatusCode)
			}
			got := s.Unexpected()
			if len(got) != 1 || !strings.Contains(got[0].Reason, tt.reason) {
				t.Fatalf("unexpected = %v", got)
			}
			if strings.Contains(got[0].String(), secret) {
				t.Error("the report quotes the body")
			}
		})
	}
	t.Run("a key that is no good is so at every address", func(t *testing.T) {
		for _, path := range []string{"/get-models", "/v1/chat/completions"} {
			s := start(t, scenario(errorReply(contract.ErrorInvalidAPIKey)), Options{})
			resp := send(t, s, "POST", path, chatAsk)
			if n := len(s.Unexpected()); n != 0 || resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s: status %d, %d unexpected requests", path, resp.StatusCode, n)
			}
		}
		s := start(t, scenario(errorReply(contract.ErrorServer)), Options{})
		send(t, s, "POST", "/get-models", "{}")
		if n := len(s.Unexpected()); n != 1 {
			t.Errorf("an address of no API gave %d unexpected requests where the key is good", n)
		}
	})
	t.Run("no request is expected", func(t *testing.T) {
		s := start(t, scenario(), Options{})
		send(t, s, "HEAD", "/", "")
		post(t, s, "/v1/responses", responsesAsk)
		if n := len(s.Unexpected()); n != 2 {
			t.Errorf("%d unexpected requests, want 2", n)
		}
	})
	t.Run("the shape names members", func(t *testing.T) {
		want := `{input:[3] model:string stream:boolean tools:[1]}`
		if got := shapeOf([]byte(responsesAfter)); got != want {
			t.Errorf("shape = %s, want %s", got, want)
		}
	})
}

func TestRequestsThatAreNotTheProbes(t *testing.T) {
	side := `{"model":"small","messages":[{"role":"user","content":"title?"}]}`
	warmup := strings.Replace(messagesAsk, `"text":"hi"`, `"text":"Warmup"`, 1)
	classify := `{"model":"small","system":"Answer <block>yes</block> or <block>no</block>.","messages":[{"role":"user","content":"?"}]}`
	grade := strings.Replace(classify, "<block>yes</block> or <block>no</block>", "<severity>N</severity>", 1)
	form := `{"model":"small","messages":[{"role":"user","content":"?"}],"tool_choice":"required","tools":[{"type":"function","function":{"name":"respond_in_schema","parameters":{"type":"object","required":["shouldBlock"],"properties":{"shouldBlock":{"type":"boolean"},"why":{"type":"string"}}}}}]}`
	tests := []struct {
		name, method, path, body string
		status                   int
		kind                     RequestKind
		answer                   string
	}{
		{"no tools", "POST", "/v1/messages", side, 200, KindSide, contract.ScenarioSideText},
		{"no tools, chat", "POST", "/v1/chat/completions", side, 200, KindSide, contract.ScenarioSideText},
		{"sub-agent warm-up", "POST", "/v1/messages", warmup, 200, KindSide, "Nothing"},
		{"permission classifier", "POST", "/v1/messages", classify, 200, KindSide, contract.ScenarioClassifierText},
		{"permission classifier, graded", "POST", "/v1/messages", grade, 200, KindSide, contract.ScenarioClassifierText},
		{"permission classifier, a form to fill in", "POST", "/v1/chat/completions", form, 200, KindSide, `{\"shouldBlock\":false}`},
		{"count tokens", "POST", "/v1/messages/count_tokens", side, 200, KindSide, "input_tokens"},
		{"models", "GET", "/v1/models", "", 200, KindSide, "probe-model-1"},
		{"reachability", "HEAD", "/", "", 200, KindCheck, ""},
		{"reachability, with GET", "GET", "/", "", 200, KindCheck, ""},
		{"reachability, later", "HEAD", "/api/hello", "", 200, KindCheck, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scenario(errorReply(contract.ErrorServer)), Options{})
			resp := send(t, s, tt.method, tt.path, tt.body)
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(b), tt.answer) {
				t.Errorf("status %d, body %s, %v", resp.StatusCode, b, err)
			}
			if got := s.Requests(); len(got) != 1 || got[0].Kind != tt.kind || got[0].Attempt != 0 {
				t.Errorf("log = %+v", got)
			}
		})
	}
}

func TestWebSocketIsRefused(t *testing.T) {
	s := start(t, scenario(textReply("x")), Options{})
	req, _ := http.NewRequest("GET", s.BaseURL()+"/v1/responses", nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired || s.Requests()[0].Kind != KindUpgrade {
		t.Errorf("status %d, log %+v", resp.StatusCode, s.Requests())
	}
}

func TestTheLogHoldsNoCredential(t *testing.T) {
	key := fmt.Sprintf("sk-ant-%d", time.Now().UnixNano())
	s := start(t, scenario(textReply("x")), Options{})
	for _, header := range []string{"Authorization", "X-Api-Key", ""} {
		req, _ := http.NewRequest("POST", s.BaseURL()+"/v1/messages?key="+key, strings.NewReader(messagesAsk))
		if header != "" {
			req.Header.Set(header, key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	got := s.Requests()
	if !got[0].Authorized || !got[1].Authorized || got[2].Authorized {
		t.Errorf("authorized = %v %v %v", got[0].Authorized, got[1].Authorized, got[2].Authorized)
	}
	if strings.Contains(fmt.Sprintf("%+v", got), key) {
		t.Error("the log holds the key")
	}
	if got[2].Model != "probe-model-1" || len(got[2].Tools) != 1 || got[2].Tools[0] != "Bash" || got[2].Status != 200 {
		t.Errorf("log = %+v", got[2])
	}
}

func TestGzipBody(t *testing.T) {
	s := start(t, scenario(textReply("fine")), Options{})
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, responsesAsk)
	_ = z.Close()
	for encoding, want := range map[string]int{"gzip": 200, "zstd": 400} {
		req, _ := http.NewRequest("POST", s.BaseURL()+"/v1/responses", strings.NewReader(b.String()))
		req.Header.Set("Content-Encoding", encoding)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", encoding, resp.StatusCode, want)
		}
	}
}
