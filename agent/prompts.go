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

// maxBranches limits the tasks that work beside the main one.
const maxBranches = 8

// submit takes a prompt: for the main conversation, for a task in the background, or for a subagent that works.
func (s *tasks) submit(c event.Submit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.takes(model.Message{Content: c.Text, Images: c.Images}); err != nil {
		s.stream.Reject("prompt not sent: %v", err)
		return
	}
	b, kind := s.main, event.MainTask
	if c.Task != 0 {
		s.agents.steer(c)
		return
	}
	if c.Background {
		if s.agents.beside() == maxBranches {
			s.stream.Reject("prompt not sent: %d tasks are already running in the background", maxBranches)
			return
		}
		made := func(string) bool { return false }
		if t := s.main.task; t != nil {
			made = t.x.Made
		}
		b, kind = &branch{talk: s.tree.Fork(made)}, event.BackgroundTask
		s.forks[b.talk.Branch()] = b
	}
	s.enter(b, kind, s.newPrompt(c.Text, c.Images))
}

// workOn returns the work of a task on a conversation: only the main one is driven.
func (s *tasks) workOn(b *branch) work {
	if b == s.main {
		return driven(s, false)
	}
	return s.loop.Run
}

// enter runs a prompt, or lets it wait while something runs or files are put back. The caller holds
// s.mu.
func (s *tasks) enter(b *branch, kind event.TaskKind, p event.PromptSubmitted) {
	if b.task != nil || b == s.main && s.changes.Running() {
		b.talk.Enqueue(p)
		if b.drop != nil {
			b.drop(approval.ErrSuperseded)
		}
		return
	}
	s.start(b, kind, []event.PromptSubmitted{p}, s.workOn(b))
}

// newPrompt numbers a prompt.
func (s *tasks) newPrompt(text string, images []model.Image) event.PromptSubmitted {
	return event.PromptSubmitted{ID: s.numbers.nextPrompt(), Text: text, Images: images}
}

// takes returns why a message can't be taken, or nil.
func (s *tasks) takes(m model.Message) error {
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
	if window, known := s.selection.Window(); known && len(m.Content)/history.CharsPerToken >= window { // nothing could be sent any more
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

// typed runs a command that a person typed after a "!", unless something runs.
func (s *tasks) typed(c event.Submit) {
	command := strings.TrimSpace(strings.TrimPrefix(c.Text, "!"))
	if command == "" {
		s.stream.Reject("there is no command after the !")
		return
	}
	beginTyped(s, c.Text, "the command was not run", func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		return s.loop.RunTyped(ctx, x, command)
	})
}

// beginTyped begins a main task for a line that a person typed, which no model reads as a prompt, unless something runs.
// refused says what did not happen then.
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
