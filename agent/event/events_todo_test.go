package event

import (
	"reflect"
	"testing"
)

// The list of an older session is read from the result of the tool todo.
func TestTodoOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    ToolResult
		want []TodoStep
		ok   bool
	}{
		{"a list", ToolResult{Name: TodoTool, Tail: "[x] a\n[>] b\r\n[ ] [x] c\n"}, []TodoStep{{"a", TodoCompleted}, {"b", TodoInProgress}, {"[x] c", TodoPending}}, true},
		{"empty", ToolResult{Name: TodoTool, Tail: "the list is empty"}, []TodoStep{}, true},
		{"short lines", ToolResult{Name: TodoTool, Tail: "\n[x]\n[ ] \n"}, []TodoStep{{"", TodoPending}}, true},
		{"a failure", ToolResult{Name: TodoTool, Tail: "[x] a\n", IsError: true}, nil, false},
		{"another tool", ToolResult{Name: "run_shell", Tail: "[x] a\n"}, nil, false},
	} {
		got, ok := TodoOf(tt.r)
		if ok != tt.ok || !reflect.DeepEqual(got.Steps, tt.want) {
			t.Errorf("%s: %v %v", tt.name, got.Steps, ok)
		}
	}
}
