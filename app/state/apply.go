package state

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/record"
	"buddy/texts"
)

// Apply applies an event and reports what changed. Events of unknown types change nothing.
func (s *State) Apply(env event.Envelope) Changed {
	s.Info.Last = max(s.Info.Last, env.Time)
	if s.kept != nil {
		s.keep(env)
	}
	ch := s.applyEvent(env)
	if ch != 0 {
		divide(s, env.Seq)
	}
	return ch
}

// applyEvent is Apply without dividing the conversation into parts.
func (s *State) applyEvent(env event.Envelope) Changed {
	if conv, known := s.convs[env.Branch]; conv != nil {
		return applySubagent(s, env, conv)
	} else if env.Branch != 0 {
		return s.applyBranch(env, known)
	}
	return s.recordActivity(env) | s.fold(env)
}

// fold is Apply for the main conversation.
func (s *State) fold(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.TextDelta, event.ReasoningDelta, event.CallDelta, event.Checkpoint, event.OpenText, event.ModelMessage, event.ModelRetry, event.ModelFallback, event.FallbackEnded:
		return s.applyModel(env)
	case event.QuestionAsked, event.QuestionAnswered:
		return s.applyQuestion(env)
	case event.ApprovalAsked, event.ApprovalAnswered:
		return applyApproval(s, env)
	case event.ToolRequested, event.DecisionExplained, event.ToolStarted, event.ToolOutput, event.ToolWaits, event.ToolResult, event.TodoChanged:
		return s.applyTool(env)
	case event.TaskQueued, event.TaskStarted, event.TaskProgress, event.TaskDeadline, event.TaskCancelling, event.TaskFinished, event.TurnFinished:
		return s.applyTask(env)
	case event.PaneOpened, event.PaneLost, event.PaneClosed, event.PaneScreen, event.PaneHistory:
		return s.applyPane(env)
	case event.PromptSubmitted, event.PromptWithdrawn, event.PromptBlocked:
		return s.applyPrompt(env)
	case event.Remark, event.Warning, event.Error, event.Interrupted, event.MaxTurnsReached,
		event.ContextCompacted, event.ContextPinned, event.MicroCompacted, event.FileRestored, event.BudgetWarning, event.BudgetExceeded, event.ReviewFinished:
		return s.applyNotice(env)
	case event.SessionCreated, event.SessionResumed, event.SessionForked, event.SessionRenamed, event.SessionClosed, event.ContextUsage, event.MetricsUsage, event.ModeChanged, event.PlanExited, event.RuleAdded, event.RuleRemoved, event.ModelSwitched, event.TargetSwitched:
		return s.applyInfo(env)
	case event.GoalChanged:
		return applyGoal(s, env, p)
	case event.SkillLoaded, event.CommandsListed, event.MCPServer, event.WorkflowStarted, event.WorkflowStepped, event.WorkflowChanged:
		return applyExtension(s, env)
	case event.BranchStarted, event.HistoryRewound:
		return applyWay(s, env)
	case event.ExchangeFinished, event.TurnStarted, event.ContextCompacting, event.RequestStarted, event.ResponseFinished, event.ModelStalled, event.ModelAlive, event.ModelReading, event.ModelPrefix, event.ToolQueued, event.SubagentBackgrounded, event.ResultSpilled, event.ReminderAttached, event.MCPReady, event.MCPCallStarted, event.MCPCallFinished, event.InstructionsRead, event.FileKept, event.FileRestoring, event.FileUnchanged, event.EffectApplying, event.EffectApplied, event.TargetConnecting, event.HookStarted, event.HookRan, event.PlanEntered, event.Unknown:
		return 0 // logs use these events, the screen does not
	default:
		panic(fmt.Sprintf("state: no case for %T", p))
	}
}

// applyWay applies the start of a branch, or a rewind.
func applyWay(s *State, env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.BranchStarted:
		beginBranch(s, p)
	case event.HistoryRewound:
		return applyRewound(s, env, p)
	}
	return 0
}

// endAll ends everything that an earlier process left running. An incomplete answer stays open, because the runtime
// reports next how much of it is kept. Queued prompts stay queued.
func (s *State) endAll(now int64) Changed {
	s.Approvals, s.Questions = nil, nil
	s.servers, s.Info.Servers, s.Info.Prompts = nil, ServerCount{}, nil
	for _, t := range s.Tasks {
		if t.State == TaskDone {
			t.Earlier = true
		} else {
			t.State, t.Outcome, t.Ended = TaskDone, record.Interrupted, now
			if t.Agent != nil {
				abandon(t.Agent.Talk)
			}
		}
	}
	clear(s.convs)
	for _, p := range s.Panes {
		p.Lost = "its process has ended"
	}
	return Approvals | Tasks | Panes | Servers | Commands
}

func (s *State) applyPrompt(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if p.Queued {
			s.Queued = append(s.Queued, p)
			return Queue | Header
		}
		s.Queued = slices.DeleteFunc(s.Queued, func(q event.PromptSubmitted) bool { return q.ID == p.ID })
		s.Back.addBorder(env, p, s.Steps)
		s.add(env, UserBlock, withImages(p))
		return Conversation | Queue | Header | Tasks
	case event.PromptWithdrawn:
		s.Queued = slices.DeleteFunc(s.Queued, func(q event.PromptSubmitted) bool { return q.ID == p.ID })
	}
	return Queue
}

// withImages returns the text of a prompt with a line for each picture.
func withImages(p event.PromptSubmitted) string {
	text := p.Text
	for _, i := range p.Images {
		text += fmt.Sprintf("\n[%s, %d KB]", i.MediaType, (len(i.Data)+1023)/1024)
	}
	return text
}

func (s *State) applyTool(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.ToolRequested:
		return s.requestCall(env, p)
	case event.DecisionExplained:
		return s.changeCall(p.CallID, func(c *Call) { c.Decision = p })
	case event.ToolStarted:
		return s.changeCall(p.CallID, func(c *Call) {
			if c.State == CallRunning { // the second run, in the sandbox: the output of the first is not its result
				c.Output = Tail{Gen: c.Output.Gen + 1}
			}
			c.State, c.Started, c.Dir, c.Pane, c.Terminal = CallRunning, env.Time, p.Dir, p.Pane, p.Terminal
			s.Focused = c
			s.begin(c)
			watch(s, c)
		}) | Output
	case event.ToolOutput:
		if b := s.calls[p.CallID]; b != nil {
			b.Call.Output.Append(p.Text)
			b.Call.WaitsForKeys = false
		}
		return Output
	case event.ToolWaits:
		if b := s.calls[p.CallID]; b != nil {
			b.Call.WaitsForKeys = p.Waits
		}
		return Output | Tasks
	case event.ToolResult:
		return s.finishCall(env, p)
	case event.TodoChanged:
		return applySteps(s, env, p)
	}
	return Conversation
}

// requestCall adds a block for a call, or updates the call whose arguments the user edited.
func (s *State) requestCall(env event.Envelope, p event.ToolRequested) Changed {
	on := elsewhere(s.Info.First, p.Action)
	if s.calls[p.CallID] != nil {
		return s.changeCall(p.CallID, func(c *Call) { c.Arguments, c.Action, c.On = p.Arguments, p.Action, on })
	}
	if p.Name == event.TodoTool { // the list itself shows; a block appears only if it could not be written
		s.calls = withCall(s.calls, &Block{Kind: ToolBlock, Call: newCall(p, on)})
		return 0
	}
	b := s.add(env, ToolBlock, "")
	b.Call = newCall(p, on)
	s.calls = withCall(s.calls, b)
	return Conversation
}

func newCall(p event.ToolRequested, on string) *Call {
	return &Call{ID: p.CallID, Name: p.Name, Corrected: p.Corrected, Slips: p.Slips(), Arguments: p.Arguments, Action: p.Action, On: on}
}

// withCall adds to calls the block of a call that has no result yet, and returns the map, which may be new.
func withCall(calls map[string]*Block, b *Block) map[string]*Block {
	if calls == nil {
		calls = make(map[string]*Block)
	}
	calls[b.Call.ID] = b
	return calls
}

// applyApproval makes a call wait for the user, or continue.
func applyApproval(s *State, env event.Envelope) Changed {
	conv := convOf(s, env.Branch)
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		s.Approvals = append(s.Approvals, p)
		awaitPerson(s.Tasks, env, p.ID)
		return conv.changeCall(p.CallID, func(c *Call) { c.State, c.Started = CallWaiting, 0 }) | Approvals | Tasks
	case event.ApprovalAnswered:
		return s.settleApproval(conv, p, env.Time)
	}
	return 0
}

// settleApproval removes an answered approval and updates its call, which is in conv. Only the first answer counts. An
// answer of the policy has no approval.
func (s *State) settleApproval(conv *State, p event.ApprovalAnswered, now int64) Changed {
	asked := len(s.Approvals)
	s.Approvals = slices.DeleteFunc(s.Approvals, func(a event.ApprovalAsked) bool { return a.ID == p.ID })
	if len(s.Approvals) == asked && p.By != "policy" {
		return 0
	}
	personAnswered(s.Tasks, p.ID)
	return conv.changeCall(p.CallID, func(c *Call) {
		c.Answered = p.Screen
		if c.State = answeredState(p); c.State == CallDenied {
			c.Denied = p.Reason
		}
		if c.State == CallTrying {
			c.Started, s.Trying = now, c
		}
	}) | Approvals | Tasks
}

func (s *State) changeCall(id string, change func(*Call)) Changed {
	b := s.calls[id]
	if b == nil {
		return 0
	}
	change(b.Call)
	b.Gen++
	return Conversation
}

// answeredState returns the state of a call after its approval was answered.
func answeredState(p event.ApprovalAnswered) CallState {
	switch {
	case p.Decision == event.Try:
		return CallTrying
	case p.Decision != event.Deny:
		return CallRequested
	case p.By == "cancel":
		return CallCancelled
	}
	return CallDenied
}

func (s *State) finishCall(env event.Envelope, p event.ToolResult) Changed {
	if p.Name != event.TodoTool {
		return endCall(s, p)
	}
	if p.IsError {
		if b := s.calls[p.CallID]; b != nil {
			b.Seq, b.last, b.Time = env.Seq, env.Seq, env.Time
			s.Blocks = append(s.Blocks, b)
		}
		return endCall(s, p)
	}
	list, _ := event.TodoOf(p) // sessions of older versions have no event of their own
	return applySteps(s, env, list) | endCall(s, p)
}

func endCall(s *State, p event.ToolResult) Changed {
	b := s.calls[p.CallID]
	if b == nil {
		return 0
	}
	delete(s.calls, p.CallID)
	c := b.Call
	c.WaitsForKeys = false
	c.ExitCode, c.Exits, c.Duration, c.Full = p.ExitCode, p.Exits, p.DurationMS, p.FullOutput
	c.Result, c.Outcome = p.Text(), p.Outcome
	switch {
	case c.State == CallDenied, c.State == CallCancelled:
	case p.IsError && c.Started == 0 && p.Result == history.Unanswered:
		c.State = CallCancelled
	case p.Failed():
		c.State = CallFailed
	default:
		c.State = CallDone
	}
	if p.Tail != "" || c.Terminal {
		c.setOutput(p)
	}
	b.Gen++
	dropPassing(s, b)
	s.live = append(s.live, c)
	if len(s.live) > maxLive {
		s.live[0].Output = Tail{Gen: s.live[0].Output.Gen + 1}
		s.live = slices.Delete(s.live, 0, 1)
	}
	return Conversation | Output
}

// dropPassing removes the notices about running commands once no command runs. The notices come after the block last.
func dropPassing(s *State, last *Block) {
	for _, b := range s.calls {
		if b.Call.State == CallRunning {
			return
		}
	}
	for i := len(s.Blocks) - 1; i >= 0 && s.Blocks[i] != last; i-- {
		if s.Blocks[i].passes {
			s.Blocks = slices.Delete(s.Blocks, i, i+1)
		}
	}
}

// Stopped reports whether a call ran and ended because its task was cancelled.
func (c *Call) Stopped() bool {
	return c.State == CallFailed && c.Started != 0 && strings.HasPrefix(c.Result, history.Unanswered)
}

// setOutput replaces the live output by the stored one.
func (c *Call) setOutput(p event.ToolResult) {
	if p.Tail != string(c.Output.Buf) {
		c.Output.Set(p.Tail)
	}
	c.Output.Dropped = 0
	if f := p.FullOutput; f != nil && (!c.Terminal || f.Shown() > tailLimit) { // dropped escape sequences do not count
		c.Output.Dropped = max(0, f.Shown()-int64(len(c.Output.Buf)))
	}
}

func (s *State) applyPane(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.PaneOpened:
		// The new pane replaces a pane with the same id from an earlier process.
		s.Panes = slices.DeleteFunc(s.Panes, func(q *Pane) bool { return q.Pane == p.Pane || q.Lost != "" })
		s.Panes = append(s.Panes, &Pane{PaneOpened: p})
		s.Began = p.Pane
		if c := s.Focused; c != nil && c.State == CallRunning && c.Pane == "" && c.Action.Target == p.Target {
			gotPane(s, c, p.Pane)
		}
	case event.PaneLost:
		if q := paneOf(s.Panes, p.Pane); q != nil {
			q.Lost = p.Why
		}
	case event.PaneClosed:
		s.Panes = slices.DeleteFunc(s.Panes, func(q *Pane) bool { return q.Pane == p.Pane })
	case event.PaneScreen:
		if q := paneOf(s.Panes, p.Pane); q != nil {
			q.Screen = &p
		}
	case event.PaneHistory:
		s.History = &p
	}
	return Panes
}

// paneOf returns the pane with an id, nil if there is none.
func paneOf(panes []*Pane, id string) *Pane {
	for _, p := range panes {
		if p.Pane == id {
			return p
		}
	}
	return nil
}

// interrupt ends the answer of an interrupted task. Without a task, the event comes from this screen, whose host has
// died. How much of the answer is kept is then known only when the session resumes.
func interrupt(s *State, env event.Envelope, p event.Interrupted) Changed {
	if p.Task != 0 {
		s.open.close()
	}
	s.Info.Interrupted = p.CanContinue
	text := texts.Capital(p.Text)
	if t := s.Running(); t != nil && t.ID == p.Task && !p.CanContinue {
		if n := len(s.Blocks); n > 0 && s.Blocks[n-1].Kind == AssistantBlock {
			text += " · the text so far is kept"
		}
		text += " · type what to do instead"
	}
	if t := s.Running(); p.CanContinue || t == nil || t.ID != p.Task || !s.Retries.interrupt(env.Seq) {
		s.add(env, StoppedBlock, text)
	}
	return Conversation | Header
}

func (s *State) applyNotice(env event.Envelope) Changed {
	switch p := env.Payload.(type) {
	case event.Notice:
		s.add(env, NoticeBlock, p.Text).passes = p.Code == event.LongCommand
	case event.Remark:
		s.add(env, NoticeBlock, p.Line())
	case event.Warning:
		s.add(env, WarningBlock, texts.WithNext(p.Text, p.NextStep))
	case event.Error:
		failed(s, env, p)
	case event.Interrupted:
		return interrupt(s, env, p)
	case event.ContextCompacted:
		compacted(s, env, p)
	case event.ContextPinned:
		pinned(s, env, p)
	case event.MicroCompacted:
		s.add(env, NoticeBlock, texts.Plural(len(p.CallIDs), "old result")+" compacted")
	case event.FileRestored:
		restored(s, env, p)
	case event.ReviewFinished:
		reviewed(s, env, p)
	case event.BudgetWarning:
		s.add(env, WarningBlock, "This prompt has used "+p.Text())
	case event.BudgetExceeded:
		if p.Kind == event.TurnBudget {
			return 0 // max_turns_reached follows and reports it
		}
		s.add(env, WarningBlock, "Stopped: this prompt has used "+event.BudgetWarning(p).Text()+" · type a prompt to continue")
	case event.MaxTurnsReached:
		s.Info.Interrupted = true
		s.add(env, WarningBlock, p.Text()+" · press Enter to continue")
		return Conversation | Header
	}
	return Conversation
}

func pinned(s *State, env event.Envelope, p event.ContextPinned) {
	verb := "pinned: compaction won't change it"
	if p.Off {
		verb = "unpinned"
	}
	s.add(env, NoticeBlock, fmt.Sprintf("exchange %d, counted from the last, %s", p.Back, verb))
}

// restored shows which files were restored, except after a rewind, which is shown by an event of its own.
func restored(s *State, env event.Envelope, p event.FileRestored) {
	if p.Rewind {
		return
	}
	here := s.Info.Event
	p.Paths = slices.Clone(p.Paths)
	for i, path := range p.Paths { // the header shows the folder
		if rest, in := strings.CutPrefix(path, strings.TrimSuffix(here.Cwd, "/")+"/"); in && here.Cwd != "" && (p.Target == "" || p.Target == here.Target) {
			p.Paths[i] = rest
		}
	}
	s.add(env, NoticeBlock, p.Text())
}

// failed shows an error. If the error ended a task, it is shown as the task's outcome.
func failed(s *State, env event.Envelope, p event.Error) {
	text := p.Text
	if p.NextStep != "" {
		text += "\n" + p.NextStep // on a line of its own, because users look for it
	}
	if p.Code == "task_failed" {
		addOutcome(s, env, ErrorBlock, text, p.Raw)
		return
	}
	s.add(env, ErrorBlock, text).Raw = p.Raw
}

// reviewed shows the findings of a review, or why it failed.
func reviewed(s *State, env event.Envelope, p event.ReviewFinished) {
	kind := NoticeBlock
	if p.Problem != "" {
		kind = ErrorBlock
	}
	text := p.Summary()
	if len(p.Findings) == 0 {
		s.add(env, kind, text)
		return
	}
	s.add(env, kind, text+"\n/findings shows them one by one and opens their files").Review = &p
}

func compacted(s *State, env event.Envelope, p event.ContextCompacted) {
	became := "became a summary"
	if p.Summary == "" {
		became = "removed"
	}
	what := texts.Plural(p.Removed, "message")
	if p.Turns > 0 {
		what += " of " + texts.Plural(p.Turns, "exchange")
	}
	s.add(env, NoticeBlock, fmt.Sprintf("context compacted: %s %s, %d → %d tokens", what, became, p.Before, p.After))
}

func (s *State) add(env event.Envelope, kind Kind, text string) *Block {
	b := &Block{Seq: env.Seq, last: env.Seq, Kind: kind, Text: []byte(text), Time: env.Time, parallel: env.Branch != 0}
	s.Blocks = append(s.Blocks, b)
	return b
}
