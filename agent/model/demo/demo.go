// Package demo is a scripted model for trying buddy before a real model is connected. It needs no key and no network,
// says that it is not a language model, and calls the real tools.
//
//	m := demo.New(20 * time.Millisecond) // a word every 20 ms
//	for d, err := range m.Stream(ctx, req) { … }
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"buddy/agent/model"
)

// Connect is the line that explains how to connect a real model.
const Connect = "To connect a real model, enter a provider's API key with `/login openai`, or quit and run `buddy init`. Any server that speaks the OpenAI or Anthropic protocol works, including one on this machine."

// Model is the embedded model. Create it with New.
type Model struct{ pace time.Duration }

// New returns the embedded model. It pauses for pace after each word; 0 means no pause.
func New(pace time.Duration) *Model { return &Model{pace: pace} }

// Info describes the demo.
func (*Model) Info() model.Info {
	return model.Info{Profile: "demo", Model: "demo", API: model.Demo, Window: 32_000, TextOnly: true}
}

// Stream answers the last prompt. It refuses images.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		req.Messages = req.Messages[:len(req.Messages)-req.Ephemeral]
		if n := len(req.Messages); n > 0 && len(req.Messages[n-1].Images) > 0 {
			yield(model.Delta{}, &model.Error{Kind: model.SetupError, What: "the demo doesn't accept images", Hint: "connect a real model, see help"})
			return
		}
		r := reply(req)
		for word := range words(r.Content) {
			if !m.wait(ctx) {
				yield(model.Delta{}, context.Cause(ctx))
				return
			}
			if !yield(model.Delta{Kind: model.Text, Text: word}, nil) {
				return
			}
		}
		for i := range r.ToolCalls {
			if !yield(model.Delta{Kind: model.CallReady, Call: &r.ToolCalls[i]}, nil) {
				return
			}
		}
		finish := model.FinishStop
		if len(r.ToolCalls) > 0 {
			finish = model.FinishToolCalls
		}
		r.Role = model.Assistant
		usage := model.Usage{Prompt: size(req) / 4, Completion: (len(r.Content) + 3) / 4}
		yield(model.Delta{Kind: model.Done, Message: &r, Finish: finish, Usage: &usage}, nil)
	}
}

func (m *Model) wait(ctx context.Context) bool {
	if m.pace == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(m.pace)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// words yields s in pieces that end after white space; joined they equal s.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			n := strings.IndexAny(s, " \n")
			if n < 0 {
				n = len(s)
			}
			for n < len(s) && (s[n] == ' ' || s[n] == '\n') {
				n++
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

func size(req model.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += 16 + len(m.Content)
	}
	return n
}

// reply chooses the answer from the last prompt and the results after it.
func reply(req model.Request) model.Message {
	prompt, results := lastExchange(req.Messages)
	verb, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	rest = strings.TrimSpace(rest)
	switch verb = strings.ToLower(verb); {
	case verb == "tour" && rest == "":
		return tour(req, results)
	case len(results) > 0:
		return report(results[len(results)-1])
	case verb == "run" && rest != "":
		return run(req, "I will run that in the terminal pane.", rest, "you asked me to run it", "medium", true)
	case verb == "read" && rest != "":
		return call(req, "I will read "+code(rest)+".", "read_file", map[string]any{"path": rest, "why": "you asked to see the file"})
	case verb == "list":
		return call(req, "I will list "+code(or(rest, "this folder"))+".", "list_dir", map[string]any{"path": or(rest, "."), "why": "you asked what is there"})
	case verb == "write":
		if text, path, ok := cutLast(rest, " to "); ok {
			return call(req, "I will write to "+code(path)+".", "write_file", map[string]any{"path": path, "content": text + "\n", "why": "you asked me to write this file"})
		}
	case verb == "help" && rest == "":
		return textMessage(help)
	case strings.EqualFold(strings.TrimSpace(prompt), "explain yourself"):
		return textMessage(explain)
	}
	return textMessage(unknown)
}

const (
	verbs = "- `run COMMAND` runs a command in a real terminal pane; it asks first unless the command only reads\n" +
		"- `read FILE` and `list [FOLDER]` look at files\n" +
		"- `write TEXT to FILE` writes a file\n" +
		"- `tour` shows the program in three steps\n" +
		"- `explain yourself` says what this is\n\n"
	help    = "This is the built-in demo. It is **not a language model**: it knows a few verbs and calls the real tools with them.\n\n" + verbs + Connect
	unknown = "I am the built-in demo, not a language model, so I only know these verbs:\n\n" + verbs + Connect
	explain = "I am buddy's built-in demo. I am **not a language model**: I recognize a few verbs and call the same tools that a real model would call.\n\n" +
		"- Commands run in a real tmux pane that you can attach to.\n" +
		"- Nothing that could change something runs until you approve it.\n" +
		"- The session file keeps everything, and `buddy resume --last` continues the session.\n\n" + Connect
)

// lastExchange returns the last prompt and the tool results after it.
func lastExchange(msgs []model.Message) (prompt string, results []model.Message) {
	for i := len(msgs) - 1; i >= 0; i-- {
		switch m := msgs[i]; {
		case m.Role == model.Tool:
			results = append([]model.Message{m}, results...)
		case m.Role == model.User && m.Kind != model.Reminder: // from a person
			return msgs[i].Content, results
		}
	}
	return "", results
}

func textMessage(text string) model.Message { return model.Message{Content: text} }

// run returns a call of the shell tool.
func run(req model.Request, text, command, why, risk string, mutation bool) model.Message {
	return call(req, text, "run_shell", map[string]any{"command": command, "why": why, "risk": risk, "mutation": mutation, "privesc": false})
}

// call returns a call of a tool, if the request offers it.
func call(req model.Request, text, tool string, args map[string]any) model.Message {
	for _, t := range req.Tools {
		if t.Name != tool {
			continue
		}
		data, err := json.Marshal(args)
		if err != nil { // strings and booleans: cannot happen
			return textMessage(err.Error())
		}
		return model.Message{Content: text, ToolCalls: []model.ToolCall{{Name: tool, Arguments: string(data)}}}
	}
	return textMessage("No tool here does that.\n\n" + Connect)
}

func report(result model.Message) model.Message {
	if result.Failed {
		return textMessage("It did not run: " + strings.TrimSuffix(result.Content, ".") + ".")
	}
	return textMessage("Done" + shown(result.Content))
}

// shown returns the end of a sentence about a command, with the first lines of its output.
func shown(out string) string {
	const most = 8
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	switch {
	case strings.TrimSpace(out) == "":
		return ", without any output."
	case len(lines) <= most:
		return ":\n\n" + fence(strings.Join(lines, "\n"))
	}
	return fmt.Sprintf(", %d lines. The first ones:\n\n%s", len(lines), fence(strings.Join(lines[:most], "\n")))
}

// tour runs three harmless commands, one per turn.
func tour(req model.Request, results []model.Message) model.Message {
	switch len(results) {
	case 0:
		return run(req, "Welcome! **Step 1.** This changes a shell variable, so buddy asks first: look at what will run, stop typing for a second, then press `1`. While you are typing, keys go to the prompt.",
			"export TOUR=42; echo \"hello from $(uname -sm)\"", "the tour shows how a command is approved", "low", true)
	case 1:
		return run(req, "**Step 2.** This only prints, so it runs at once. Its output appears in the pane on the right while it runs. Esc stops a command that takes too long.",
			"for i in 1 2 3 4 5; do echo \"line $i\"; sleep 0.4; done", "the tour shows live output", "low", false)
	case 2:
		return run(req, "**Step 3.** It is a real terminal: the folder and the variables are kept from one command to the next.",
			"pwd; test \"$TOUR\" = 42 && echo \"TOUR is still 42\" || echo \"TOUR is not set\"", "the tour shows that the shell keeps its state", "low", false)
	default:
		return textMessage("That was the tour. Press `Tab` until the pane is marked: the line under it shows how to **attach to it** from another terminal. `F1` lists all keys.\n\n" + Connect)
	}
}

// fence puts text into a code block, with a fence longer than any in the text.
func fence(text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + "\n" + text + "\n" + marks
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	before, after = strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+len(sep):])
	return before, after, before != "" && after != ""
}
