package event

// Type is "session.created".
func (SessionCreated) Type() string { return "session.created" }

// Durable is true.
func (SessionCreated) Durable() bool { return true }

// Type is "session.resumed".
func (SessionResumed) Type() string { return "session.resumed" }

// Durable is true.
func (SessionResumed) Durable() bool { return true }

// Type is "session.forked".
func (SessionForked) Type() string { return "session.forked" }

// Durable is true.
func (SessionForked) Durable() bool { return true }

// Type is "session.renamed".
func (SessionRenamed) Type() string { return "session.renamed" }

// Durable is true.
func (SessionRenamed) Durable() bool { return true }

// Type is "session.closed".
func (SessionClosed) Type() string { return "session.closed" }

// Durable is true.
func (SessionClosed) Durable() bool { return true }

// Type is "prompt.submitted".
func (PromptSubmitted) Type() string { return "prompt.submitted" }

// Durable is true.
func (PromptSubmitted) Durable() bool { return true }

// Type is "prompt.withdrawn".
func (PromptWithdrawn) Type() string { return "prompt.withdrawn" }

// Durable is true.
func (PromptWithdrawn) Durable() bool { return true }

// Type is "branch.started".
func (BranchStarted) Type() string { return "branch.started" }

// Durable is true.
func (BranchStarted) Durable() bool { return true }

// Type is "task.queued".
func (TaskQueued) Type() string { return "task.queued" }

// Durable is true.
func (TaskQueued) Durable() bool { return true }

// Type is "task.started".
func (TaskStarted) Type() string { return "task.started" }

// Durable is true.
func (TaskStarted) Durable() bool { return true }

// Type is "task.deadline".
func (TaskDeadline) Type() string { return "task.deadline" }

// Durable is true.
func (TaskDeadline) Durable() bool { return true }

// Type is "task.cancelling".
func (TaskCancelling) Type() string { return "task.cancelling" }

// Durable is true.
func (TaskCancelling) Durable() bool { return true }

// Type is "task.progress".
func (TaskProgress) Type() string { return "task.progress" }

// Durable is false: it is transient.
func (TaskProgress) Durable() bool { return false }

// Type is "task.finished".
func (TaskFinished) Type() string { return "task.finished" }

// Durable is true.
func (TaskFinished) Durable() bool { return true }

// Type is "turn.started".
func (TurnStarted) Type() string { return "turn.started" }

// Durable is true.
func (TurnStarted) Durable() bool { return true }

// Type is "turn.finished".
func (TurnFinished) Type() string { return "turn.finished" }

// Durable is true.
func (TurnFinished) Durable() bool { return true }

// Type is "model.request_started".
func (RequestStarted) Type() string { return "model.request_started" }

// Durable is true.
func (RequestStarted) Durable() bool { return true }

// Type is "model.text_delta".
func (TextDelta) Type() string { return "model.text_delta" }

// Durable is false: it is transient.
func (TextDelta) Durable() bool { return false }

// Type is "model.reasoning_delta".
func (ReasoningDelta) Type() string { return "model.reasoning_delta" }

// Durable is false: it is transient.
func (ReasoningDelta) Durable() bool { return false }

// Type is "model.call_delta".
func (CallDelta) Type() string { return "model.call_delta" }

// Durable is false: it is transient.
func (CallDelta) Durable() bool { return false }

// Type is "model.checkpoint".
func (Checkpoint) Type() string { return "model.checkpoint" }

// Durable is true.
func (Checkpoint) Durable() bool { return true }

// Type is "model.message".
func (ModelMessage) Type() string { return "model.message" }

// Durable is true.
func (ModelMessage) Durable() bool { return true }

// Type is "model.response_finished".
func (ResponseFinished) Type() string { return "model.response_finished" }

// Durable is true.
func (ResponseFinished) Durable() bool { return true }

// Type is "model.retry".
func (ModelRetry) Type() string { return "model.retry" }

// Durable is true.
func (ModelRetry) Durable() bool { return true }

// Type is "tool.requested".
func (ToolRequested) Type() string { return "tool.requested" }

// Durable is true.
func (ToolRequested) Durable() bool { return true }

// Type is "approval.asked".
func (ApprovalAsked) Type() string { return "approval.asked" }

// Durable is true.
func (ApprovalAsked) Durable() bool { return true }

// Type is "approval.answered".
func (ApprovalAnswered) Type() string { return "approval.answered" }

// Durable is true.
func (ApprovalAnswered) Durable() bool { return true }

// Type is "tool.started".
func (ToolStarted) Type() string { return "tool.started" }

// Durable is true.
func (ToolStarted) Durable() bool { return true }

// Type is "tool.output".
func (ToolOutput) Type() string { return "tool.output" }

// Durable is false: it is transient.
func (ToolOutput) Durable() bool { return false }

// Type is "tool.result".
func (ToolResult) Type() string { return "tool.result" }

// Durable is true.
func (ToolResult) Durable() bool { return true }

// Type is "file.kept".
func (FileKept) Type() string { return "file.kept" }

// Durable is true.
func (FileKept) Durable() bool { return true }

// Type is "file.restored".
func (FileRestored) Type() string { return "file.restored" }

// Durable is true.
func (FileRestored) Durable() bool { return true }

// Type is "question.asked".
func (QuestionAsked) Type() string { return "question.asked" }

// Durable is true.
func (QuestionAsked) Durable() bool { return true }

// Type is "question.answered".
func (QuestionAnswered) Type() string { return "question.answered" }

// Durable is true.
func (QuestionAnswered) Durable() bool { return true }

// Type is "reminder.attached".
func (ReminderAttached) Type() string { return "reminder.attached" }

// Durable is true.
func (ReminderAttached) Durable() bool { return true }

// Type is "pane.opened".
func (PaneOpened) Type() string { return "pane.opened" }

// Durable is true.
func (PaneOpened) Durable() bool { return true }

// Type is "pane.lost".
func (PaneLost) Type() string { return "pane.lost" }

// Durable is true.
func (PaneLost) Durable() bool { return true }

// Type is "pane.closed".
func (PaneClosed) Type() string { return "pane.closed" }

// Durable is true.
func (PaneClosed) Durable() bool { return true }

// Type is "pane.screen".
func (PaneScreen) Type() string { return "pane.screen" }

// Durable is false: it is transient.
func (PaneScreen) Durable() bool { return false }

// Type is "pane.history".
func (PaneHistory) Type() string { return "pane.history" }

// Durable is false: it is transient.
func (PaneHistory) Durable() bool { return false }

// Type is "context.usage".
func (ContextUsage) Type() string { return "context.usage" }

// Durable is true.
func (ContextUsage) Durable() bool { return true }

// Type is "context.compacted".
func (ContextCompacted) Type() string { return "context.compacted" }

// Durable is true.
func (ContextCompacted) Durable() bool { return true }

// Type is "context.micro_compacted".
func (MicroCompacted) Type() string { return "context.micro_compacted" }

// Durable is true.
func (MicroCompacted) Durable() bool { return true }

// Type is "context.instructions".
func (InstructionsRead) Type() string { return "context.instructions" }

// Durable is true.
func (InstructionsRead) Durable() bool { return true }

// Type is "context.pinned".
func (ContextPinned) Type() string { return "context.pinned" }

// Durable is true.
func (ContextPinned) Durable() bool { return true }

// Type is "result.spilled".
func (ResultSpilled) Type() string { return "result.spilled" }

// Durable is true.
func (ResultSpilled) Durable() bool { return true }

// Type is "metrics.usage".
func (MetricsUsage) Type() string { return "metrics.usage" }

// Durable is true.
func (MetricsUsage) Durable() bool { return true }

// Type is "policy.mode_changed".
func (ModeChanged) Type() string { return "policy.mode_changed" }

// Durable is true.
func (ModeChanged) Durable() bool { return true }

// Type is "policy.rule_added".
func (RuleAdded) Type() string { return "policy.rule_added" }

// Durable is true.
func (RuleAdded) Durable() bool { return true }

// Type is "notice".
func (Notice) Type() string { return "notice" }

// Durable is true.
func (Notice) Durable() bool { return true }

// Type is "warning".
func (Warning) Type() string { return "warning" }

// Durable is true.
func (Warning) Durable() bool { return true }

// Type is "error".
func (Error) Type() string { return "error" }

// Durable is true.
func (Error) Durable() bool { return true }

// Type is "interrupted".
func (Interrupted) Type() string { return "interrupted" }

// Durable is true.
func (Interrupted) Durable() bool { return true }

// Type is "max_turns_reached".
func (MaxTurnsReached) Type() string { return "max_turns_reached" }

// Durable is true.
func (MaxTurnsReached) Durable() bool { return true }

// Type is "model.switched".
func (ModelSwitched) Type() string { return "model.switched" }

// Durable is true.
func (ModelSwitched) Durable() bool { return true }

// Type is "target.switched".
func (TargetSwitched) Type() string { return "target.switched" }

// Durable is true.
func (TargetSwitched) Durable() bool { return true }

// Type is "model.alive".
func (ModelAlive) Type() string { return "model.alive" }

// Durable is false.
func (ModelAlive) Durable() bool { return false }

// Type is "model.stalled".
func (ModelStalled) Type() string { return "model.stalled" }

// Durable is true.
func (ModelStalled) Durable() bool { return true }

// Type is "model.fallback".
func (ModelFallback) Type() string { return "model.fallback" }

// Durable is true.
func (ModelFallback) Durable() bool { return true }

// Type is "budget.warning".
func (BudgetWarning) Type() string { return "budget.warning" }

// Durable is true.
func (BudgetWarning) Durable() bool { return true }

// Type is "budget.exceeded".
func (BudgetExceeded) Type() string { return "budget.exceeded" }

// Durable is true.
func (BudgetExceeded) Durable() bool { return true }
