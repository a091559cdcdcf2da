package agent

import (
	"context"
	"strings"

	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/turn"
)

// serve handles commands until the runtime closes.
func (r *Runtime) serve() {
	defer r.life.work.Done()
	for {
		c, ok := r.inbox.next()
		if !ok {
			return
		}
		if s, ok := c.(settled); ok {
			close(s.done)
			continue
		}
		r.handle(c)
	}
}

// settled is a command that changes nothing. When it is handled, all commands sent before it have been handled, too.
type settled struct {
	event.Command
	done chan struct{}
}

// Settle waits until the runtime has handled all commands sent so far, so that later reads see their effects.
func Settle(ctx context.Context, r *Runtime) {
	s := settled{done: make(chan struct{})}
	if r.inbox.put(s) != nil {
		return
	}
	select {
	case <-s.done:
	case <-ctx.Done():
	case <-r.life.ctx.Done():
	}
}

func (r *Runtime) handle(c event.Command) {
	switch c.(type) {
	case event.WatchPanes, event.FitPane, event.ReadPane: // sent by a screen without a person
	default:
		r.tasks.idleness.reset()
	}
	if r.waitsForUndo(c) {
		return
	}
	switch c := c.(type) {
	case event.Submit:
		submit(r, c)
	case event.Unqueue:
		if !withdraw(r.tasks, c.ID) {
			r.reject("prompt %d is not queued", c.ID)
		}
	case event.Continue:
		r.tasks.continueInterrupted()
	case event.AnswerApproval:
		r.approvals.Answer(c)
	case event.Answer:
		r.questions.Answer(c)
	case event.Cancel:
		r.cancelTask(c)
	case event.Background:
		r.tasks.onMain((*turn.Exchange).Release, "no command is running that could move to the background")
	case event.SetTimeout:
		setTimeout(r, c)
	case event.RetryNow:
		r.tasks.onMain((*turn.Exchange).Hurry, "no request is waiting to be sent again")
	default:
		r.adjust(c)
	}
}

// submit runs the text as a command, or sends it to the model.
func submit(r *Runtime, c event.Submit) {
	if c.Shell {
		r.tasks.typed(c)
		return
	}
	if r.tasks.numbers.known(c.Key) {
		continueLost(r.tasks)
		return
	}
	r.approvals.Prompted()
	r.tasks.submit(c)
}

// adjust changes a setting of the session.
func (r *Runtime) adjust(c event.Command) {
	switch c := c.(type) {
	case event.SetMode:
		r.approvals.SetMode(c.Mode, c.Duration, c.Screen)
	case event.CycleMode:
		approval.CycleMode(r.approvals, c.Screen)
	case event.RemoveRule:
		r.approvals.RemoveRule(c.Rule)
	case event.SwitchModel:
		r.switchModel(c)
	case event.SwitchTarget:
		r.switchTarget(c.Name)
	case event.Rename:
		r.titles.rename(c.Title)
	default:
		r.act(c)
	}
}

// act handles commands that concern neither a prompt, a task nor a setting.
func (r *Runtime) act(c event.Command) {
	switch c := c.(type) {
	case event.Compact:
		r.tasks.compact(c.Instructions)
	case event.Pin:
		r.tasks.pin(c)
	case event.Undo:
		r.undo(c)
	case event.Rewind:
		rewindTo(r, c)
	case event.Redo:
		redoLast(r, c)
	case event.Review:
		r.tasks.agents.review(c)
	case event.StartLoop:
		startLoop(r, c)
	case event.StopLoop:
		if !stopLoop(r.tasks, anyLoop) {
			r.reject("no loop is running (/loop 10m PROMPT starts one)")
		}
	case event.WatchPanes, event.PaneInput, event.PanePaste, event.FitPane, event.ReadPane, event.KillPane:
		r.panes.send(c)
	default:
		if !r.tasks.drivers.handle(c) {
			r.reject("unknown command %T", c)
		}
	}
}

// reject answers an invalid command.
func (r *Runtime) reject(format string, args ...any) {
	r.stream.Reject(format, args...)
}

// switchModel changes the model that answers, or the effort of the same model; the history stays. For another model,
// the system prompt and tools may change as well, because its cache has nothing of the conversation anyway.
func (r *Runtime) switchModel(c event.SwitchModel) {
	if r.opts.Models == nil {
		r.reject("there is no other model")
		return
	}
	before := r.selection.Model().Info()
	same := c.Profile == ""
	if same {
		c.Profile = before.Profile
	}
	m, err := r.opts.Models(c.Profile, c.Effort)
	if err != nil {
		r.reject("the model was not switched: %v", err)
		return
	}
	change := func() { r.answerWith(m, before, same) }
	if same { // also while a task runs, from its next request on
		change()
	} else if t := r.tasks.idle(change); t != nil {
		r.reject("the model can't be switched while task #%d is running", t.id)
		return
	}
	r.compactor.PublishUsage(r.tasks.tree.Main(), 0, 0)
}

// answerWith makes m the model that answers. same means that only the effort changes; otherwise answerWith also adapts
// the system prompt and the tools to m.
func (r *Runtime) answerWith(m model.Model, before model.Info, same bool) {
	info := m.Info()
	if !same {
		adaptTo(r, info)
	}
	turn.Recall(r.tasks.loop)
	r.selection.SetModel(turn.WithDurable(m, r.opts.Durable))
	r.tasks.tree.Main().Gauge(info.Model, r.selection.Overhead())
	r.Publish(event.ModelSwitched{Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window, Effort: info.Effort, Note: difference(before, info)})
}

// adaptTo adapts the system prompt and the tools of later requests to a model.
func adaptTo(r *Runtime, info model.Info) {
	if r.opts.Told != nil {
		system, all := r.opts.Told(info)
		r.selection.SetTools(all)
		r.tasks.tree.SetSystem(system)
	}
}

// learnt adapts later requests to a server that has refused something in a request to the current model.
func learnt(r *Runtime, n model.Needs) {
	if info := r.selection.Model().Info(); n.Of(info) {
		adaptTo(r, info)
		r.tasks.tree.Main().Gauge(info.Model, r.selection.Overhead())
	}
}

// difference describes effects of a switch that a person may not expect: reasoning is not sent to the new model, and
// the protocol or the account changes.
func difference(from, to model.Info) string {
	var all []string
	switch {
	case from.API == model.Demo || to.API == model.Demo:
	case from.API != to.API:
		all = append(all, "the protocol is "+to.API+" instead of "+from.API+": earlier reasoning is not sent to the new model")
	case from.Model != to.Model || from.BaseURL != to.BaseURL:
		all = append(all, "earlier reasoning is not sent to the new model")
	}
	switch {
	case to.Blocks != "" && from.Blocks == "":
		all = append(all, "calls are blocks of text, because "+to.Blocks)
	case to.Blocks == "" && from.Blocks != "":
		all = append(all, "calls are no longer blocks of text")
	}
	if from.Auth != to.Auth && from.Auth != "" && to.Auth != "" {
		all = append(all, "it uses "+to.Auth+" instead of "+from.Auth)
	}
	return strings.Join(all, "; ")
}

func (r *Runtime) cancelTask(c event.Cancel) {
	if r.tasks.cancel(c.Task) || r.shells.stop(c.Task) || stopLoop(r.tasks, c.Task) {
		return
	}
	switch running := runningIDs(r); {
	case c.Task != 0:
		r.reject("task %d is not running", c.Task)
	case len(running) == 0:
		r.reject("nothing is running")
	case c.Only && len(running) == 1:
		r.cancelTask(event.Cancel{Task: running[0]})
	default:
		r.reject("nothing is running in the conversation: name a task (have: %s)", numbered(running))
	}
}
