package headless

import (
	"context"
	"errors"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/slash"
)

// A prompt that starts with a slash is a command, as on the screen: it runs, or exec explains why not, with the exit
// code of a usage error.
func TestPromptsThatAreCommands(t *testing.T) {
	custom := extensions{
		commands: func(context.Context) []event.CustomCommand {
			return []event.CustomCommand{{Name: "fix-it", Help: "fixes it", Origin: "project"}, {Name: "git:pr", Origin: "project"}, {Name: "review", Origin: "built-in"}}
		},
		prompt: func(_ context.Context, words []string) (string, error) {
			if strings.Join(words, " ") != "mcp__s__greet ann" {
				return "", errors.New("no MCP server has it")
			}
			return "Greet ann", nil
		},
	}
	for _, tt := range []struct {
		prompt string
		once   Options
		sent   string // part of the submitted text; "" for none
		answer string
		fault  string
	}{
		{prompt: "fix it", sent: "fix it"},
		{prompt: "/usr/bin/true is what?", sent: "/usr/bin/true is what?"},
		{prompt: " /tpyo 1", sent: " /tpyo 1"},
		{prompt: "/fix-it 3", sent: "/fix-it 3"},
		{prompt: "/git:pr", sent: "/git:pr"},
		{prompt: "/review main", sent: "/review main"},
		{prompt: "/mcp__s__greet ann", sent: "Greet ann"},
		{prompt: "/mcp__s__gone", fault: "/mcp__s__gone: no MCP server has it"},
		{prompt: "/init and more", sent: "Also: and more"},
		{prompt: "/help", answer: "/fix-it  fixes it"},
		{prompt: "/fix-ti 3", fault: "unknown command /fix-ti (did you mean /fix-it?)"},
		{prompt: "/tpyo 1\nand more", fault: "unknown command /tpyo"},
		{prompt: "/Compact", fault: "exec can't run /Compact"},
		{prompt: "/model x", fault: "buddy exec --model NAME"},
		{prompt: "/fix-it 3", once: Options{Check: "make"}, fault: "a goal is plain text"},
		{prompt: "fix it", once: Options{Verdict: true}, sent: "fix it"},
	} {
		err := tt.once.wordsOnly(tt.prompt)
		var c event.Command
		answer := ""
		if err == nil {
			c, answer, err = meant(t.Context(), event.Submit{Text: tt.prompt}, custom)
		}
		submit, _ := c.(event.Submit)
		if !strings.Contains(submit.Text, tt.sent) || (tt.sent == "") != (submit.Text == "") || !strings.Contains(answer, tt.answer) || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%q: submits %q, answers %q, %v", tt.prompt, submit.Text, answer, err)
		}
		if e, ok := errors.AsType[exit.Error](err); err != nil && (!ok || e.Code != exit.BadUsage && !strings.Contains(tt.prompt, "mcp__")) {
			t.Errorf("%q ends with %+v", tt.prompt, err)
		}
	}
}

// Each counterpart belongs to an existing command.
func TestCounterpartsAreOfCommands(t *testing.T) {
	for name := range instead {
		if c, ok := slash.Find(name); !ok || c.Name != name {
			t.Errorf("there is no /%s", name)
		}
	}
}
