package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"buddy/agent/action"
)

// Call describes a tool call to hooks.
type Call struct {
	ID        string
	Tool      string // buddy's name
	Arguments string // in buddy's names: a JSON object
	Action    action.Action
	Verdict   action.Verdict // the decision of the policy
}

// useTool is the name of a tool that calls other tools. Hooks see the called tool instead.
const useTool = "use_tool"

// inner returns the call that use_tool makes, or c itself.
func (c Call) inner() Call {
	if c.Tool != useTool {
		return c
	}
	var use struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &use); err != nil || use.Name == "" {
		return c
	}
	c.Tool, c.Arguments = use.Name, string(use.Args)
	return c
}

// fieldArgs maps buddy's argument names to those that other agents use.
var fieldArgs = map[string]map[string]string{ // by buddy's tool name
	"run_shell":  {"command": "command", "why": "description"},
	"read_file":  {"path": "file_path"},
	"write_file": {"path": "file_path"},
	"edit_file":  {"path": "file_path"},
	"grep":       {"ignore_case": "-i", "context": "-C"},
	"todo":       {"items": "todos"},
}

// hidden reports whether an argument of buddy's tool is unknown to other agents. Hooks neither see nor replace it.
func hidden(tool, arg string) bool {
	switch arg {
	case "why":
		return tool != "run_shell"
	case "target":
		return true
	case "mode", "outside", "wait", "risk", "mutation", "privesc":
		return tool == "run_shell"
	}
	return false
}

// input returns the arguments of a call for hooks, under the names that other agents use.
func (c Call) input() map[string]any {
	var ours map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &ours); err != nil || ours == nil {
		ours = map[string]any{}
	}
	in := make(map[string]any, len(ours))
	for name, v := range ours {
		if hidden(c.Tool, name) {
			continue
		}
		if theirs := fieldArgs[c.Tool][name]; theirs != "" {
			name = theirs
		}
		in[name] = v
	}
	switch {
	case c.Tool == "run_shell" && ours["wait"] == false:
		in["run_in_background"] = true
	case fieldArgs[c.Tool]["path"] != "" && c.Action.Path != "":
		in["file_path"] = c.Action.Path // other agents use absolute paths
	case (c.Tool == patch || c.Tool == codeTool) && c.Action.Path != "":
		in["file_path"] = c.Action.Path // formatters expect a path: the first of several
	}
	return in
}

// arguments returns new arguments for the call: those that a hook printed, updated, and from the old ones only those
// that hooks don't see.
func (c Call) arguments(updated json.RawMessage) (string, error) {
	var in map[string]any
	if err := json.Unmarshal(updated, &in); err != nil || in == nil {
		return "", errors.New("updatedInput is not a JSON object")
	}
	call := c.inner()
	var ours map[string]any
	if err := json.Unmarshal([]byte(call.Arguments), &ours); err != nil {
		return "", fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	maps.DeleteFunc(ours, func(name string, _ any) bool { return !hidden(call.Tool, name) })
	if ours == nil {
		ours = map[string]any{}
	}
	switch call.Tool {
	case "run_shell":
		if in["run_in_background"] == true {
			ours["wait"] = false
		}
		delete(in, "run_in_background")
		delete(in, "timeout") // commands have no time limit
	case patch, codeTool:
		delete(in, "file_path")
	}
	for name, v := range in {
		for mine, theirs := range fieldArgs[call.Tool] {
			if name == theirs {
				name = mine
			}
		}
		ours[name] = v
	}
	text, err := json.Marshal(ours)
	if err != nil || c.Tool != useTool {
		return string(text), err
	}
	var use map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &use); err != nil {
		return "", err
	}
	use["args"] = json.RawMessage(text)
	text, err = json.Marshal(use)
	return string(text), err
}

// Response is the result of a tool call.
type Response struct {
	Text     string
	Failed   bool
	ExitCode *int // of a command
}

// response returns the result under the names that hooks expect.
func (r Response) response(c Call) map[string]any {
	all := map[string]any{"content": r.Text, "is_error": r.Failed, "success": !r.Failed}
	if r.ExitCode != nil {
		all["exit_code"], all["stdout"], all["stderr"] = *r.ExitCode, r.Text, ""
	}
	if c.Action.Path != "" {
		all["filePath"] = c.Action.Path
	}
	return all
}

// BackgroundTask describes work that runs in the background.
type BackgroundTask struct {
	ID          string `json:"id"`
	Type        string `json:"type"`   // shell, or agent for a background prompt
	Status      string `json:"status"` // running
	Description string `json:"description"`
	Command     string `json:"command,omitempty"` // only for shell
}

// permissionMode returns the name that other agents use for a mode.
func permissionMode(m action.Mode) string {
	switch m {
	case action.ModeEdits:
		return "acceptEdits"
	case action.ModePlan:
		return "plan"
	case action.ModeAll:
		return "bypassPermissions"
	case action.ModeNone:
		return "dontAsk"
	}
	return "default"
}
