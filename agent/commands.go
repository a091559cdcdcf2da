package agent

import (
	"strings"

	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// serve takes commands until the runtime closes.
func (r *Runtime) serve() {
	defer r.done.Done()
	for {
		c, ok := r.inbox.next()
		if !ok {
			return
		}
		r.handle(c)
	}
}

func (r *Runtime) handle(c event.Command) {
	if r.waitsForUndo(c) {
		return
	}
	switch c := c.(type) {
	case event.Submit:
		if c.Shell {
			r.typed(c)
			return
		}
		r.submit(c)
	case event.Unqueue:
		r.unqueue(c.ID)
	case event.Continue:
		r.resumeExchange()
	case event.AnswerApproval:
		r.approvals.Answer(c)
	case event.Answer:
		r.questions.Answer(c)
	case event.Cancel:
		r.cancelTask(c.Task)
	case event.SetTimeout:
		r.setTimeout(c)
	case event.RetryNow:
		r.retryNow()
	default:
		r.adjust(c)
	}
}

// adjust does what is not about one prompt or task.
func (r *Runtime) adjust(c event.Command) {
	switch c := c.(type) {
	case event.SetMode:
		r.approvals.SetMode(c.Mode, c.Duration)
	case event.SwitchModel:
		r.switchModel(c)
	case event.SwitchTarget:
		r.switchTarget(c.Name)
	case event.Compact:
		r.compactNow()
	case event.Pin:
		r.pin(c)
	case event.Rename:
		r.rename(c.Title)
	case event.Undo:
		r.undo(c)
	case event.Report:
		r.report(c.What)
	case event.WatchPanes, event.PaneInput, event.PanePaste, event.FitPane, event.ReadPane, event.KillPane:
		r.tellPanes(c)
	default:
		r.reject("unknown command %T", c)
	}
}

// reject answers a command that makes no sense.
func (r *Runtime) reject(format string, args ...any) {
	r.stream.Reject(format, args...)
}

func (r *Runtime) submit(s event.Submit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.takes(model.Message{Content: s.Text, Images: s.Images}); err != nil {
		r.reject("the prompt was not taken: %v", err)
		return
	}
	c, kind := r.main, event.MainTask
	if s.Background {
		if len(r.branches) == maxBranches {
			r.reject("the prompt was not taken: %d tasks work in the background already", maxBranches)
			return
		}
		c, kind = r.fork(), event.BackgroundTask
		r.emit(0, 0, event.BranchStarted{Branch: c.branch, FromSeq: r.stream.Last(), Why: "bg"})
	}
	r.ids.prompt++
	p := event.PromptSubmitted{ID: r.ids.prompt, Text: s.Text, Images: s.Images, Queued: c.task != nil}
	if p.Queued {
		c.queue = append(c.queue, p)
		r.emit(0, 0, p)
		if c.drop != nil {
			c.drop(approval.ErrSuperseded)
		}
		return
	}
	r.startTask(c, kind, []event.PromptSubmitted{p}, r.exchange)
}

// maxBranches is how many tasks may work beside the main one.
const maxBranches = 8

// pin keeps an exchange as it is (B18).
func (r *Runtime) pin(p event.Pin) {
	if err := r.stream.ReadOnly(); err != nil {
		r.reject("nothing was pinned, because it can't be recorded: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.main.hist.PinExchange(p.Back, !p.Off)
	if n == 0 {
		r.reject("there is no exchange %d (1 is the newest that the model is still sent)", p.Back)
		return
	}
	r.emit(0, 0, event.ContextPinned{Back: p.Back, Off: p.Off, Messages: n})
}

func (r *Runtime) unqueue(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range r.main.queue {
		if p.ID == id {
			r.main.queue = append(r.main.queue[:i:i], r.main.queue[i+1:]...)
			r.emit(0, 0, event.PromptWithdrawn{ID: id})
			return
		}
	}
	r.reject("prompt %d is not queued", id)
}

// switchModel changes who answers, or how much the same model thinks; the history stays. What
// the model is told follows it: another one has cached nothing of what the first was told.
func (r *Runtime) switchModel(c event.SwitchModel) {
	if r.opts.Models == nil {
		r.reject("there is no other model")
		return
	}
	before := r.answering().Info()
	same := c.Profile == ""
	if same {
		c.Profile = before.Profile
	}
	m, err := r.opts.Models(c.Profile, c.Effort)
	if err != nil {
		r.reject("the model was not switched: %v", err)
		return
	}
	r.mu.Lock()
	if busy := r.busy(); len(busy) > 0 && !same {
		r.mu.Unlock()
		r.reject("the model can't be switched while task #%d runs", busy[0].id)
		return
	}
	info := m.Info()
	if !same {
		if err := r.retell(info); err != nil {
			r.mu.Unlock()
			r.reject("the model was not switched: %v", err)
			return
		}
	}
	r.model = m
	r.gauge(r.main.hist)
	r.emit(0, 0, event.ModelSwitched{Profile: info.Profile, Model: info.Model, API: info.API, Window: info.Window, Effort: info.Effort, Note: difference(before, info)})
	r.mu.Unlock()
	r.emitUsage(nil, 0)
}

// retell changes what the next request begins with to what a model is told. The caller holds r.mu.
func (r *Runtime) retell(info model.Info) error {
	if r.opts.Told == nil {
		return nil
	}
	system, all, err := r.opts.Told(info)
	if err != nil {
		return err
	}
	r.opts.System, r.opts.Tools = system, all
	r.setSystem()
	return nil
}

// difference says what of a switch a person may not expect: another protocol, in which what
// the old model thought is not sent on, and another way to pay.
func difference(from, to model.Info) string {
	var all []string
	if from.API != to.API && from.API != model.Demo && to.API != model.Demo {
		all = append(all, "the protocol is "+to.API+" instead of "+from.API+": earlier reasoning is not sent on")
	}
	if from.Auth != to.Auth && from.Auth != "" && to.Auth != "" {
		all = append(all, "it is asked with "+to.Auth+" instead of "+from.Auth)
	}
	return strings.Join(all, "; ")
}

// toolset returns the tools that are offered now.
func (r *Runtime) toolset() *tools.Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opts.Tools
}

// answering returns the model that answers now.
func (r *Runtime) answering() model.Model {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model
}

// resumeExchange goes on with what a crash or the limit of turns interrupted.
func (r *Runtime) resumeExchange() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.main.task != nil || !r.main.pending {
		r.reject("nothing was interrupted")
		return
	}
	r.startTask(r.main, event.MainTask, nil, r.exchange)
}

// retryNow sends the request of the main task again that waits to be.
func (r *Runtime) retryNow() {
	r.mu.Lock()
	t := r.main.task
	r.mu.Unlock()
	if t == nil || !t.hurry() {
		r.reject("no request waits to be sent again")
	}
}

// cancelTask stops a task; 0 is the main one.
func (r *Runtime) cancelTask(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.busy() {
		if t.id == id || id == 0 && t == r.main.task {
			r.emit(t.id, 0, event.TaskCancelling{ID: t.id})
			t.cancel(ErrCancelled)
			return
		}
	}
	if r.stopShell(id) {
		return
	}
	if id == 0 {
		r.reject("nothing is running")
		return
	}
	r.reject("task %d is not running", id)
}
