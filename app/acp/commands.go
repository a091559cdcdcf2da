package acp

import (
	"context"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/texts"
)

// elsewhere lists commands that an editor replaces with its own.
var elsewhere = []string{"quit", "detach", "clear", "session", "loop"}

// offered reports whether a command works in an editor: it must have an answer to show, or send commands to the
// runtime.
func offered(c slash.Command) bool {
	return c.ScreenOnly == "" && (c.Answers || c.Events != nil) && !slices.Contains(elsewhere, c.Name)
}

// taskOf returns the kind of the task that a command starts, "" if it starts none.
func taskOf(c event.Command) event.TaskKind {
	switch c.(type) {
	case event.RunWorkflow, event.ResumeWorkflow, event.SetGoal, event.SaveWorkflow:
		return event.MainTask
	case event.Review:
		return event.SubagentTask
	case event.Compact:
		return event.CompactionTask
	}
	return ""
}

// command runs a slash command. The caller holds s.mu.
func (s *session) command(name, args string, answer reply) {
	c, known := slash.Find(name)
	switch {
	case !known:
		s.updates.say("Unknown command /" + clip(name) + slash.DidYouMean(s.state.Info.Commands, name))
	case !offered(c) && name != "help":
		s.updates.say("/" + name + " works only on buddy's own screen.")
	case name == "help":
		s.help()
	case c.Answers && !c.Sends(args):
		words := append([]string{name}, slash.Words(args)...)
		go func() {
			defer stopped("end_turn")(answer)
			s.run(s.conn.ctx, words)
		}()
		return
	default:
		s.sendAll(c, args, answer)
		return
	}
	stopped("end_turn")(answer)
}

// help lists the commands. The caller holds s.mu.
func (s *session) help() {
	var b strings.Builder
	for _, c := range slash.Commands {
		if offered(c) {
			b.WriteString("- `/" + strings.TrimSpace(c.Name+" "+c.Args) + "` " + c.Help + "\n")
		}
	}
	for _, c := range slash.Typed(s.state.Info.Commands) {
		b.WriteString("- `/" + c.Name + "` " + slash.CustomHelp(c) + "\n")
	}
	s.updates.say(b.String())
}

// sendAll sends the runtime commands of a slash command. If they start a task, the editor's prompt is answered when the
// task ends, else at once. The caller holds s.mu.
func (s *session) sendAll(c slash.Command, args string, answer reply) {
	all, err := c.Events(args)
	if err != nil {
		s.updates.say("/" + c.Name + ": " + err.Error())
		stopped("end_turn")(answer)
		return
	}
	waits := false
	for _, one := range all {
		kind := taskOf(one)
		if p, ok := one.(event.Submit); ok && !p.Background && !waits {
			waits = true
			s.submit(p, answer)
			continue
		}
		if kind != "" && !waits {
			waits = true
			s.prompts = append(s.prompts, &prompt{task: kind, answer: answer})
		}
		s.process.Send(one)
	}
	if !waits {
		stopped("end_turn")(answer)
	}
}

// run runs a slash command in the session's host and shows its answer. It then runs the commands that follow from the
// answer.
func (s *session) run(ctx context.Context, words []string) {
	for words != nil {
		s.mu.Lock()
		now := &slash.Now{Info: s.state.Info.Event, Busy: slash.Busy(&s.state), Limits: s.state.Info.Usage.Limits}
		s.mu.Unlock()
		a, err := client.Ask[show.Answer](ctx, s.process, client.Run{Words: words, Now: now})
		if err == nil && a.List != nil && a.List.Rest != nil {
			a, err = client.Ask[show.Answer](ctx, s.process, client.Run{Words: a.List.Rest, Now: now})
		}
		if err != nil {
			s.say("/" + words[0] + ": " + err.Error())
			return
		}
		words = s.answered(ctx, words, a)
	}
}

func (s *session) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.say(text)
}

// answered shows a command's answer, and returns the command to run next, nil for none.
func (s *session) answered(ctx context.Context, words []string, a show.Answer) []string {
	switch text := a.String(); {
	case a.Question != nil && len(a.Question.Choices) > 0 && a.Question.Choices[0].Secret:
		s.say("buddy does not read keys in an editor. Run this in a terminal: `buddy login " + strings.Join(words[1:], " ") + "`")
	case a.Question != nil:
		return s.question(ctx, words[0], a.Question)
	case a.Leave != nil:
		s.say("Use the editor's own commands to leave this session.")
	case a.Open != "":
		s.say(strings.TrimSpace(text + "\n\n" + a.Open))
	case a.Text != nil && a.Text.Form == show.Diff:
		s.say("```diff\n" + text + "\n```")
	case a.List != nil, a.Document != nil:
		s.say("```\n" + text + "\n```")
	case text != "":
		s.say(text)
	}
	return a.Then
}

// question asks the user a command's question, and returns the command to run for the chosen answer.
func (s *session) question(ctx context.Context, name string, q *show.Question) []string {
	shown := toolCall{ID: "command-" + name, Title: clean(texts.OneLine(q.Title)), Kind: "other", Status: "pending"}
	if len(q.Lines) > 0 {
		shown.Content = []callContent{{Type: "content", Content: textBlock(strings.Join(q.Lines, "\n"))}}
	}
	var options []permission
	for _, c := range q.Choices {
		kind := "allow_once"
		if c.Run == nil {
			kind = "reject_once"
		}
		options = append(options, permission{show.IDOf(c.Label), clean(texts.OneLine(c.Label)), kind})
	}
	chosen := s.permit(ctx, shown, options)
	for i, o := range options {
		if o.ID == chosen {
			return q.Choices[i].Run
		}
	}
	return nil
}
