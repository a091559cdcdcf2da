package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/host"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/markup"
)

// pace is the shortest interval between two pieces of streamed text.
const pace = 36 * time.Millisecond

// session is a session that the editor has opened.
type session struct {
	conn    *conn
	id      string
	setup   compose.Setup
	process *host.Process
	secret  string // of an earlier start of the session by this process, see [host.StartForEditor]
	forms   bool   // the editor shows forms
	watches bool   // the editor may only watch: see [client.Hello]
	told    setting
	redact  func(string) string
	batches <-chan []event.Envelope
	first   [][]event.Envelope // received before the editor knew the session
	notes   []string           // about the start, for the person

	mu      sync.Mutex // guards the fields below
	state   state.State
	updates updates
	prompts []*prompt                     // without an answer
	asked   map[string]context.CancelFunc // approvals and questions shown to the editor
	waiting []waiter                      // changes of the settings without an answer
}

// prompt is an unanswered prompt of the editor. session.mu guards its fields.
type prompt struct {
	text    string
	task    event.TaskKind // instead of text: the prompt is the command that starts the next task of this kind
	id      int            // of the prompt in the session; 0 until it was accepted
	taskID  int            // 0 until its task has started
	stopped bool           // the editor has cancelled it
	answer  reply
}

// begin connects to the session. If the session is stored, its events are read first, and with replay the editor gets
// them too.
func (s *session) begin(ctx context.Context, stored, replay bool) (*opened, error) {
	hello, err := s.process.Hello(ctx)
	if hello.Failed != nil {
		return nil, exit.Failure(*hello.Failed)
	}
	if err != nil {
		return nil, err
	}
	s.watches = hello.Watches
	s.updates = updates{send: s.update, cwd: hello.Cwd, calls: make(map[string]*call)}
	last, err := s.read(stored, replay)
	if err != nil {
		return nil, err
	}
	if s.batches, err = s.process.Subscribe(context.Background(), last, pace); err != nil {
		return nil, err
	}
	now := state.State{Info: s.state.Info}
	for now.Info.Mode == "" || now.Info.Event.Profile == "" || !s.process.Joined && len(s.first) == 0 {
		select {
		case batch, open := <-s.batches:
			if !open {
				return nil, cmp.Or(s.process.Err(), error(failf(codeInternal, "the session has ended")))
			}
			s.first = append(s.first, batch)
			for _, env := range batch {
				now.Apply(env)
			}
		case <-ctx.Done():
			return nil, failf(codeInternal, "the session did not start within %v", startTime)
		}
	}
	s.told = settingOf(now.Info)
	return &opened{Modes: modesOf(now.Info), Options: s.options(now.Info)}, nil
}

// read reads the stored events of the session, and returns the last event's number.
func (s *session) read(stored, replay bool) (last uint64, err error) {
	if !stored {
		return 0, nil
	}
	j, err := s.setup.Store.View(s.id)
	if err != nil {
		if s.process.Joined {
			return 0, nil // it has no file before its first prompt
		}
		return 0, err
	}
	defer j.Close() //nolint:errcheck // only read
	s.updates.replaying, s.updates.silent = true, !replay
	err = j.Range(0, func(env event.Envelope) bool {
		s.apply(env)
		last = env.Seq
		return true
	})
	s.updates.replayed()
	return last, err
}

// follow passes the session's events to the editor in the background, until the session ends. servers means that the
// editor has MCP servers for the session.
func (s *session) follow(servers bool) {
	s.updates.commands(&s.state)
	for _, text := range s.notes {
		s.updates.say(text)
	}
	if s.watches {
		s.updates.say("This session was started elsewhere, and this editor has no terminal, so it can only watch and stop the session. To allow more, set `[host] without_terminal = true` in your settings.")
	}
	if servers && s.process.Joined {
		s.updates.say("This session was already running. It keeps its MCP servers, and does not start the editor's.")
	}
	s.mu.Lock()
	if s.process.Joined {
		s.askOpen()
	}
	s.mu.Unlock()
	go func() {
		for _, batch := range s.first {
			s.handle(batch)
		}
		s.first = nil
		for batch := range s.batches {
			s.handle(batch)
		}
		s.end(s.process.Err())
	}()
}

func (s *session) handle(batch []event.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range batch {
		s.own(env)
		s.apply(env)
		s.settings(env.Payload)
		s.ask(env)
		s.settle(env)
	}
	s.updates.flush()
}

// apply applies an event to the state, and sends the updates that follow from it to the editor. The caller holds s.mu.
func (s *session) apply(env event.Envelope) {
	changed := s.state.Apply(env)
	s.updates.event(env)
	if _, emptied := env.Payload.(event.TodoChanged); changed&state.Tasks != 0 && (emptied || len(s.state.Steps) > 0) {
		s.updates.plan(s.state.Steps)
	}
	if changed&state.Commands != 0 && !s.updates.replaying {
		s.updates.commands(&s.state)
	}
}

// settings tells the editor about a changed mode or model, and wakes the requests that wait for the change. The caller
// holds s.mu.
func (s *session) settings(e event.Event) {
	switch e.(type) {
	case event.ModeChanged, event.ModelSwitched:
		s.tell(s.state.Info)
	case event.Error:
	default:
		return
	}
	now := settingOf(s.state.Info)
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		_, failed := e.(event.Error)
		reached := w.value == map[string]string{"mode": now.mode, "model": now.model, "effort": now.effort}[w.option]
		if failed || reached { // else it is an earlier change
			w.done <- e // has room for one
		}
		return failed || reached
	})
}

// waiter is a request that waits until an option has a value.
type waiter struct {
	option, value string
	done          chan<- event.Event // gets the event that reaches the value, or an error
}

// setting holds the settings that the editor can change.
type setting struct{ mode, model, effort string }

func settingOf(now state.Info) setting {
	return setting{string(now.Mode), now.Event.Profile, now.Event.Effort}
}

// tell sends the settings to the editor if they have changed. The caller holds s.mu.
func (s *session) tell(now state.Info) {
	was := s.told
	if s.told = settingOf(now); s.told == was {
		return
	}
	if s.told.mode != was.mode {
		s.update(update{Update: "current_mode_update", Mode: s.told.mode})
	}
	s.update(update{Update: "config_option_update", Options: s.options(now)})
}

// update sends an update of the session to the editor.
func (s *session) update(u any) {
	s.conn.notify("session/update", struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}{s.id, u})
}

// own recognizes the events of this editor's own prompts, so that the prompts are not sent back to it. The caller holds
// s.mu.
func (s *session) own(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		for _, one := range s.prompts {
			if one.taskID != 0 || one.id != p.ID && (one.id != 0 || one.task != "" || one.text != p.Text) {
				continue
			}
			s.updates.ownPrompt = p.ID
			if one.id = p.ID; !p.Queued {
				s.started(one, env.Task)
			}
			return
		}
	case event.TaskStarted:
		for _, one := range s.prompts {
			if one.taskID == 0 && one.task == p.Kind {
				s.started(one, p.ID)
				return
			}
		}
	}
}

// started records the task of a prompt, and cancels the task if the editor has already cancelled the prompt. The caller
// holds s.mu.
func (s *session) started(one *prompt, task int) {
	if one.taskID = task; one.stopped {
		s.process.Send(event.Cancel{Task: task})
	}
}

// settle answers the prompts for which an event means that their work has ended. The caller holds s.mu.
func (s *session) settle(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TaskFinished:
		s.answer(func(one *prompt) bool { return one.taskID == p.ID }, outcome(p, s.updates.fault))
		s.updates.fault = ""
	case event.PromptWithdrawn:
		s.answer(func(one *prompt) bool { return one.id == p.ID }, stopped("cancelled"))
	case event.PromptBlocked:
		s.updates.say(strings.TrimSuffix("The prompt was not sent: "+cmp.Or(p.Reason, "a hook refused it"), "."))
		s.answer(func(one *prompt) bool { return one.id == p.ID }, stopped("refusal"))
	case event.Error:
		if p.Code == event.BadCommand && !strings.HasSuffix(p.Text, "is not running") { // else the task ended before its cancel
			s.answer(func(one *prompt) bool { return one.id == 0 && one.taskID == 0 }, func(answer reply) {
				answer(nil, failf(codeInvalid, "%s", clean(texts.WithNext(p.Text, p.NextStep))))
			})
		}
	}
}

// answer removes all prompts that match, and answers them with how. The caller holds s.mu.
func (s *session) answer(match func(*prompt) bool, how func(reply)) {
	var left []*prompt
	for _, one := range s.prompts {
		if match(one) {
			s.updates.flush()
			how(one.answer)
		} else {
			left = append(left, one)
		}
	}
	s.prompts = left
}

// stopped returns a function that answers a prompt with a stop reason.
func stopped(reason string) func(reply) {
	return func(answer reply) { answer(map[string]string{"stopReason": reason}, nil) }
}

// outcome returns a function that answers a prompt whose task has ended. fault is the session's last error.
func outcome(p event.TaskFinished, fault string) func(reply) {
	switch p.Outcome {
	case event.Cancelled:
		return stopped("cancelled")
	case event.MaxTurns, event.MaxCost, event.GoalLimit:
		return stopped("max_turn_requests")
	case event.ContextLimit:
		return stopped("max_tokens")
	case event.Failed:
		return func(answer reply) {
			answer(nil, failf(codeInternal, "%s", clean(cmp.Or(fault, p.Error, "the task failed"))))
		}
	}
	return stopped("end_turn")
}

// end answers everything that is still open when the session has ended. err is nil if the session was closed.
func (s *session) end(err error) {
	err = cmp.Or(err, error(failf(codeInternal, "the session has ended")))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer(func(*prompt) bool { return true }, func(answer reply) { answer(nil, failf(codeInternal, "%s", clean(err.Error()))) })
	for _, cancel := range s.asked {
		cancel()
	}
	for _, w := range s.waiting {
		w.done <- nil
	}
	s.waiting = nil
}

// stop cancels the prompts of the editor.
func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.prompts {
		switch {
		case one.stopped: // a second cancel could hit the next prompt
		case one.taskID != 0:
			s.process.Send(event.Cancel{Task: one.taskID})
		case one.id != 0:
			s.process.Send(event.Unqueue{ID: one.id})
		}
		one.stopped = true
	}
}

// leave disconnects from the session. It closes an idle session that this process has started, unless another screen is
// attached.
func (s *session) leave() {
	defer s.process.Leave()
	if s.process.Secret == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	d, err := client.Ask[client.Description](ctx, s.process, client.Describe{})
	if err == nil && d.Screens == 1 && (d.State == client.Idle || d.State == client.Failed) {
		_ = s.close() // it ends by itself, too, only later
	}
}

// close ends the session, and waits until its host has ended, so that the session can be opened again.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if _, err := client.Ask[client.CloseReply](ctx, s.process, client.Close{}); err != nil {
		return err
	}
	s.process.Leave()
	for ctx.Err() == nil && host.Runs(s.setup.Store, s.id) {
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// clean makes text of models and files harmless for editors in terminals.
func clean(text string) string { return markup.Answer(strings.ToValidUTF8(text, "\uFFFD")) }

func clip(text string) string { return markup.Shorten(text, 60) }

// rawObject returns a text as JSON, nil if the text is not valid JSON.
func rawObject(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return texts.PrintableJSON([]byte(text))
}
