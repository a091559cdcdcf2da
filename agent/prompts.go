package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/agent/turn"
)

// maxBranches limits the background tasks.
const maxBranches = 8

// submit accepts a prompt for the main conversation, a background task, or a running subagent.
func (s *tasks) submit(c event.Submit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(model.Message{Content: c.Text, Images: c.Images}); err != nil {
		s.stream.Reject("prompt not sent: %v", err)
		return
	}
	b, kind := s.main, event.MainTask
	if c.Task != 0 {
		s.agents.steer(c)
		return
	}
	if c.Background {
		if s.agents.backgroundForks() == maxBranches {
			s.stream.Reject("prompt not sent: %d tasks are already running in the background", maxBranches)
			return
		}
		made := func(string) bool { return false }
		if t := s.main.task; t != nil {
			made = t.x.Made
		}
		b, kind = &branch{conv: s.tree.Fork(made)}, event.BackgroundTask
		s.forks[b.conv.Branch()] = b
	}
	p := s.newPrompt(c.Text, c.Images)
	p.Excerpts, p.Key = c.Excerpts, c.Key
	s.numbers.keep(p)
	s.enter(b, kind, p)
}

// workOn returns the work of a task on a conversation. Only in the main conversation it includes the drivers.
func (s *tasks) workOn(b *branch) work {
	if b == s.main {
		return driven(s, false)
	}
	return s.loop.Run
}

// enter starts a task for a prompt, or queues the prompt while a task runs or files are restored. The caller holds
// s.mu.
func (s *tasks) enter(b *branch, kind event.TaskKind, p event.PromptSubmitted) {
	if b.task != nil || b == s.main && s.changes.Running() {
		b.conv.Enqueue(p)
		if b.drop != nil {
			b.drop(approval.ErrSuperseded)
		}
		return
	}
	s.start(b, kind, []event.PromptSubmitted{p}, s.workOn(b))
}

// newPrompt returns a prompt with the next number.
func (s *tasks) newPrompt(text string, images []model.Image) event.PromptSubmitted {
	return event.PromptSubmitted{ID: s.numbers.nextPrompt(), Text: text, Images: images}
}

// refusal returns why a message can't be accepted, or nil.
func (s *tasks) refusal(m model.Message) error {
	info := s.selection.Model().Info()
	switch {
	case m.Role != model.User && m.Role != "":
		return fmt.Errorf("a message with the role %q can't be sent (have: %s)", m.Role, model.User)
	case strings.TrimSpace(m.Content) == "":
		return errors.New("it is empty")
	case len(m.Images) > turn.MaxImages:
		return fmt.Errorf("it has %d images (allowed: %d)", len(m.Images), turn.MaxImages)
	case len(m.Images) > 0 && info.TextOnly:
		return fmt.Errorf("%s doesn't accept images", info.Model)
	}
	if window, known := s.selection.Window(); known && len(m.Content)/history.CharsPerToken >= window { // with it nothing could be sent any more
		return fmt.Errorf("it has about %d tokens, and %s takes %d in total: put it in a file and name the file with @", len(m.Content)/history.CharsPerToken, info.Model, window)
	}
	for i, img := range m.Images {
		if err := img.Check(); err != nil {
			return fmt.Errorf("image %d: %w", i+1, err)
		}
	}
	if err := s.stream.StoreError(); err != nil {
		return fmt.Errorf("the session can't be saved: %w", err)
	}
	return nil
}

// typed runs a command that a person typed after a "!", unless a task runs.
func (s *tasks) typed(c event.Submit) {
	if strings.TrimSpace(strings.TrimPrefix(c.Text, "!")) == "" {
		s.stream.Reject("there is no command after the !")
		return
	}
	beginTyped(s, c.Text, "the command was not run", typedWork(s, c.Text))
}

// typedWork returns the work of a task that runs a line that was typed with a "!".
func typedWork(s *tasks, line string) work {
	command := strings.TrimSpace(strings.TrimPrefix(line, "!"))
	return func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		return s.loop.RunTyped(ctx, x, command)
	}
}

// beginTyped starts a main task for a line that a person typed and that is not a prompt, such as a command after "!".
// If a task runs, the line is rejected; the error starts with the text in refused.
func beginTyped(s *tasks, line, refused string, do work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.main.task; t != nil {
		s.stream.Reject("%s, because task #%d is running", refused, t.id)
		return
	}
	if err := s.stream.StoreError(); err != nil {
		s.stream.Reject("%s, because the session can't be saved: %v", refused, err)
		return
	}
	p := s.newPrompt(line, nil)
	p.Kind = event.Typed
	s.start(s.main, event.MainTask, []event.PromptSubmitted{p}, do)
}
