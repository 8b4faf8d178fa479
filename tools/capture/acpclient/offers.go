package acpclient

import (
	"encoding/base64"
	"net/url"
	"path"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Methods that select a model. The stable protocol has the first; releases from
// before session options have the second, which went with their list of models.
const (
	setOption = "session/set_config_option"
	setModel  = "session/set_model"
)

// capabilities are what the agent says that it can do (schema:
// AgentCapabilities). What it leaves out it cannot.
type capabilities struct {
	load, resume, list, close, image, embed bool
}

func capabilitiesOf(v rawjson.Value) capabilities {
	prompt, session := v.Get("promptCapabilities"), v.Get("sessionCapabilities")
	has := func(name string) bool { return session.Get(name).Kind() == rawjson.Object }
	return capabilities{
		load: v.Get("loadSession").Bool(), resume: has("resume"), list: has("list"), close: has("close"),
		image: prompt.Get("image").Bool(), embed: prompt.Get("embeddedContext").Bool(),
	}
}

// offersMethod reports whether an agent can be authenticated to in that way.
func offersMethod(methods rawjson.Value, id string) bool {
	if id == "" {
		return false
	}
	for m := range methods.Children() {
		if m.Get("id").IsStr(id) {
			return true
		}
	}
	return false
}

// selection is a request that selects a model; none without a method.
type selection struct {
	method, option string
	value          string
}

// offeredModel returns how to select a model in a session: by the option of
// the category model (schema: SessionConfigOption), else by the older list.
func offeredModel(session rawjson.Value, model string) selection {
	if model == "" {
		return selection{}
	}
	for o := range session.Get("configOptions").Children() {
		if !o.Get("category").IsStr("model") || !o.Get("type").IsStr("select") {
			continue
		}
		if offers(o.Get("options"), model) {
			return selection{setOption, o.Get("id").Str(), model}
		}
		return selection{}
	}
	for m := range session.At("models", "availableModels").Children() {
		if m.Get("modelId").IsStr(model) {
			return selection{method: setModel, value: model}
		}
	}
	return selection{}
}

// offers reports whether a list of values has one; groups hold lists.
func offers(options rawjson.Value, value string) bool {
	for o := range options.Children() {
		if o.Get("value").IsStr(value) || offers(o.Get("options"), value) {
			return true
		}
	}
	return false
}

// selectModel asks for the model, if there is one to ask for, and then sends
// the prompt.
func (c *Client) selectModel() {
	session := text("sessionId", c.sessionID)
	switch c.model.method {
	case setOption:
		c.request(setOption, session, text("configId", c.model.option), text("value", c.model.value))
	case setModel:
		c.request(setModel, session, text("modelId", c.model.value))
	default:
		c.prompt()
	}
}

// Attachment is a file that goes with a prompt.
type Attachment struct {
	Path     string // absolute
	MIMEType string
	Content  []byte
}

// block is the file as a part of the prompt: an image or a text as itself if
// the agent takes that, and else a link, which every agent takes (schema:
// PromptCapabilities).
func (a Attachment) block(takes capabilities) event.Value {
	uri := (&url.URL{Scheme: "file", Path: a.Path}).String()
	mime := text("mimeType", a.MIMEType)
	switch {
	case takes.image && strings.HasPrefix(a.MIMEType, "image/"):
		return event.Object(text("type", "image"), mime, text("data", base64.StdEncoding.EncodeToString(a.Content)), text("uri", uri))
	case takes.embed && strings.HasPrefix(a.MIMEType, "text/"):
		return event.Object(text("type", "resource"),
			event.F("resource", event.Object(text("uri", uri), mime, text("text", string(a.Content)))))
	}
	return event.Object(text("type", "resource_link"), text("uri", uri), text("name", path.Base(a.Path)), mime)
}
