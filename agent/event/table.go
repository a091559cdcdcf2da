package event

// Event is a fact about a session. Its JSON form is the payload of an Envelope. No other package can define events,
// because the method kind is not exported.
type Event interface{ kind() kind }

// Remark is an event that only informs the user. The screen, plain mode and exports print its Line; other code may
// ignore it.
type Remark interface {
	Event
	Line() string
}

// kind holds the common properties of all events of a type.
type kind struct {
	name    string // on the wire, "family.fact"
	durable bool   // stored in the journal before anyone sees it
}

// Values of kind.durable.
const (
	durable   = true
	transient = false
)

// Type returns the name of an event on the wire, "family.fact".
func Type(e Event) string { return e.kind().name }

// Durable reports whether an event is stored in the journal before anyone sees it.
func Durable(e Event) bool { return e.kind().durable }

// Named returns the zero value of the event type with this name on the wire, an Unknown for a name that is not in All,
// and nil for "". A type switch on the value identifies an event before its payload is parsed.
func Named(name string) Event {
	if zero, ok := named[name]; ok || name == "" {
		return zero
	}
	return Unknown{Name: name}
}

var named = func() map[string]Event {
	m := make(map[string]Event, len(All))
	for _, e := range All {
		m[Type(e)] = e
	}
	return m
}()

func (SessionCreated) kind() kind    { return kind{"session.created", durable} }
func (SessionResumed) kind() kind    { return kind{"session.resumed", durable} }
func (SessionForked) kind() kind     { return kind{"session.forked", durable} }
func (SessionRenamed) kind() kind    { return kind{"session.renamed", durable} }
func (SessionClosed) kind() kind     { return kind{"session.closed", durable} }
func (PromptSubmitted) kind() kind   { return kind{"prompt.submitted", durable} }
func (PromptWithdrawn) kind() kind   { return kind{"prompt.withdrawn", durable} }
func (PromptBlocked) kind() kind     { return kind{"prompt.blocked", durable} }
func (BranchStarted) kind() kind     { return kind{"branch.started", durable} }
func (TaskQueued) kind() kind        { return kind{"task.queued", durable} }
func (TaskStarted) kind() kind       { return kind{"task.started", durable} }
func (TaskDeadline) kind() kind      { return kind{"task.deadline", durable} }
func (TaskCancelling) kind() kind    { return kind{"task.cancelling", durable} }
func (TaskProgress) kind() kind      { return kind{"task.progress", transient} }
func (TaskFinished) kind() kind      { return kind{"task.finished", durable} }
func (ExchangeFinished) kind() kind  { return kind{"exchange.finished", durable} }
func (TurnStarted) kind() kind       { return kind{"turn.started", durable} }
func (TurnFinished) kind() kind      { return kind{"turn.finished", durable} }
func (RequestStarted) kind() kind    { return kind{"model.request_started", durable} }
func (TextDelta) kind() kind         { return kind{"model.text_delta", transient} }
func (ReasoningDelta) kind() kind    { return kind{"model.reasoning_delta", transient} }
func (CallDelta) kind() kind         { return kind{"model.call_delta", transient} }
func (Checkpoint) kind() kind        { return kind{"model.checkpoint", durable} }
func (OpenText) kind() kind          { return kind{"model.open_text", transient} }
func (ModelMessage) kind() kind      { return kind{"model.message", durable} }
func (ResponseFinished) kind() kind  { return kind{"model.response_finished", durable} }
func (ModelRetry) kind() kind        { return kind{"model.retry", durable} }
func (ModelStalled) kind() kind      { return kind{"model.stalled", durable} }
func (ModelAlive) kind() kind        { return kind{"model.alive", transient} }
func (ModelReading) kind() kind      { return kind{"model.reading", transient} }
func (ModelFallback) kind() kind     { return kind{"model.fallback", durable} }
func (FallbackEnded) kind() kind     { return kind{"model.fallback_ended", durable} }
func (ModelPrefix) kind() kind       { return kind{"model.prefix", durable} }
func (ModelSwitched) kind() kind     { return kind{"model.switched", durable} }
func (TargetSwitched) kind() kind    { return kind{"target.switched", durable} }
func (ToolRequested) kind() kind     { return kind{"tool.requested", durable} }
func (ApprovalAsked) kind() kind     { return kind{"approval.asked", durable} }
func (ApprovalAnswered) kind() kind  { return kind{"approval.answered", durable} }
func (DecisionExplained) kind() kind { return kind{"decision.explained", durable} }
func (ToolStarted) kind() kind       { return kind{"tool.started", durable} }
func (ToolOutput) kind() kind        { return kind{"tool.output", transient} }
func (ToolQueued) kind() kind        { return kind{"tool.queued", transient} }
func (ToolWaits) kind() kind         { return kind{"tool.waits", transient} }
func (ToolResult) kind() kind        { return kind{"tool.result", durable} }
func (TargetConnecting) kind() kind  { return kind{"target.connecting", transient} }
func (HookStarted) kind() kind       { return kind{"hook.started", transient} }
func (HookRan) kind() kind           { return kind{"hook.ran", durable} }
func (FileKept) kind() kind          { return kind{"file.kept", durable} }
func (FileRestoring) kind() kind     { return kind{"file.restoring", durable} }
func (FileRestored) kind() kind      { return kind{"file.restored", durable} }
func (EffectApplying) kind() kind    { return kind{"effect.applying", durable} }
func (EffectApplied) kind() kind     { return kind{"effect.applied", durable} }
func (FileUnchanged) kind() kind     { return kind{"file.unchanged", durable} }
func (HistoryRewound) kind() kind    { return kind{"history.rewound", durable} }
func (QuestionAsked) kind() kind     { return kind{"question.asked", durable} }
func (QuestionAnswered) kind() kind  { return kind{"question.answered", durable} }
func (ReminderAttached) kind() kind  { return kind{"reminder.attached", durable} }
func (MCPServer) kind() kind         { return kind{"mcp.server", durable} }
func (MCPReady) kind() kind          { return kind{"mcp.ready", durable} }
func (MCPCallStarted) kind() kind    { return kind{"mcp.call_started", durable} }
func (MCPCallFinished) kind() kind   { return kind{"mcp.call_finished", durable} }
func (TodoChanged) kind() kind       { return kind{"todo.changed", durable} }
func (SkillLoaded) kind() kind       { return kind{"skill.loaded", durable} }
func (CommandsListed) kind() kind    { return kind{"commands.listed", transient} }
func (PaneOpened) kind() kind        { return kind{"pane.opened", durable} }
func (PaneLost) kind() kind          { return kind{"pane.lost", durable} }
func (PaneClosed) kind() kind        { return kind{"pane.closed", durable} }
func (PaneScreen) kind() kind        { return kind{"pane.screen", transient} }
func (PaneHistory) kind() kind       { return kind{"pane.history", transient} }
func (ContextUsage) kind() kind      { return kind{"context.usage", durable} }
func (ContextCompacting) kind() kind { return kind{"context.compacting", durable} }
func (ContextCompacted) kind() kind  { return kind{"context.compacted", durable} }
func (MicroCompacted) kind() kind    { return kind{"context.micro_compacted", durable} }
func (ContextWithheld) kind() kind   { return kind{"context.withheld", durable} }
func (ContextPinned) kind() kind     { return kind{"context.pinned", durable} }
func (ContextHealed) kind() kind     { return kind{"context.healed", durable} }
func (InstructionsRead) kind() kind  { return kind{"context.instructions", durable} }
func (ResultSpilled) kind() kind     { return kind{"result.spilled", durable} }
func (MetricsUsage) kind() kind      { return kind{"metrics.usage", durable} }
func (BudgetWarning) kind() kind     { return kind{"budget.warning", durable} }
func (BudgetExceeded) kind() kind    { return kind{"budget.exceeded", durable} }
func (ModeChanged) kind() kind       { return kind{"policy.mode_changed", durable} }
func (PlanEntered) kind() kind       { return kind{"plan.entered", durable} }
func (PlanExited) kind() kind        { return kind{"plan.exited", durable} }
func (WorkflowStarted) kind() kind   { return kind{"workflow.started", durable} }
func (WorkflowStepped) kind() kind   { return kind{"workflow.step", durable} }
func (WorkflowChanged) kind() kind   { return kind{"workflow.state", durable} }
func (SubagentBackgrounded) kind() kind {
	return kind{"subagent.backgrounded", durable}
}
func (ReviewFinished) kind() kind  { return kind{"review.finished", durable} }
func (GoalSet) kind() kind         { return kind{"goal.set", durable} }
func (GoalChecked) kind() kind     { return kind{"goal.checked", durable} }
func (GoalChanged) kind() kind     { return kind{"goal.changed", durable} }
func (RuleAdded) kind() kind       { return kind{"policy.rule_added", durable} }
func (RuleRemoved) kind() kind     { return kind{"policy.rule_removed", durable} }
func (Notice) kind() kind          { return kind{"notice", durable} }
func (Warning) kind() kind         { return kind{"warning", durable} }
func (Error) kind() kind           { return kind{"error", durable} }
func (Interrupted) kind() kind     { return kind{"interrupted", durable} }
func (MaxTurnsReached) kind() kind { return kind{"max_turns_reached", durable} }

// kind returns the name that the event arrived with. It is durable, because only durable events are ever read back.
func (u Unknown) kind() kind { return kind{u.Name, durable} }

// All holds the zero value of every event type but Unknown, in the order of docs/events.md.
var All = []Event{
	SessionCreated{},
	SessionResumed{},
	SessionForked{},
	SessionRenamed{},
	SessionClosed{},
	PromptSubmitted{},
	PromptWithdrawn{},
	PromptBlocked{},
	BranchStarted{},
	TaskQueued{},
	TaskStarted{},
	TaskDeadline{},
	TaskCancelling{},
	TaskProgress{},
	TaskFinished{},
	ExchangeFinished{},
	TurnStarted{},
	TurnFinished{},
	RequestStarted{},
	TextDelta{},
	ReasoningDelta{},
	CallDelta{},
	Checkpoint{},
	OpenText{},
	ModelPrefix{},
	ModelMessage{},
	ResponseFinished{},
	ModelRetry{},
	ModelStalled{},
	ModelAlive{},
	ModelReading{},
	ModelFallback{},
	FallbackEnded{},
	ModelSwitched{},
	TargetSwitched{},
	ToolRequested{},
	ApprovalAsked{},
	ApprovalAnswered{},
	DecisionExplained{},
	ToolStarted{},
	ToolOutput{},
	ToolQueued{},
	ToolWaits{},
	ToolResult{},
	TargetConnecting{},
	HookStarted{},
	HookRan{},
	FileKept{},
	FileRestoring{},
	FileRestored{},
	FileUnchanged{},
	EffectApplying{},
	EffectApplied{},
	HistoryRewound{},
	QuestionAsked{},
	QuestionAnswered{},
	ReminderAttached{},
	MCPServer{},
	MCPReady{},
	MCPCallStarted{},
	MCPCallFinished{},
	TodoChanged{},
	SkillLoaded{},
	CommandsListed{},
	PaneOpened{},
	PaneLost{},
	PaneClosed{},
	PaneScreen{},
	PaneHistory{},
	ContextUsage{},
	ContextCompacting{},
	ContextCompacted{},
	MicroCompacted{},
	ContextWithheld{},
	ContextPinned{},
	ContextHealed{},
	InstructionsRead{},
	ResultSpilled{},
	MetricsUsage{},
	BudgetWarning{},
	BudgetExceeded{},
	ModeChanged{},
	PlanEntered{},
	PlanExited{},
	WorkflowStarted{},
	WorkflowStepped{},
	WorkflowChanged{},
	SubagentBackgrounded{},
	ReviewFinished{},
	GoalSet{},
	GoalChecked{},
	GoalChanged{},
	RuleAdded{},
	RuleRemoved{},
	Notice{},
	Warning{},
	Error{},
	Interrupted{},
	MaxTurnsReached{},
}
