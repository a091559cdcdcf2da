package event

import "strings"

// TodoTool is the tool with which a model writes the list of its work.
const TodoTool = "todo"

// TodoState is the state of a step.
type TodoState string

// The states of a step.
const (
	TodoPending    TodoState = "pending"
	TodoInProgress TodoState = "in_progress"
	TodoCompleted  TodoState = "completed"
)

// TodoStep is an entry of the model's list of its work.
type TodoStep struct {
	Text  string    `json:"text"` // one line
	State TodoState `json:"state"`
}

// TodoChanged replaces the model's list of its work. In sessions of older versions only the result of the tool todo has
// the list: see TodoOf.
type TodoChanged struct {
	Steps []TodoStep `json:"steps"`
}

// todoSigns are the line prefixes of the tool todo, by state of the step.
var todoSigns = map[string]TodoState{"[ ] ": TodoPending, "[>] ": TodoInProgress, "[x] ": TodoCompleted}

// TodoOf reads the list in the result of the tool todo. ok is false if r is an error or the result of another tool.
func TodoOf(r ToolResult) (list TodoChanged, ok bool) {
	if r.Name != TodoTool || r.IsError {
		return list, false
	}
	list.Steps = []TodoStep{}
	for line := range strings.Lines(r.Tail) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) < 4 {
			continue
		}
		if state, ok := todoSigns[line[:4]]; ok {
			list.Steps = append(list.Steps, TodoStep{line[4:], state})
		}
	}
	return list, true
}
