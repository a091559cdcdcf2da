package event

// Type returns "session.created".
func (SessionCreated) Type() string { return "session.created" }

// Durable returns true.
func (SessionCreated) Durable() bool { return true }

// Type returns "session.resumed".
func (SessionResumed) Type() string { return "session.resumed" }

// Durable returns true.
func (SessionResumed) Durable() bool { return true }

// Type returns "session.forked".
func (SessionForked) Type() string { return "session.forked" }

// Durable returns true.
func (SessionForked) Durable() bool { return true }

// Type returns "session.renamed".
func (SessionRenamed) Type() string { return "session.renamed" }

// Durable returns true.
func (SessionRenamed) Durable() bool { return true }

// Type returns "session.closed".
func (SessionClosed) Type() string { return "session.closed" }

// Durable returns true.
func (SessionClosed) Durable() bool { return true }

// Type returns "prompt.submitted".
func (PromptSubmitted) Type() string { return "prompt.submitted" }

// Durable returns true.
func (PromptSubmitted) Durable() bool { return true }

// Type returns "prompt.withdrawn".
func (PromptWithdrawn) Type() string { return "prompt.withdrawn" }

// Durable returns true.
func (PromptWithdrawn) Durable() bool { return true }

// Type returns "branch.started".
func (BranchStarted) Type() string { return "branch.started" }

// Durable returns true.
func (BranchStarted) Durable() bool { return true }

// Type returns "task.queued".
func (TaskQueued) Type() string { return "task.queued" }

// Durable returns true.
func (TaskQueued) Durable() bool { return true }

// Type returns "task.started".
func (TaskStarted) Type() string { return "task.started" }

// Durable returns true.
func (TaskStarted) Durable() bool { return true }

// Type returns "task.deadline".
func (TaskDeadline) Type() string { return "task.deadline" }

// Durable returns true.
func (TaskDeadline) Durable() bool { return true }

// Type returns "task.cancelling".
func (TaskCancelling) Type() string { return "task.cancelling" }

// Durable returns true.
func (TaskCancelling) Durable() bool { return true }

// Type returns "task.progress".
func (TaskProgress) Type() string { return "task.progress" }

// Durable returns false: it is transient.
func (TaskProgress) Durable() bool { return false }

// Type returns "task.finished".
func (TaskFinished) Type() string { return "task.finished" }

// Durable returns true.
func (TaskFinished) Durable() bool { return true }

// Type returns "turn.started".
func (TurnStarted) Type() string { return "turn.started" }

// Durable returns true.
func (TurnStarted) Durable() bool { return true }

// Type returns "turn.finished".
func (TurnFinished) Type() string { return "turn.finished" }

// Durable returns true.
func (TurnFinished) Durable() bool { return true }

// Type returns "model.request_started".
func (RequestStarted) Type() string { return "model.request_started" }

// Durable returns true.
func (RequestStarted) Durable() bool { return true }

// Type returns "model.text_delta".
func (TextDelta) Type() string { return "model.text_delta" }

// Durable returns false: it is transient.
func (TextDelta) Durable() bool { return false }

// Type returns "model.reasoning_delta".
func (ReasoningDelta) Type() string { return "model.reasoning_delta" }

// Durable returns false: it is transient.
func (ReasoningDelta) Durable() bool { return false }

// Type returns "model.call_delta".
func (CallDelta) Type() string { return "model.call_delta" }

// Durable returns false: it is transient.
func (CallDelta) Durable() bool { return false }

// Type returns "model.checkpoint".
func (Checkpoint) Type() string { return "model.checkpoint" }

// Durable returns true.
func (Checkpoint) Durable() bool { return true }

// Type returns "model.open_text".
func (OpenText) Type() string { return "model.open_text" }

// Durable returns false: it is transient.
func (OpenText) Durable() bool { return false }

// Type returns "model.message".
func (ModelMessage) Type() string { return "model.message" }

// Durable returns true.
func (ModelMessage) Durable() bool { return true }

// Type returns "model.response_finished".
func (ResponseFinished) Type() string { return "model.response_finished" }

// Durable returns true.
func (ResponseFinished) Durable() bool { return true }

// Type returns "model.retry".
func (ModelRetry) Type() string { return "model.retry" }

// Durable returns true.
func (ModelRetry) Durable() bool { return true }

// Type returns "context.usage".
func (ContextUsage) Type() string { return "context.usage" }

// Durable returns true.
func (ContextUsage) Durable() bool { return true }

// Type returns "context.compacting".
func (ContextCompacting) Type() string { return "context.compacting" }

// Durable reports true.
func (ContextCompacting) Durable() bool { return true }

// Type returns "context.compacted".
func (ContextCompacted) Type() string { return "context.compacted" }

// Durable returns true.
func (ContextCompacted) Durable() bool { return true }

// Type returns "context.micro_compacted".
func (MicroCompacted) Type() string { return "context.micro_compacted" }

// Durable returns true.
func (MicroCompacted) Durable() bool { return true }

// Type returns "context.withheld".
func (ContextWithheld) Type() string { return "context.withheld" }

// Durable returns true.
func (ContextWithheld) Durable() bool { return true }

// Type returns "context.instructions".
func (InstructionsRead) Type() string { return "context.instructions" }

// Durable returns true.
func (InstructionsRead) Durable() bool { return true }

// Type returns "context.pinned".
func (ContextPinned) Type() string { return "context.pinned" }

// Durable returns true.
func (ContextPinned) Durable() bool { return true }

// Type returns "context.healed".
func (ContextHealed) Type() string { return "context.healed" }

// Durable returns true.
func (ContextHealed) Durable() bool { return true }

// Type returns "result.spilled".
func (ResultSpilled) Type() string { return "result.spilled" }

// Durable returns true.
func (ResultSpilled) Durable() bool { return true }

// Type returns "metrics.usage".
func (MetricsUsage) Type() string { return "metrics.usage" }

// Durable returns true.
func (MetricsUsage) Durable() bool { return true }

// Type returns "policy.mode_changed".
func (ModeChanged) Type() string { return "policy.mode_changed" }

// Durable returns true.
func (ModeChanged) Durable() bool { return true }

// Type returns "plan.entered".
func (PlanEntered) Type() string { return "plan.entered" }

// Durable returns true.
func (PlanEntered) Durable() bool { return true }

// Type returns "plan.exited".
func (PlanExited) Type() string { return "plan.exited" }

// Durable returns true.
func (PlanExited) Durable() bool { return true }

// Type returns "review.finished".
func (ReviewFinished) Type() string { return "review.finished" }

// Durable returns true.
func (ReviewFinished) Durable() bool { return true }

// Type returns "goal.set".
func (GoalSet) Type() string { return "goal.set" }

// Durable returns true.
func (GoalSet) Durable() bool { return true }

// Type returns "goal.checked".
func (GoalChecked) Type() string { return "goal.checked" }

// Durable returns true.
func (GoalChecked) Durable() bool { return true }

// Type returns "goal.changed".
func (GoalChanged) Type() string { return "goal.changed" }

// Durable returns true.
func (GoalChanged) Durable() bool { return true }

// Type returns "policy.rule_added".
func (RuleAdded) Type() string { return "policy.rule_added" }

// Durable returns true.
func (RuleAdded) Durable() bool { return true }

// Type returns "policy.rule_removed".
func (RuleRemoved) Type() string { return "policy.rule_removed" }

// Durable returns true.
func (RuleRemoved) Durable() bool { return true }

// Type returns "notice".
func (Notice) Type() string { return "notice" }

// Durable returns true.
func (Notice) Durable() bool { return true }

// Type returns "warning".
func (Warning) Type() string { return "warning" }

// Durable returns true.
func (Warning) Durable() bool { return true }

// Type returns "error".
func (Error) Type() string { return "error" }

// Durable returns true.
func (Error) Durable() bool { return true }

// Type returns "interrupted".
func (Interrupted) Type() string { return "interrupted" }

// Durable returns true.
func (Interrupted) Durable() bool { return true }

// Type returns "max_turns_reached".
func (MaxTurnsReached) Type() string { return "max_turns_reached" }

// Durable returns true.
func (MaxTurnsReached) Durable() bool { return true }

// Type returns "model.switched".
func (ModelSwitched) Type() string { return "model.switched" }

// Durable returns true.
func (ModelSwitched) Durable() bool { return true }

// Type returns "target.switched".
func (TargetSwitched) Type() string { return "target.switched" }

// Durable returns true.
func (TargetSwitched) Durable() bool { return true }

// Type returns "model.alive".
func (ModelAlive) Type() string { return "model.alive" }

// Durable returns false.
func (ModelAlive) Durable() bool { return false }

// Type returns "model.reading".
func (ModelReading) Type() string { return "model.reading" }

// Durable returns false.
func (ModelReading) Durable() bool { return false }

// Type returns "model.stalled".
func (ModelStalled) Type() string { return "model.stalled" }

// Durable returns true.
func (ModelStalled) Durable() bool { return true }

// Type returns "model.fallback".
func (ModelFallback) Type() string { return "model.fallback" }

// Durable returns true.
func (ModelFallback) Durable() bool { return true }

// Type returns "model.fallback_ended".
func (FallbackEnded) Type() string { return "model.fallback_ended" }

// Durable returns true.
func (FallbackEnded) Durable() bool { return true }

// Type returns "budget.warning".
func (BudgetWarning) Type() string { return "budget.warning" }

// Durable returns true.
func (BudgetWarning) Durable() bool { return true }

// Type returns "budget.exceeded".
func (BudgetExceeded) Type() string { return "budget.exceeded" }

// Durable returns true.
func (BudgetExceeded) Durable() bool { return true }

// Type returns "mcp.server".
func (MCPServer) Type() string { return "mcp.server" }

// Durable returns true.
func (MCPServer) Durable() bool { return true }

// Type returns "mcp.ready".
func (MCPReady) Type() string { return "mcp.ready" }

// Durable returns true.
func (MCPReady) Durable() bool { return true }

// Type returns "mcp.call_started".
func (MCPCallStarted) Type() string { return "mcp.call_started" }

// Durable returns true.
func (MCPCallStarted) Durable() bool { return true }

// Type returns "mcp.call_finished".
func (MCPCallFinished) Type() string { return "mcp.call_finished" }

// Durable returns true.
func (MCPCallFinished) Durable() bool { return true }

// Type returns "workflow.started".
func (WorkflowStarted) Type() string { return "workflow.started" }

// Durable returns true.
func (WorkflowStarted) Durable() bool { return true }

// Type returns "workflow.step".
func (WorkflowStepped) Type() string { return "workflow.step" }

// Durable returns true.
func (WorkflowStepped) Durable() bool { return true }

// Type returns "workflow.state".
func (WorkflowChanged) Type() string { return "workflow.state" }

// Durable returns true.
func (WorkflowChanged) Durable() bool { return true }

// Type returns "history.rewound".
func (HistoryRewound) Type() string { return "history.rewound" }

// Durable returns true.
func (HistoryRewound) Durable() bool { return true }
