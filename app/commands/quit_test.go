package commands

import (
	"errors"
	"fmt"
	"testing"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/slash"
	"buddy/app/state"
)

// Quitting asks only while something runs that the screen can leave running, and never what else it would wait for.
func TestQuit(t *testing.T) {
	for _, tt := range []struct {
		now  *slash.Now
		line string
		want string
	}{
		{nil, "quit", "{Session: Quit:true Detach:false Kill:false}"},
		{&slash.Now{Busy: "task #1 runs"}, "quit", "{Session: Quit:true Detach:false Kill:false}"},
		{&slash.Now{Left: []string{"npm run dev"}}, "quit", "Quit? 1 task is still running\n  npm run dev\n  /detach  Detach (everything keeps running)\n  /quit --kill  Stop it and quit"},
		{&slash.Now{Left: []string{"a", "b"}}, "quit", "Quit? 2 tasks are still running\n  a\n  b\n  /detach  Detach (everything keeps running)\n  /quit --kill  Stop it and quit"},
		{&slash.Now{Left: []string{"npm run dev"}}, "quit --kill", "{Session: Quit:true Detach:false Kill:true}"},
		{&slash.Now{Left: []string{"npm run dev"}}, "detach", "{Session: Quit:true Detach:true Kill:false}"},
	} {
		a, err := Run(t.Context(), &Session{Now: tt.now}, slash.Words(tt.line)...)
		got := a.String()
		if a.Leave != nil {
			got = fmt.Sprintf("%+v", *a.Leave)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s with %+v: %q, %v, want %q", tt.line, tt.now, got, err, tt.want)
		}
	}
}

// Undo asks when prompts came after the one whose changes go back; where that is not known the session decides.
func TestUndo(t *testing.T) {
	all := []state.Border{{Seq: 1, ID: 1, Text: "fix it"}, {Seq: 5, ID: 2, Text: "write docs"}}
	asks := "Undo?\n  The last prompt that changed files is “fix it”. You sent 1 prompt after it.\n  /undo 1"
	for _, tt := range []struct {
		line   string
		change undo.Change
		err    error
		want   string
	}{
		{"undo", undo.Change{Prompt: 2, Files: 1, Added: 1}, nil, "{Steps:0 Force:false}"},
		{"undo", undo.Change{Prompt: 1, Files: 2, Added: 3, Removed: 1, Later: 1}, nil, asks + "  undo its changes: 2 files +3 −1"},
		{"undo", undo.Change{Prompt: 1, Files: 2}, nil, "{Steps:0 Force:false}"}, // those that came after it were taken back
		{"undo --force", undo.Change{Prompt: 1, Files: 1, Later: 1}, nil, asks + " --force  undo its changes: 1 file +0 −0"},
		{"undo", undo.Change{Prompt: 1, Files: 1, Later: 1}, errors.New("web is away"), "{Steps:0 Force:false}"},
		{"undo", undo.Change{Prompt: 9, Files: 1}, nil, "{Steps:0 Force:false}"},
		{"undo 2 --force", undo.Change{Prompt: 1, Files: 1}, nil, "{Steps:2 Force:true}"},
		{"undo all", undo.Change{}, nil, `unknown argument "all" (have: a number of prompts, and --force)`},
		{"undo 0", undo.Change{}, nil, `unknown argument "0" (have: a number of prompts, and --force)`},
	} {
		sent := ""
		a, err := Run(t.Context(), &Session{
			Now: &slash.Now{Prompts: all}, Send: func(c event.Command) { sent = fmt.Sprintf("%+v", c) },
			Since: func() ([]undo.Change, error) { return []undo.Change{tt.change}, tt.err },
		}, slash.Words(tt.line)...)
		got := a.String() + sent
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s with %+v: %q, want %q", tt.line, tt.change, got, tt.want)
		}
	}
}
