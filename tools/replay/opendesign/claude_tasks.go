package opendesign

import (
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// taskList is the list that TaskCreate and TaskUpdate change. Each change is
// shown as a TodoWrite call with the whole list.
type taskList struct {
	order  []string
	tasks  map[string]*task
	shown  map[string]bool // ids of tool calls that changed the list
	nextID int             // next generated id, less one
}

type task struct{ content, status, activeForm string }

// apply changes the list as the tool call says and emits it. It reports
// whether the call is thereby dealt with; a call whose id was dealt with
// before is dropped.
func (l *taskList) apply(out *sink, id, name event.Value, input rawjson.Value) bool {
	if id.Kind() != rawjson.String || name.Kind() != rawjson.String || !record(input) {
		return false
	}
	if l.shown[id.Str()] {
		return true
	}
	changed := false
	switch name.Str() {
	case "TaskCreate":
		changed = l.create(input)
	case "TaskUpdate":
		changed = l.update(input)
	}
	if !changed {
		return false
	}
	if l.shown == nil {
		l.shown = map[string]bool{}
	}
	l.shown[id.Str()] = true
	var todos []event.Value
	for _, k := range l.order {
		t := l.tasks[k]
		todos = append(todos, event.Object(str("content", t.content), str("status", t.status), activeForm(t)))
	}
	out.emit("tool_use", str("id", id.Str()+":todo-task"), str("name", "TodoWrite"),
		event.F("input", event.Object(event.F("todos", event.Array(todos...)))))
	return true
}

func activeForm(t *task) event.Field {
	if t.activeForm == "" {
		return event.Field{}
	}
	return str("activeForm", t.activeForm)
}

// taskContent returns subject, else description, else the fallback.
func taskContent(input rawjson.Value, fallback string) string {
	for _, key := range [...]string{"subject", "description"} {
		if isString(input.Get(key)) {
			return input.Get(key).Str()
		}
	}
	return fallback
}

func (l *taskList) create(input rawjson.Value) bool {
	content := taskContent(input, "")
	if content == "" {
		return false
	}
	id := l.newID(input.Get("taskId").Str())
	if l.tasks == nil {
		l.tasks = map[string]*task{}
	}
	if l.tasks[id] == nil {
		l.order = append(l.order, id)
	}
	l.tasks[id] = &task{content, taskStatus(input.Get("status")), input.Get("activeForm").Str()}
	return true
}

// newID returns the id that the input names, or the next unused number. A
// named number moves the count on.
func (l *taskList) newID(named string) string {
	if named == "" {
		for l.tasks[strconv.Itoa(l.nextID+1)] != nil {
			l.nextID++
		}
		l.nextID++
		return strconv.Itoa(l.nextID)
	}
	const maxSafe = 1<<53 - 1
	if n := jstext.ToNumber(named); n == float64(int64(n)) && n <= maxSafe && n > float64(l.nextID) {
		l.nextID = int(n)
	}
	return named
}

func (l *taskList) update(input rawjson.Value) bool {
	id := input.Get("taskId")
	t := l.tasks[id.Str()]
	if !isString(id) || t == nil {
		return false
	}
	t.content = taskContent(input, t.content)
	t.status = taskStatus(input.Get("status"))
	if form := input.Get("activeForm").Str(); form != "" {
		t.activeForm = form
	}
	return true
}

// taskStatus maps a status word; an update without one is pending again.
func taskStatus(v rawjson.Value) string {
	switch s := v.Str(); s {
	case "completed", "in_progress", "stopped":
		return s
	case "complete", "done":
		return "completed"
	case "doing", "active":
		return "in_progress"
	case "failed", "canceled", "cancelled":
		return "stopped"
	}
	return "pending"
}
