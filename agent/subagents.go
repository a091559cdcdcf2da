package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/agent/settings"
	"buddy/agent/subagents"
	"buddy/agent/turn"
	"buddy/agent/usage"
	"buddy/extensions/subagent"
	"buddy/texts"
	"buddy/tools"
)

// Agents say which subagents there are, and how many may work. The zero value has none.
type Agents struct {
	// Read returns their definitions; nil: there are none.
	Read func(context.Context) (subagents.Set, error)
	// System returns the system prompt of an agent with the text of its definition.
	System func(text string) string
	// Model returns the model of a profile, or of subagent.SmallModel; nil: the caller's.
	Model func(profile string) model.Model

	// Review reviews what differs from a base on a target, and returns when that has ended; nil: there is nothing to
	// review.
	Review func(ctx context.Context, target, base string, by turn.Delegate) event.ReviewFinished

	Limits settings.Agents // 0 is the default
}

// subagentSet holds the subagents of a session. The lock of tasks guards began, used and line.
type subagentSet struct {
	tasks *tasks
	o     Agents
	book  *subagents.Book

	reviewing atomic.Bool // a review works

	compactor    *compact.Compactor // of the main agent
	instructions *conversation.Instructions
	durable      Durable
	redact       *redact.Redactor

	began int // in the session
	used  []agentUse
	line  agentLine
}

// agentUse counts what one subagent of this process used.
type agentUse struct {
	task  int
	label string
	used  *usage.Task
}

// report describes what the agents of this process used, for people.
func (set *subagentSet) report() (s Section) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	if set.began == 0 {
		return s
	}
	s = Section{Title: "Subagents", Facts: []Fact{{"In all", texts.Count(set.began)}}}
	for _, a := range set.used {
		s.add(fmt.Sprintf("#%d", a.task), a.label+": "+set.tasks.ledger.Used(a.used))
	}
	return s
}

// subagentRun holds what a subagent's conversation has beside. The lock of tasks guards ended.
type subagentRun struct {
	subagent.Definition
	loop       *turn.Loop
	parent     int // task
	title      string
	call       string // id of the call
	dir        string // where its result will be
	background bool
	ended      bool        // it takes no more prompts
	quiet      *time.Timer // fires when nothing of it has happened for a while
}

// Why no agent works. The model reads these.
var (
	errDepth   = errors.New("agents can't be nested deeper; do the work yourself. Do not retry")
	errNoAgent = errors.New("there are no subagents here")
)

// runAgent lets a subagent work for a call, see [turn.Parts].
func (set *subagentSet) runAgent(ctx context.Context, by turn.Caller, call tools.Call, asked tools.Subagent) tools.Result {
	if set.o.Read == nil {
		return tools.Failure(errNoAgent)
	}
	if by.Depth >= set.o.Limits.Depth {
		return tools.Failure(errDepth)
	}
	def, err := set.book.Find(ctx, asked.Type)
	if err != nil {
		return tools.Failure(err)
	}
	run := &subagentRun{Definition: def, parent: by.Task, title: cut(asked.Title), call: call.ID, dir: call.Dir}
	// One that an agent called has nobody to tell its end later, and neither has a session that ends
	// with its answer.
	run.background = by.Type == "" && set.tasks.approvals.Interactive() && (def.Background && asked.Background == nil || asked.Background != nil && *asked.Background)
	set.instructions.Await(ctx)
	if by.Type != "" {
		set.pause(by)
		defer set.goOn(ctx, by)
	}
	working, t, err := set.open(ctx, by, run, set.o.System(def.Prompt), asked.Prompt)
	if err != nil {
		return tools.Failure(err)
	}
	if by.Begun != nil {
		by.Begun()
	}
	if run.background {
		set.tasks.life.work.Go(func() { set.tellEnd(run, t.id, set.run(working, t, run)) })
		note := "do something else; you get a message when it ends"
		if file := run.file(); file != "" {
			note += ", and its result is in " + file + " then"
		}
		return tools.Success(fmt.Sprintf("task #%d (%s) is working in the background", t.id, def.Name), note)
	}
	return set.run(working, t, run).result()
}

// open makes the task of a subagent, once there is room for it, unless there were too many.
func (set *subagentSet) open(ctx context.Context, by turn.Caller, run *subagentRun, system, prompt string) (context.Context, *task, error) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	if err := set.await(ctx, set.room); err != nil {
		return nil, nil, err
	}
	set.began++
	m := by.Model
	if run.Model != "" && set.o.Model != nil {
		if other := set.o.Model(run.Model); other != nil {
			m = turn.WithDurable(other, set.durable)
		}
	}
	depth := by.Depth + 1
	mode := action.Stricter(by.Most, run.Mode)
	chosen := set.tasks.selection.For(m, by.Tools.Only(func(name string) bool {
		return run.Offers(name) && !slices.Contains(notForAgents, name) && (name != tools.Agent || depth < set.o.Limits.Depth)
	}))
	b := &branch{talk: set.tasks.tree.Begin(by.Talk, system), agent: run}
	b.talk.Gauge(m.Info().Model, chosen.Overhead())
	set.tasks.forks[b.talk.Branch()] = b
	label := run.Name
	if run.title != "" {
		label += ": " + cut(run.title)
	}
	run.loop = by.Loop.For(turn.Agent{
		ID: fmt.Sprintf("agent-%d", b.talk.Branch()), Type: run.Name, Label: label, Depth: depth, Most: mode, Skills: run.Skills,
	}, chosen, set.compactor.For(chosen, mode))
	begun := event.TaskStarted{
		Kind: event.SubagentTask, Title: run.title, Dir: run.dir,
		Agent: run.Name, Parent: by.Task, Call: run.call, Background: run.background,
	}
	if run.background {
		ctx = set.tasks.life.ctx
	}
	working, t := set.tasks.open(ctx, b, begun, []event.PromptSubmitted{set.tasks.newPrompt(prompt, nil)})
	turns := run.MaxTurns
	if turns == 0 {
		turns = set.o.Limits.Turns
	}
	t.x.CountUnder(by.Used, turns)
	set.watch(by.Task, t, run)
	set.used = append(set.used, agentUse{t.id, label, t.x.Used()})
	return working, t, nil
}

// notForAgents are tools that only the main agent has: a person talks to it.
var notForAgents = []string{"ask_user", "remember", "enter_plan", "exit_plan"}

// room returns why no further subagent may ever begin, or nil. The caller holds the lock of tasks.
func (set *subagentSet) room() error {
	switch {
	case set.tasks.life.ended():
		return ErrClosed
	case set.began >= set.o.Limits.Session:
		return fmt.Errorf("this session has had %d agents, the most there may be ([agents] session). Do not retry; do the work yourself", set.began)
	}
	return nil
}

// beside returns how many conversations of the main agent work beside the main one. The caller holds
// the lock of tasks.
func (set *subagentSet) beside() int {
	n := 0
	for _, b := range set.tasks.forks {
		if b.agent == nil {
			n++
		}
	}
	return n
}

// steer gives a subagent a prompt of the person's. The caller holds the lock of tasks.
func (set *subagentSet) steer(c event.Submit) {
	for _, t := range set.tasks.busy() {
		switch a := t.on.agent; {
		case t.id != c.Task:
			continue
		case a == nil:
			set.tasks.stream.Reject("prompt not sent: task %d is not a subagent", c.Task)
		case a.ended:
			set.tasks.stream.Reject("prompt not sent: task %d is about to end", c.Task)
		default:
			t.on.talk.Enqueue(set.tasks.newPrompt(c.Text, c.Images))
		}
		return
	}
	set.tasks.stream.Reject("prompt not sent: task %d is not running", c.Task)
}

// withdraw takes back a prompt that waits, in whichever conversation, and reports whether there was one.
func withdraw(s *tasks, id int) bool {
	if s.tree.Main().Withdraw(id) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.forks {
		if b.talk.Withdraw(id) {
			return true
		}
	}
	return false
}

// work lets a subagent work up to the end of its task. again returns what it is asked after an answer, "" for nothing more.
func (set *subagentSet) work(ctx context.Context, t *task, run *subagentRun, again func(answer string) string) (Result, error) {
	return set.tasks.run(ctx, t, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		for {
			outcome, err := run.loop.Run(ctx, x)
			if outcome != event.Completed {
				return outcome, err
			}
			if more := again(x.Response()); more != "" {
				t.on.talk.Enqueue(set.tasks.newPrompt(more, nil))
			} else if set.closes(t.on) {
				return outcome, err
			}
		}
	})
}

// run runs a subagent's task up to its end.
func (set *subagentSet) run(ctx context.Context, t *task, run *subagentRun) agentEnd {
	res, err := set.work(ctx, t, run, func(string) string { return "" })
	end := agentEnd{run: run, task: t.id, outcome: res.Outcome, err: err, text: strings.TrimSpace(res.Response), turns: res.Turns}
	if end.text != "" {
		end.problem = run.save(set.defused(end.text))
	}
	return end
}

// defused returns what an agent said without secrets, and with prompt injections in it marked.
func (set *subagentSet) defused(text string) string {
	text = set.redact.Text(text)
	return inject.Defuse(text, inject.Scan(text))
}

// closes lets a subagent take no more prompts, unless one waits, and reports whether it did.
func (set *subagentSet) closes(b *branch) bool {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	b.agent.ended = len(b.talk.Queue()) == 0
	return b.agent.ended
}

// quiet says how long a subagent may do nothing that shows until a person is told.
const quiet = 10 * time.Minute

// watch tells a person when nothing of a subagent has happened for a while, once each time. What
// happens of an agent that it called counts. The caller holds
// the lock of tasks.
func (set *subagentSet) watch(parent int, t *task, run *subagentRun) {
	run.quiet = time.AfterFunc(quiet, func() {
		text := fmt.Sprintf("the agent %s (task #%d, %q) has done nothing for %v: it may be waiting for your answer; /kill %d ends it", run.Name, t.id, t.title, quiet, t.id)
		set.tasks.stream.Publish(0, 0, event.Notice{Text: text, Code: "agent_quiet"})
	})
	above := []*time.Timer{run.quiet}
	for _, other := range set.tasks.busy() {
		if a := other.on.agent; a != nil && other.id == parent {
			above = append(above, a.quiet)
		}
	}
	set.tasks.stream.Watch(t.id, func() {
		for _, timer := range above {
			timer.Reset(quiet)
		}
	})
}

// unwatch ends watch.
func (set *subagentSet) unwatch(t *task) {
	set.tasks.stream.Watch(t.id, nil)
	t.on.agent.quiet.Stop()
}
