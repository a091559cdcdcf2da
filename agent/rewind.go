package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/reminder"
	"buddy/agent/undo"
)

// Change counts the files and lines that file tools have changed since a prompt, shown before a rewind to that
// prompt.
type Change = undo.Change

// border is a prompt that a person can rewind to.
type border struct {
	seq  uint64
	id   int
	text string
}

// wayBack holds the data for a rewind, collected from the stored events.
type wayBack struct {
	rewinds event.Rewinds
	borders []border // oldest first, including removed prompts
	tasks   map[int]*ranTask
	acts    []uint64 // numbers of the events that started calls which undo doesn't cover
}

// ranTask is a task that may have run in parallel with the main conversation.
type ranTask struct {
	event.TaskStarted
	branch     int
	start, end uint64 // numbers of its events; end is 0 if it has not ended
	runs       bool
}

// name returns the task's number and title, for the person and the model.
func (t *ranTask) name() string { return fmt.Sprintf("#%d %s", t.ID, cut(t.Title)) }

// aside reports whether the task was not on the main conversation.
func (t *ranTask) aside() bool { return t.branch != 0 || !t.Kind.HasConversation() }

// readWayBack reads all stored events, which takes time proportional to the session.
func readWayBack(r *Runtime) (*wayBack, error) {
	all := &wayBack{tasks: make(map[int]*ranTask)}
	acts := make(map[string]bool)
	err := r.stream.Stored(func(env event.Envelope) bool {
		all.add(env, acts)
		return true
	})
	for _, id := range runningIDs(r) {
		if t := all.tasks[id]; t != nil {
			t.runs = true
		}
	}
	return all, err
}

// add processes the next event. acts holds the calls that undo doesn't cover.
func (a *wayBack) add(env event.Envelope, acts map[string]bool) {
	a.rewinds.Take(env)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if env.Branch == 0 && p.Kind == event.Opening && !p.Queued {
			a.borders = append(a.borders, border{env.Seq, p.ID, p.Text})
		}
	case event.TaskStarted:
		a.tasks[p.ID] = &ranTask{TaskStarted: p, branch: env.Branch, start: env.Seq}
	case event.TaskFinished:
		if t := a.tasks[p.ID]; t != nil {
			t.end = env.Seq
		}
	case event.ToolRequested:
		acts[p.CallID] = !covers(p.Action.Kind)
	case event.ToolStarted:
		if acts[p.CallID] {
			a.acts = append(a.acts, env.Seq)
			delete(acts, p.CallID) // a second start of the same call, in the sandbox, does not count
		}
	}
}

// covers reports whether undo reverts an action of this kind, or the action has nothing to revert.
func covers(k action.Kind) bool {
	switch k {
	case action.Shell, action.Git, action.PaneKeys, action.Browser, action.MCP, action.Generic:
		return false
	}
	return true
}

// find returns the prompt of an event if a rewind to it is possible, and its position counted from the newest prompt.
func (a *wayBack) find(seq uint64) (b border, back int, ok bool) {
	for _, b := range slices.Backward(a.borders) {
		if a.rewinds.Gone(b.seq) {
			continue
		}
		back++
		if b.seq == seq {
			return b, back, true
		}
	}
	return b, 0, false
}

// since counts the prompts after an event, without those that a rewind removed.
func (a *wayBack) since(seq uint64) int {
	n := 0
	for _, b := range a.borders {
		if b.seq > seq && !a.rewinds.Gone(b.seq) {
			n++
		}
	}
	return n
}

// way is one rewind, undo or redo.
type way struct {
	c     event.Rewind
	all   *wayBack
	event event.HistoryRewound
	undo  *undo.Undo
	past  *conversation.Past
	plan  bool // plan mode was on

	seen   []func(event.Event) // one per driver; gets the events before the border
	goBack []func()            // one per driver; rewinds it to the border
}

// rewindTo rewinds to the state before a prompt.
func rewindTo(r *Runtime, c event.Rewind) {
	if err := mayRewind(r, c); err != nil {
		r.reject("%v", err)
		return
	}
	all, err := readWayBack(r)
	if err != nil {
		r.reject("can't rewind: %v", err)
		return
	}
	b, back, ok := all.find(c.ToSeq)
	if !ok {
		r.reject("no such prompt to rewind to; /rewind lists them")
		return
	}
	w := &way{c: c, all: all, event: event.HistoryRewound{ToSeq: b.seq, Prompt: cut(b.text)}}
	again := fmt.Sprintf("/rewind %d %s--force", back, map[bool]string{false: "files "}[c.Conversation])
	beginWay(r, w, func() error {
		since := b.id
		if !c.Files {
			since = undo.Never
		}
		w.undo = r.changes.BeginSince(r.life.ctx, since, again)
		return nil
	})
}

// mayRewind returns why a rewind is not possible, or nil.
func mayRewind(r *Runtime, c event.Rewind) error {
	switch {
	case !c.Conversation && !c.Files:
		return errors.New("name what to rewind: the conversation, files or both")
	case c.Files:
		return r.changes.Able()
	}
	if err := r.stream.StoreError(); err != nil {
		return fmt.Errorf("can't rewind, because the session can't be saved: %w", err)
	}
	return nil
}

// redoLast reverts the last undo or rewind.
func redoLast(r *Runtime, c event.Redo) {
	if err := r.stream.StoreError(); err != nil {
		r.reject("can't redo, because the session can't be saved: %v", err)
		return
	}
	all, err := readWayBack(r)
	if err != nil {
		all = &wayBack{} // the last undo is known without the events
	}
	w := &way{c: event.Rewind{Files: true, Force: c.Force}, all: all}
	if seq, last, ok := all.rewinds.Last(); ok && seq > r.changes.LastUndone() {
		if n := all.since(seq); n > 0 && !c.Force {
			r.Publish(event.Warning{Text: fmt.Sprintf("nothing was redone: you have sent %s since you rewound to before “%s”", promptsOf(n), last.Prompt), Code: "undo", NextStep: "/redo --force replaces them with the earlier conversation"})
			return
		}
		w.c.Conversation, w.c.Files, w.c.ToSeq = true, len(last.Files) > 0, seq
		w.event = event.HistoryRewound{ToSeq: seq, Prompt: last.Prompt, Redo: true}
	}
	beginWay(r, w, func() (err error) {
		if !w.c.Files {
			w.undo = r.changes.BeginSince(r.life.ctx, undo.Never, "")
			return nil
		}
		w.undo, err = r.changes.BeginRedo(r.life.ctx)
		return err
	})
}

func promptsOf(n int) string {
	if n == 1 {
		return "1 prompt"
	}
	return fmt.Sprintf("%d prompts", n)
}

// beginWay prepares a way while no task can interfere, and runs it in the background, because a target may be slow.
func beginWay(r *Runtime, w *way, prepare func() error) {
	if w.c.Files {
		for _, task := range r.changes.Commands.Settle(r.life.ctx) {
			r.Publish(event.Notice{Text: fmt.Sprintf("task #%d is still running: later changes that it makes are not undone", task), Code: "undo"})
		}
	}
	var err error
	idle := r.tasks.idle
	if !w.c.Files {
		idle = func(do func()) *task { return rests(r.tasks, do) }
	}
	if t := idle(func() { err = prepare() }); t != nil {
		r.reject("nothing can be undone while task #%d is running", t.id)
		return
	}
	if err != nil {
		if !errors.Is(err, errTold) {
			r.reject("%v", err)
		}
		return
	}
	r.life.work.Go(func() {
		done := w.undo.PutBack(w.c.Force)
		if done && w.c.Conversation {
			recallPast(r, w)
		}
		if rewound(r.tasks, w, done) {
			r.compactor.PublishUsage(r.tasks.tree.Main(), 0, 0)
		}
	})
}

// rests calls the function do unless a task runs in the main conversation; otherwise it returns that task.
func rests(s *tasks, do func()) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main.task != nil {
		return s.main.task
	}
	do()
	return nil
}

// recallPast rebuilds the earlier main conversation from the stored events.
func recallPast(r *Runtime, w *way) {
	was := w.all.rewinds
	was.Take(event.Envelope{Seq: r.stream.Last() + 1, Payload: w.event})
	w.past = conversation.NewPast(r.tasks.tree)
	for _, d := range r.tasks.drivers {
		seen, goBack := d.Past()
		w.seen, w.goBack = append(w.seen, seen), append(w.goBack, goBack)
	}
	_ = r.stream.Stored(func(env event.Envelope) bool { // no error, because it was just read
		if env.Seq >= w.event.ToSeq {
			return false
		}
		if !was.Gone(env.Seq) {
			w.add(env)
		}
		return true
	})
}

// add processes an event before the border.
func (w *way) add(env event.Envelope) {
	w.past.Take(env)
	for _, seen := range w.seen {
		seen(env.Payload)
	}
	switch p := env.Payload.(type) {
	case event.PlanEntered:
		w.plan = true
	case event.PlanExited:
		w.plan = false
	case event.ModeChanged:
		w.plan = p.Mode == action.ModePlan
	}
}

// rewound finishes a rewind, undo or redo after the attempt to restore its files, and replaces the conversation if that
// was requested. Then it starts a prompt that came meanwhile. It reports whether the conversation was replaced.
func rewound(s *tasks, w *way, done bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	did := w.undo.Finish(w.c.Conversation)
	switch {
	case done && w.c.Conversation:
		w.event.Files = did.Paths
		s.tree.Rewind(w.past, func() { s.stream.Publish(0, 0, w.event) })
		s.main.pending = false
		for _, goBack := range w.goBack {
			goBack()
		}
		if mode, _ := s.approvals.Mode(); w.plan && mode != action.ModePlan {
			s.approvals.SetMode(action.ModePlan, 0, "")
		}
		announceRewound(s, w)
	case done:
		announceUndone(s, did)
	}
	w.undo.End()
	s.startNext(s.main)
	continueLoop(s)
	return done && w.c.Conversation
}

// announceRewound adds a reminder about what has changed since the border. The caller holds s.mu.
func announceRewound(s *tasks, w *way) {
	var lines []string
	if changed := s.changes.PathsSince(w.all.borderID(w.event.ToSeq)); len(changed) > 0 {
		lines = append(lines, "These files have changed since and stay changed; read one before you change it:\n"+strings.Join(changed, "\n"))
	}
	if n := w.all.actsSince(w.event.ToSeq); n > 0 {
		remains := "any changes they made remain"
		if w.c.Files && s.changes.Commands.Covered() {
			remains = "files that they changed in the workspace are as before, any other changes remain"
		}
		lines = append(lines, fmt.Sprintf("Commands and similar calls (%d) have run since: %s.", n, remains))
	}
	runs, ended := w.all.besides(w.event.ToSeq)
	if len(runs) > 0 {
		lines = append(lines, "These tasks started since and are still running:\n"+strings.Join(runs, "\n"))
		s.stream.Publish(0, 0, event.Notice{Text: "started since then and still running: " + strings.Join(runs, ", ") + " · /kill N ends one", Code: "rewind"})
	}
	if len(ended) > 0 {
		lines = append(lines, "These tasks have ended since:\n"+strings.Join(ended, "\n"))
	}
	if len(lines) == 0 {
		return
	}
	how := "The user rewound the conversation to this point. Later messages no longer count, but:\n"
	if w.event.Redo {
		how = "The user restored the conversation to this point. Later messages no longer count, but:\n"
	}
	s.main.conv.Attach(0, 0, event.ReminderAttached{Kinds: []string{reminder.Undo}, Text: reminder.Wrap(how + strings.Join(lines, "\n"))})
}

// announceUndone adds a reminder with the files that were restored by an undo or redo. The caller holds s.mu.
func announceUndone(s *tasks, did event.FileRestored) {
	if len(did.Paths) == 0 {
		return
	}
	who := "you"
	if len(did.Agents) > 0 {
		who = "you and your agents (" + strings.Join(did.Agents, ", ") + ")"
	}
	text := "The user undid changes that " + who + " made (/undo). These files have their earlier contents; read one before you change it:\n"
	if did.Redo {
		text = "The user redid changes that " + who + " had made and the user had undone (/redo). Read one of these files before you change it:\n"
	}
	s.main.conv.Attach(0, 0, event.ReminderAttached{Kinds: []string{reminder.Undo}, Text: reminder.Wrap(text + strings.Join(did.Paths, "\n"))})
}

// borderID returns the number of the first prompt at or after an event.
func (a *wayBack) borderID(seq uint64) int {
	for _, b := range a.borders {
		if b.seq >= seq {
			return b.id
		}
	}
	return undo.Never
}

// actsSince counts the calls that were made after an event and that undo doesn't cover, including those of removed
// prompts.
func (a *wayBack) actsSince(seq uint64) int {
	at, _ := slices.BinarySearch(a.acts, seq)
	return len(a.acts) - at
}

// maxNamed limits the tasks named in a text.
const maxNamed = 20

// besides returns the background tasks that started since an event and still run, and those that started before it
// and have ended since.
func (a *wayBack) besides(seq uint64) (runs, ended []string) {
	for _, id := range slices.Sorted(maps.Keys(a.tasks)) {
		switch t := a.tasks[id]; {
		case !t.aside():
		case t.start >= seq && t.runs:
			runs = append(runs, t.name())
		case t.start < seq && t.end >= seq:
			ended = append(ended, t.name())
		}
	}
	return runs[max(0, len(runs)-maxNamed):], ended[max(0, len(ended)-maxNamed):]
}

// ChangedSince returns how many files have changed since each prompt of the main conversation, oldest first. It omits
// prompts without changes of their own; their count is that of the next prompt in the list.
func ChangedSince(ctx context.Context, r *Runtime) ([]Change, error) { return r.changes.Since(ctx) }

// replayRewound repeats a stored rewind of the main conversation. events are all events before the rewind.
func replayRewound(r *Runtime, was event.Rewinds, events []event.Envelope, e event.HistoryRewound) {
	past := conversation.NewPast(r.tasks.tree)
	for _, env := range events {
		if env.Seq >= e.ToSeq {
			break
		}
		if !was.Gone(env.Seq) {
			past.Take(env)
		}
	}
	r.tasks.tree.Rewind(past, nil)
}
