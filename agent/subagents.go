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

// Agents configures the subagents and their limits. The zero value has none.
type Agents struct {
	// Read returns their definitions; nil: there are none.
	Read func(context.Context) (subagents.Set, error)
	// System returns the system prompt of an agent with the text of its definition.
	System func(text string) string
	// Model returns the model of a profile, or of subagent.SmallModel; nil: the caller's.
	Model func(profile string) model.Model

	// Review reviews the difference from a base on a target, and returns when the review has ended; nil: there is nothing
	// to review.
	Review func(ctx context.Context, target, base string, by turn.Delegate) event.ReviewFinished

	// Isolate creates a separate folder for the subagent with this title, and returns the caller's tools for that folder;
	// nil: no subagent can have its own folder.
	Isolate func(ctx context.Context, title string, all *tools.Registry) (Isolated, error)

	Limits settings.Agents // 0 fields have defaults
}

// Isolated is a subagent's own folder.
type Isolated struct {
	Tools *tools.Registry
	Note  string // for the agent, after its prompt
	// End closes the folder after the agent's work and returns a sentence about what it leaves there.
	End func(context.Context) string
}

// subagentSet holds the subagents of a session. The lock of tasks guards began, used and line.
type subagentSet struct {
	tasks *tasks
	o     Agents
	book  *subagents.Book

	reviewing atomic.Bool           // a review is running
	cutOff    *event.ReviewFinished // ends the review that ran when an earlier process ended; nil: none ran

	compactor    *compact.Compactor // of the main agent
	instructions *conversation.Instructions
	durable      Durable
	redact       *redact.Redactor

	began int // number of subagents in the session so far
	used  []agentUse
	line  agentLine
}

// agentUse holds the usage of one subagent of this process.
type agentUse struct {
	task  int
	label string
	used  *usage.Task
}

// report returns a section with the usage of the agents of this process.
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

// subagentRun holds the data of a subagent's task. The lock of tasks guards ended.
type subagentRun struct {
	subagent.Definition
	loop       *turn.Loop
	parent     int // task
	title      string
	call       string // id of the call
	dir        string // for its result
	background bool
	ended      bool                         // it accepts no more prompts
	end        func(context.Context) string // of its own folder; nil if it has none
	quiet      *time.Timer                  // fires when nothing has happened for a while
}

// Reasons why no agent starts, for the model.
var (
	errDepth   = errors.New("agents can't be nested deeper; do the work yourself. Do not retry")
	errNoAgent = errors.New("there are no subagents here")
)

// runAgent runs a subagent for a call, see [turn.Parts].
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
	// An agent that another agent calls runs in the foreground, because nobody could get its result later. So does
	// every agent in a session that ends with its answer.
	run.background = by.Type == "" && set.tasks.approvals.Interactive() && (def.Background && asked.Background == nil || asked.Background != nil && *asked.Background)
	set.instructions.Await(ctx)
	if def.Isolated {
		if by.Tools, asked.Prompt, err = set.isolate(ctx, run, by.Tools, asked.Prompt); err != nil {
			return tools.Failure(err)
		}
	}
	if by.Type != "" {
		set.pause(by)
		defer set.unpause(ctx, by)
	}
	working, t, err := set.open(ctx, by, run, set.o.System(def.Prompt), asked.Prompt)
	if err != nil {
		run.leave(ctx)
		return tools.Failure(err)
	}
	if by.Started != nil {
		by.Started()
	}
	if run.background {
		set.tasks.stream.Publish(by.Task, 0, event.SubagentBackgrounded{ID: t.id, Agent: def.Name, OutputFile: run.file()})
		return set.inBackground(working, t, run)
	}
	return set.run(working, t, run).result()
}

// inBackground starts the work of a subagent, and returns the result of the call that requested the subagent.
func (set *subagentSet) inBackground(working context.Context, t *task, run *subagentRun) tools.Result {
	set.tasks.life.work.Go(func() { set.announceEnd(run, t.id, set.run(working, t, run)) })
	note := "do something else; you get a message when it ends"
	if file := run.file(); file != "" {
		note += ", and its result is in " + file + " then"
	}
	return tools.Success(fmt.Sprintf("task #%d (%s) is working in the background", t.id, run.Name), note)
}

// open creates the task of a subagent, after waiting for room. It fails if the session had too many subagents.
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
	b := &branch{conv: set.tasks.tree.Begin(by.Conv, system), agent: run}
	b.conv.Gauge(m.Info().Model, chosen.Overhead())
	set.tasks.forks[b.conv.Branch()] = b
	label := run.Name
	if run.title != "" {
		label += ": " + cut(run.title)
	}
	run.loop = by.Loop.For(turn.Agent{
		ID: fmt.Sprintf("agent-%d", b.conv.Branch()), Type: run.Name, Label: label, Depth: depth, Most: mode, Skills: run.Skills,
	}, chosen, set.compactor.For(chosen, mode))
	started := event.TaskStarted{
		Kind: event.SubagentTask, Title: run.title, Dir: run.dir,
		Agent: run.Name, Parent: by.Task, Call: run.call, Background: run.background,
	}
	if run.background {
		ctx = set.tasks.life.ctx
	}
	working, t := set.tasks.open(ctx, b, started, []event.PromptSubmitted{set.tasks.newPrompt(prompt, nil)})
	turns := run.MaxTurns
	if turns == 0 {
		turns = set.o.Limits.Turns
	}
	t.x.CountUnder(by.Used, turns)
	set.watch(by.Task, t, run)
	set.used = append(set.used, agentUse{t.id, label, t.x.Used()})
	return working, t, nil
}

// notForAgents lists tools that only the main agent has, because a person talks to it.
var notForAgents = []string{"ask_user", "remember", "enter_plan", "exit_plan"}

// room returns why no further subagent may start, or nil. The caller holds the lock of tasks.
func (set *subagentSet) room() error {
	switch {
	case set.tasks.life.ended():
		return ErrClosed
	case set.began >= set.o.Limits.Session:
		return fmt.Errorf("this session has had %d agents, the most there may be ([agents] session). Do not retry; do the work yourself", set.began)
	}
	return nil
}

// backgroundForks returns the number of background conversations other than those of subagents. The caller holds the
// lock of tasks.
func (set *subagentSet) backgroundForks() int {
	n := 0
	for _, b := range set.tasks.forks {
		if b.agent == nil {
			n++
		}
	}
	return n
}

// steer sends a person's prompt to a subagent. The caller holds the lock of tasks.
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
			t.on.conv.Enqueue(set.tasks.newPrompt(c.Text, c.Images))
		}
		return
	}
	set.tasks.stream.Reject("prompt not sent: task %d is not running", c.Task)
}

// withdraw removes a queued prompt from any conversation, and reports whether it was found.
func withdraw(s *tasks, id int) bool {
	if s.tree.Main().Withdraw(id) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.forks {
		if b.conv.Withdraw(id) {
			return true
		}
	}
	return false
}

// work runs a subagent until its task ends. After each answer it calls again, which returns the next prompt, or "" to
// end.
func (set *subagentSet) work(ctx context.Context, t *task, run *subagentRun, again func(answer string) string) (Result, error) {
	return set.tasks.run(ctx, t, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		for {
			outcome, err := run.loop.Run(ctx, x)
			if outcome != event.Completed {
				return outcome, err
			}
			if more := again(x.Response()); more != "" {
				t.on.conv.Enqueue(set.tasks.newPrompt(more, nil))
			} else if set.closes(t.on) {
				return outcome, err
			}
		}
	})
}

// run runs a subagent's task until it ends, closes the agent's own folder and saves the result.
func (set *subagentSet) run(ctx context.Context, t *task, run *subagentRun) agentEnd {
	res, err := set.work(ctx, t, run, func(string) string { return "" })
	end := agentEnd{run: run, task: t.id, outcome: res.Outcome, err: err, text: strings.TrimSpace(res.Response), turns: res.Turns}
	end.left = run.leave(context.WithoutCancel(ctx))
	if end.left != "" {
		end.text = strings.TrimSpace(end.text + "\n\n" + end.left)
	}
	if end.text != "" {
		end.problem = run.save(set.defused(end.text))
	}
	return end
}

// defused returns an agent's text without secrets, and with prompt injections marked.
func (set *subagentSet) defused(text string) string {
	text = set.redact.Text(text)
	return inject.Defuse(text, inject.Scan(text))
}

// closes stops accepting prompts for a subagent, unless one is queued, and reports whether it did.
func (set *subagentSet) closes(b *branch) bool {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	b.agent.ended = len(b.conv.Queue()) == 0
	return b.agent.ended
}

// quiet is the time without visible activity of a subagent after which the person gets a notice.
const quiet = 10 * time.Minute

// watch notifies the person when a subagent has done nothing visible for a while, once for each such pause. Events of
// agents that it called count too. The caller holds the lock of tasks.
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

// unwatch stops what watch started for a subagent's task.
func (set *subagentSet) unwatch(t *task) {
	set.tasks.stream.Watch(t.id, nil)
	t.on.agent.quiet.Stop()
}
