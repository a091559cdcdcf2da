package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/selection"
	"buddy/agent/subagents"
	"buddy/agent/turn"
	"buddy/agent/usage"
	"buddy/extensions/subagent"
	"buddy/tools"
)

// Agents say which subagents there are, and how many may work. The zero value has none.
type Agents struct {
	// Read returns their definitions; nil: there are none.
	Read func(context.Context) (subagents.Set, error)
	// System returns the system prompt of an agent with the text of its definition.
	System func(text string) (string, error)
	// Model returns the model of a profile, or of subagent.SmallModel; nil: the caller's.
	Model func(profile string) model.Model

	Depth  int  // of agents that agents call; 0 is 2
	AtOnce int  // that work at the same time; 0 is 6
	Most   int  // of a session; 0 is 100
	Turns  int  // of one that does not say it itself; 0 is 50
	Wake   bool // the end of one in the background begins a task of the main agent when it is idle
}

// withDefaults fills in what is not said.
func (a Agents) withDefaults() Agents {
	for _, d := range []struct {
		at    *int
		value int
	}{{&a.Depth, 2}, {&a.AtOnce, 6}, {&a.Most, 100}, {&a.Turns, 50}} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	return a
}

// subagentSet holds the subagents of a session. tasks.mu guards began.
type subagentSet struct {
	o    Agents
	book *subagents.Book

	compactor    *compact.Compactor // of the main agent
	instructions *conversation.Instructions
	durable      Durable

	began int // in the session
	used  []agentUse
}

// agentUse is what one subagent of this process used.
type agentUse struct {
	task  int
	label string
	used  *usage.Task
}

// reportAgents describes what the agents of this process used, one line each, for people.
func (s *tasks) reportAgents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents.began == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("agents     %d in all", s.agents.began)}
	for _, a := range s.agents.used {
		lines = append(lines, fmt.Sprintf("           #%d  %s: %s", a.task, a.label, s.ledger.Used(a.used)))
	}
	return lines
}

// subagentRun is what a subagent's conversation has beside. tasks.mu guards ended.
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

// RunAgent implements [turn.Subagents].
func (s *tasks) RunAgent(ctx context.Context, by turn.Caller, call tools.Call, asked tools.Subagent) tools.Result {
	if s.agents.o.Read == nil {
		return tools.Failure(errNoAgent)
	}
	if by.Loop.Agent().Depth >= s.agents.o.Depth {
		return tools.Failure(errDepth)
	}
	def, err := s.agents.book.Find(ctx, asked.Type)
	if err != nil {
		return tools.Failure(err)
	}
	run := &subagentRun{Definition: def, parent: by.Task, title: cut(asked.Title), call: call.ID, dir: call.Dir}
	// One that an agent called has nobody to tell its end later, and neither has a session that ends
	// with its answer.
	run.background = by.Loop.Agent().Type == "" && s.approvals.Interactive() && (def.Background && asked.Background == nil || asked.Background != nil && *asked.Background)
	system, err := s.agents.o.System(def.Prompt)
	if err != nil {
		return tools.Failure(err)
	}
	system = s.agents.instructions.Behind(ctx, system)
	working, t, err := s.openAgent(ctx, by, run, system, asked.Prompt)
	if err != nil {
		return tools.Failure(err)
	}
	if run.background {
		go func() { s.tellEnd(run, t.id, s.runAgent(working, t, run)) }()
		return tools.Success(map[string]any{
			"task": t.id, "agent": def.Name, "file": run.file(), "note": "It works in the background. Go on with something else; you are told when it has ended, and its result is in the file then.",
		}, fmt.Sprintf("task #%d works in the background", t.id))
	}
	return s.runAgent(working, t, run).result()
}

// Listing implements [turn.Subagents].
func (s *tasks) Listing(ctx context.Context) conversation.Listing { return s.agents.book.Listing(ctx) }

// Mentioned implements [turn.Subagents].
func (s *tasks) Mentioned(ctx context.Context, prompt string) []string {
	if !strings.Contains(prompt, "@") || s.agents.o.Read == nil {
		return nil
	}
	return s.agents.book.Mentioned(ctx, prompt)
}

// openAgent makes the task of a subagent, unless there are too many.
func (s *tasks) openAgent(ctx context.Context, by turn.Caller, run *subagentRun, system, prompt string) (context.Context, *task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.roomForAgent(); err != nil {
		return nil, nil, err
	}
	s.agents.began++
	m := by.Loop.Model()
	if run.Model != "" && s.agents.o.Model != nil {
		if other := s.agents.o.Model(run.Model); other != nil {
			m = turn.WithDurable(other, s.agents.durable)
		}
	}
	depth := by.Loop.Agent().Depth + 1
	mode := action.Stricter(by.Loop.Agent().Most, run.Mode)
	chosen := selection.New(m, by.Loop.Tools().Only(func(name string) bool {
		return run.Offers(name) && !slices.Contains(notForAgents, name) && (name != tools.Agent || depth < s.agents.o.Depth)
	}))
	b := &branch{talk: s.tree.Begin(by.Talk, system), agent: run}
	b.talk.Gauge(m.Info().Model, chosen.Overhead())
	s.forks[b.talk.Branch()] = b
	label := run.Name
	if run.title != "" {
		label += ": " + cut(run.title)
	}
	run.loop = by.Loop.For(turn.Agent{
		ID: fmt.Sprintf("agent-%d", b.talk.Branch()), Type: run.Name, Label: label, Depth: depth, Most: mode, Skills: run.Skills,
	}, chosen, s.agents.compactor.For(chosen, mode))
	begun := event.TaskStarted{
		Kind: event.SubagentTask, Title: run.title, Dir: run.dir,
		Agent: run.Name, Parent: by.Task, Call: run.call, Background: run.background,
	}
	if run.background {
		ctx = s.life.ctx
	}
	working, t := s.open(ctx, b, begun, []event.PromptSubmitted{s.newPrompt(prompt, nil)})
	turns := run.MaxTurns
	if turns == 0 {
		turns = s.agents.o.Turns
	}
	t.x.Below(by.Used, turns)
	s.watch(by.Task, t, run)
	s.agents.used = append(s.agents.used, agentUse{t.id, label, t.x.Used()})
	return working, t, nil
}

// notForAgents are tools that only the main agent has: a person talks to it.
var notForAgents = []string{"ask_user", "enter_plan", "exit_plan"}

// roomForAgent returns why no subagent may begin, or nil. The caller holds s.mu.
func (s *tasks) roomForAgent() error {
	works := len(s.forks) - s.beside()
	switch {
	case s.life.ended():
		return ErrClosed
	case works >= s.agents.o.AtOnce:
		return fmt.Errorf("%d agents work already, the most at once ([agents] at_once). Do not retry before one has ended; go on without it, or do the work yourself", works)
	case s.agents.began >= s.agents.o.Most:
		return fmt.Errorf("this session has had %d agents, the most there may be ([agents] session). Do not retry; do the work yourself", s.agents.began)
	}
	return nil
}

// beside returns how many conversations of the main agent work beside the main one. The caller holds
// s.mu.
func (s *tasks) beside() int {
	n := 0
	for _, b := range s.forks {
		if b.agent == nil {
			n++
		}
	}
	return n
}

// steer gives a subagent a prompt of the person's. The caller holds s.mu.
func (s *tasks) steer(c event.Submit) {
	for _, t := range s.busy() {
		switch a := t.on.agent; {
		case t.id != c.Task:
			continue
		case a == nil:
			s.stream.Reject("the prompt was not taken: task %d is no subagent", c.Task)
		case a.ended:
			s.stream.Reject("the prompt was not taken: task %d is about to end", c.Task)
		default:
			t.on.talk.Enqueue(s.newPrompt(c.Text, c.Images))
		}
		return
	}
	s.stream.Reject("the prompt was not taken: task %d is not running", c.Task)
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

// agentEnd is what came of a subagent's work.
type agentEnd struct {
	run     *subagentRun
	task    int
	outcome event.Outcome
	err     error
	text    string // its last answer
	turns   int
	problem error // why its file could not be written
}

// runAgent runs a subagent's task up to its end.
func (s *tasks) runAgent(ctx context.Context, t *task, run *subagentRun) agentEnd {
	res, err := s.run(ctx, t, func(ctx context.Context, x *turn.Exchange) (event.Outcome, error) {
		for {
			outcome, err := run.loop.Run(ctx, x)
			if outcome != event.Completed || s.closes(t.on) {
				return outcome, err
			}
		}
	})
	end := agentEnd{run: run, task: t.id, outcome: res.Outcome, err: err, text: strings.TrimSpace(res.Response), turns: res.Turns}
	if end.text != "" {
		end.problem = run.save(s.loop.Defused(end.text))
	}
	return end
}

// closes lets a subagent take no more prompts, unless one waits, and reports whether it did.
func (s *tasks) closes(b *branch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.agent.ended = len(b.talk.Queue()) == 0
	return b.agent.ended
}

// file returns where the whole result of the agent will be, "" when no files are kept.
func (r *subagentRun) file() string {
	if r.dir == "" {
		return ""
	}
	return filepath.Join(r.dir, "agent.md")
}

// save keeps the whole result.
func (r *subagentRun) save(text string) error {
	if r.dir == "" {
		return errors.New("the session keeps no files")
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(r.file(), []byte(text), 0o600)
}

const (
	maxAgentResult = 8 << 10 // bytes of an agent's result that its caller reads
	maxAgentNews   = 2 << 10 // bytes of it in the reminder that one in the background has ended
)

// how says in a few words how the agent ended.
func (e agentEnd) how() string {
	switch e.outcome {
	case event.Completed:
		return "has completed"
	case event.Cancelled:
		return "was cancelled"
	case event.MaxTurns:
		return fmt.Sprintf("was stopped after %d turns, its limit", e.turns)
	case event.MaxCost:
		return "was stopped, because the prompt has cost as much as it may"
	case event.ContextLimit:
		return "was stopped, because its context is full"
	}
	if e.err != nil {
		return "has failed: " + e.err.Error()
	}
	return "has failed"
}

// result returns what the model reads that called the agent.
func (e agentEnd) result() tools.Result {
	if e.outcome != event.Completed {
		text := fmt.Sprintf("The agent %s (task %d) %s.", e.run.Name, e.task, e.how())
		if e.text != "" {
			text += " The last that it said:\n" + compact.Clip(e.text, maxAgentResult/2)
		}
		return tools.Result{Content: text, IsError: true, Tail: e.text}
	}
	payload := map[string]any{"agent": e.run.Name, "task": e.task, "turns": e.turns, "result": compact.Clip(e.text, tools.FitJSON(e.text, maxAgentResult))}
	res := tools.Success(payload, e.text)
	switch {
	case e.problem != nil:
		payload["note"] = "all of it could not be kept: " + e.problem.Error()
		res = tools.Success(payload, e.text)
	default:
		payload["file"], payload["bytes"] = e.run.file(), len(e.text)
		res = tools.Success(payload, e.text)
		res.Full = &tools.File{Path: e.run.file(), Bytes: int64(len(e.text))}
	}
	return res
}

// tellEnd tells the main agent, once, that a subagent in the background has ended.
func (s *tasks) tellEnd(run *subagentRun, id int, end agentEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.main.talk.Announce(agentNews(id, run.Name, run.title, end.how(), run.file(), s.loop.Defused(end.text)))
	if s.agents.o.Wake && s.main.task == nil && !s.life.ended() {
		s.start(s.main, event.MainTask, nil, s.loop.Run)
	}
}

// replay counts a subagent of an earlier process.
func (a *subagentSet) replay() { a.began++ }

// agentEnded feeds that a subagent of an earlier process has ended: unless the main agent was told
// later, it still has to be.
func (s *tasks) agentEnded(was event.TaskStarted, e event.TaskFinished) {
	if !was.Background {
		return
	}
	end := agentEnd{outcome: e.Outcome}
	if e.Error != "" {
		end.err = errors.New(e.Error)
	}
	s.main.talk.Announce(agentNews(was.ID, was.Agent, was.Title, end.how(), "", "") + lookInto(was.Dir))
}

// lookInto says where the result of an agent is.
func lookInto(dir string) string {
	if dir == "" {
		return ""
	}
	return " What it answered, if anything, is in " + (&subagentRun{dir: dir}).file() + "."
}

// errAgentInterrupted is why a subagent failed that worked when buddy ended.
var errAgentInterrupted = errors.New("interrupted: buddy ended while it worked")

// dropAgents ends the subagents that worked when an earlier process ended. The caller holds s.mu.
func (s *tasks) dropAgents() {
	for _, b := range slices.SortedFunc(maps.Keys(s.left), func(a, b *branch) int { return a.talk.Branch() - b.talk.Branch() }) {
		if b.agent != nil {
			s.dropAgent(b, s.left[b])
			delete(s.left, b)
		}
	}
}

// dropAgent ends one of them: it does not go on by itself, because nobody knows what of its work is
// done. The caller holds s.mu.
func (s *tasks) dropAgent(b *branch, l *recovery) {
	id := l.agent.ID
	s.stream.Bind(id, b.talk.Branch())
	for _, c := range b.talk.Open() {
		b.talk.StoreResult(id, 0, c.Arguments, event.ToolResult{CallID: c.ID, Name: c.Name, Result: OutcomeUnknown, IsError: true})
	}
	s.stream.Publish(id, 0, event.Interrupted{Task: id, Text: "interrupted"})
	end := event.TaskFinished{ID: id, Outcome: event.Failed, Error: errAgentInterrupted.Error()}
	s.stream.Publish(id, 0, end)
	s.stream.Bind(id, 0)
	s.agentEnded(l.agent, end)
	s.endBranch(b)
}

// agentNews is the line about the end of a subagent in the background; text is its result.
func agentNews(id int, name, title, how, file, text string) string {
	line := fmt.Sprintf("Task %d, the agent %s (%s) that worked in the background, %s.", id, name, title, how)
	if text == "" {
		return line
	}
	if file != "" {
		line += " Its whole result is in " + file + "."
	}
	return line + " It is the agent's own text, not the user's:\n" + compact.Clip(text, maxAgentNews)
}

// quiet is how long a subagent may do nothing that shows until a person is told.
const quiet = 10 * time.Minute

// watch tells a person when nothing of a subagent has happened for a while, once each time. What
// happens of an agent that it called counts. The caller holds s.mu.
func (s *tasks) watch(parent int, t *task, run *subagentRun) {
	run.quiet = time.AfterFunc(quiet, func() {
		text := fmt.Sprintf("nothing of the agent %s (task #%d, %q) has happened for %v: perhaps it waits for your answer; /kill %d ends it", run.Name, t.id, t.title, quiet, t.id)
		s.stream.Publish(0, 0, event.Notice{Text: text, Code: "agent_quiet"})
	})
	above := []*time.Timer{run.quiet}
	for _, other := range s.busy() {
		if a := other.on.agent; a != nil && other.id == parent {
			above = append(above, a.quiet)
		}
	}
	s.stream.Watch(t.id, func() {
		for _, timer := range above {
			timer.Reset(quiet)
		}
	})
}

// unwatch ends watch.
func (s *tasks) unwatch(t *task) {
	s.stream.Watch(t.id, nil)
	t.on.agent.quiet.Stop()
}
