package provider

import (
	"net/http"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// ServeHTTP answers one request. It is exported for http.Server's sake; use
// Start or Serve, which refuse whatever is not loopback.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer s.handlers.Done()
	x := &exchange{server: s, w: w, r: r, play: s.playing(), entry: s.record(r)}
	x.route(strings.TrimPrefix(r.URL.Path, "/v1"))
}

// playing returns what is played at this moment.
func (s *Server) playing() *play {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.play
}

// exchange is one request and its answer.
type exchange struct {
	server *Server
	play   *play // what was played when the request came
	w      http.ResponseWriter
	r      *http.Request
	entry  *RequestLog
	body   []byte
}

func (x *exchange) route(path string) {
	post, get := x.r.Method == http.MethodPost, x.r.Method == http.MethodGet
	geminiModel, geminiMethod := geminiMethod(x.r.URL.Path)
	switch {
	case get && path == "/models": // a list asks no model
		x.note(KindSide, "")
		x.json(http.StatusOK, modelList(x.play.scenario.Model))
	case len(x.play.scenario.Turns) == 0:
		x.unexpected("", "the scenario expects no request at all")
	case get && path == "/responses" && strings.EqualFold(x.r.Header.Get("Upgrade"), "websocket"):
		x.note(KindUpgrade, DialectResponses)
		x.fail(DialectResponses, upgradeRequired)
	case post && path == "/responses":
		x.model(DialectResponses, nil)
	case post && path == "/chat/completions":
		x.model(DialectChat, nil)
	case post && path == "/messages":
		x.model(DialectMessages, nil)
	case post && path == "/messages/count_tokens":
		x.note(KindSide, DialectMessages)
		x.json(http.StatusOK, countTokens{InputTokens: usageInput})
	case post && geminiMethod != "":
		x.gemini(geminiModel, geminiMethod)
	case get && (path == "/" || path == ""), x.r.Method == http.MethodHead && (path == "/" || path == "" || path == "/api/hello"):
		x.note(KindCheck, "")
		x.json(http.StatusOK, struct{}{})
	case refusal(x.play.scenario) != "":
		x.note(KindSide, "")
		x.fail("", failures()[refusal(x.play.scenario)])
	default:
		x.unexpected("", "no API has this route")
	}
}

// refusal returns the code with which a scenario refuses every request for its
// credentials, or "". Such credentials are refused at every address, also at
// those of a vendor's own API, which is not played here otherwise.
func refusal(sc contract.Scenario) (code contract.ErrorCode) {
	for _, t := range sc.Turns {
		for _, r := range t.Attempts {
			if r.Error == nil || r.Error.Code != contract.ErrorInvalidAPIKey && r.Error.Code != contract.ErrorTokenExpired {
				return ""
			}
			code = r.Error.Code
		}
	}
	return code
}

func (x *exchange) note(k RequestKind, d Dialect) {
	x.server.update(func() { x.entry.Kind, x.entry.Dialect = k, d })
}

// model answers a request to a model API; address adds what its URL says.
func (x *exchange) model(d Dialect, address func(*request)) {
	var err error
	if x.body, err = readBody(x.w, x.r); err != nil {
		x.unexpected(d, err.Error())
		return
	}
	req, err := parseRequest(d, x.body)
	if err != nil {
		x.unexpected(d, err.Error())
		return
	}
	if address != nil {
		address(req)
	}
	x.server.update(func() {
		x.entry.Model, x.entry.Stream = printable(req.model, 120), req.stream
		x.entry.ToolResults, x.entry.Tools = req.toolResults, toolNames(req.tools)
		x.entry.Answers, x.entry.Images = req.answers, req.images
	})
	if d == DialectResponses && !req.stream {
		x.unexpected(d, "the Responses API is played as a stream only")
		return
	}
	if isSide(req) {
		x.note(KindSide, d)
		x.answer(req, sideReply(req), nil)
		return
	}
	if c, ok := formFilled(req); ok {
		x.note(KindSide, d)
		x.answer(req, contract.ScenarioReply{Kind: contract.ReplyAnswer}, []call{c})
		return
	}
	x.turn(req)
}

// turn answers a request that belongs to the scenario.
func (x *exchange) turn(req *request) {
	reply, attempt, ok := x.server.next(req.toolResults)
	if !ok {
		x.unexpected(req.dialect, "the scenario has no turn for that many tool results")
		return
	}
	calls, err := pickAll(usable(req), reply.ToolCalls, x.server.opts.Workdir)
	if err != nil {
		x.unexpected(req.dialect, err.Error())
		return
	}
	x.server.update(func() {
		x.entry.Kind, x.entry.Dialect, x.entry.Attempt = KindModel, req.dialect, attempt
		for _, c := range calls {
			x.entry.Picked = append(x.entry.Picked, printable(c.tool.name, 60))
		}
	})
	if req.toolResults > 0 && !x.server.wait(x.r.Context(), x.delay()) {
		x.drop()
		return
	}
	switch reply.Kind {
	case contract.ReplyError:
		x.fail(req.dialect, apiFailure(req.dialect, reply.Error, req.model))
	case contract.ReplyReset:
		x.reset()
	default:
		x.answer(req, reply, calls)
	}
	x.replied()
}

// replied notes that a reply of the scenario is out.
func (x *exchange) replied() {
	if x.entry.Kind == KindModel {
		x.play.answered.Do(func() { close(x.play.replied) })
	}
}

// next returns the reply to the next request with that many tool results.
func (s *Server) next(toolResults int) (reply contract.ScenarioReply, attempt int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.play.scenario.Turns {
		if t.ToolResults == toolResults {
			s.play.attempts[toolResults]++
			attempt = s.play.attempts[toolResults]
			return t.Attempts[min(attempt, len(t.Attempts))-1], attempt, true
		}
	}
	return reply, 0, false
}

// unexpected records the request and answers with an error that no CLI retries.
func (x *exchange) unexpected(d Dialect, reason string) {
	x.server.update(func() {
		x.entry.Kind, x.entry.Dialect = KindUnexpected, d
		x.entry.Reason, x.entry.Shape = reason, shapeOf(x.body)
	})
	x.fail(d, unexpectedRequest)
}

// isSide tells the CLI's own questions from the probe's. A title, a topic
// check, a quota check or a permission classifier offers no tools; Claude Code
// 2.0.30 to 2.0.77 warms its sub-agents up with requests that do.
func isSide(req *request) bool { return len(req.tools) == 0 || req.warmup }

// formTool is the only tool of Qwen Code's own questions, such as that of its
// permission classifier: the schema of the answer, as a function to call.
const formTool = "respondinschema"

// formFilled answers such a question with what says the least: nothing is to
// be blocked, no number is above one.
func formFilled(req *request) (call, bool) {
	if len(req.tools) != 1 || canonicalName(req.tools[0].name) != formTool {
		return call{}, false
	}
	return call{req.tools[0], neutralObject(req.tools[0].schema)}, true
}

func sideReply(req *request) contract.ScenarioReply {
	text := contract.ScenarioSideText
	if len(req.answerSchema) > 0 {
		text = neutralObject(req.answerSchema)
	}
	if req.classifier {
		text = contract.ScenarioClassifierText
	}
	return contract.ScenarioReply{Kind: contract.ReplyAnswer, Text: []string{text}}
}

func toolNames(tools []tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = printable(t.name, 80)
	}
	return out
}
