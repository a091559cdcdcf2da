package statusline

import (
	"strings"

	"buddy/agent/model"
	"buddy/app/state"
	"buddy/app/version"
)

// Facts is the JSON object on the command's standard input. Values that Claude Code's status line command gets, too,
// have the same names, so that scripts for it work; Target, Mode and Tokens are buddy's own.
type Facts struct {
	Event      string    `json:"hook_event_name"` // always "Status"
	Session    string    `json:"session_id"`
	Title      string    `json:"session_name,omitempty"`
	Transcript string    `json:"transcript_path,omitempty"`
	Cwd        string    `json:"cwd"`
	Model      Model     `json:"model"`
	Workspace  Workspace `json:"workspace"`
	Version    string    `json:"version"`
	Style      Style     `json:"output_style"`
	Cost       Cost      `json:"cost"`
	Context    Context   `json:"context_window"`
	Target     string    `json:"target"`
	Mode       string    `json:"mode"`
	Tokens     Tokens    `json:"tokens"`
}

// Model names the model that answers.
type Model struct {
	ID   string `json:"id"`
	Name string `json:"display_name"` // without the part before the last slash
}

// Workspace holds the folder of commands, and the folder in which buddy was started.
type Workspace struct {
	Current string `json:"current_dir"`
	Project string `json:"project_dir"`
}

// Style names the style of answers.
type Style struct {
	Name string `json:"name"`
}

// Cost holds the known cost of the session, and the time since this screen opened it.
type Cost struct {
	USD      float64 `json:"total_cost_usd"`
	Duration int64   `json:"total_duration_ms"` // set by the Runner
}

// Context describes the use of the model's context window.
type Context struct {
	Input     int `json:"total_input_tokens"` // of the session
	Output    int `json:"total_output_tokens"`
	Size      int `json:"context_window_size"` // 0 if unknown
	Used      int `json:"used_percentage"`
	Remaining int `json:"remaining_percentage"`
}

// Tokens counts the tokens of the conversation and of the session.
type Tokens struct {
	Context int `json:"context"` // estimated
	Input   int `json:"input"`
	Cached  int `json:"cached"` // part of Input
	Output  int `json:"output"`
}

// factsOf returns the facts that change with the session.
func factsOf(info *state.Info) Facts {
	f := Facts{
		Event: "Status", Session: info.Session, Title: info.Event.Title, Cwd: info.Event.Cwd, Version: version.Number,
		Target: info.Event.Target, Mode: string(info.Mode),
	}
	f.Model.ID = info.Event.Model
	if info.Fallback != "" {
		f.Model.ID = info.Fallback
	}
	f.Model.Name = f.Model.ID[strings.LastIndexByte(f.Model.ID, '/')+1:]
	f.Workspace.Current = info.Event.Cwd
	u := &info.Usage
	f.Cost.USD = float64(u.SessionCost) / float64(model.Dollar)
	f.Context = Context{Input: u.SessionPrompt, Output: u.SessionCompletion, Size: info.Context.Limit}
	if f.Context.Size > 0 {
		f.Context.Used, f.Context.Remaining = info.Context.Percent, max(0, 100-info.Context.Percent)
	}
	f.Tokens = Tokens{Context: info.Context.Estimated, Input: u.SessionPrompt, Cached: u.SessionCached, Output: u.SessionCompletion}
	return f
}
