package basic

import (
	"context"
	_ "embed"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
)

// maxTodo is the size limit of one step's text, in bytes.
const maxTodo = 500

//go:embed todo.md
var todoText string

type todoArgs struct {
	Items []todoItem `json:"items" max:"50"`
	Why   string     `json:"why,omitempty" schema:"-"`
}

type todoItem struct {
	Text  string `json:"text"`
	State string `json:"state" enum:"pending,in_progress,completed"`
}

type todo struct{ tools.Typed[todoArgs] }

// NewTodo returns the tool todo, a list of steps with their states. The list is stored only in the call and the result,
// so that a resumed session has it.
func NewTodo() tools.Tool {
	return tools.New(&todo{}, "todo", todoText)
}

func (t *todo) PlanArgs(args todoArgs) (action.Action, error) {
	for i, item := range args.Items {
		if len(item.Text) > maxTodo {
			return action.Action{}, tools.Invalid("items[%d].text: longer than %d bytes", i, maxTodo)
		}
	}
	return tools.PlanInternal(t.Name(), args.Why), nil
}

var todoSigns = map[string]string{"pending": "[ ] ", "in_progress": "[>] ", "completed": "[x] "}

func (t *todo) RunArgs(_ context.Context, _ tools.Call, args todoArgs) tools.Result {
	var b strings.Builder
	working := 0
	for _, item := range args.Items {
		if item.State == "in_progress" {
			working++
		}
		b.WriteString(todoSigns[item.State] + texts.OneLine(item.Text) + "\n")
	}
	note := ""
	switch {
	case len(args.Items) == 0:
		note = "the list is empty"
	case working > 1:
		note = "more than one step is in progress"
	}
	return tools.Success(b.String(), note)
}
