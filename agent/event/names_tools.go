package event

// Type returns "tool.requested".
func (ToolRequested) Type() string { return "tool.requested" }

// Durable returns true.
func (ToolRequested) Durable() bool { return true }

// Type returns "approval.asked".
func (ApprovalAsked) Type() string { return "approval.asked" }

// Durable returns true.
func (ApprovalAsked) Durable() bool { return true }

// Type returns "approval.answered".
func (ApprovalAnswered) Type() string { return "approval.answered" }

// Durable returns true.
func (ApprovalAnswered) Durable() bool { return true }

// Type returns "decision.explained".
func (DecisionExplained) Type() string { return "decision.explained" }

// Durable returns true.
func (DecisionExplained) Durable() bool { return true }

// Type returns "tool.started".
func (ToolStarted) Type() string { return "tool.started" }

// Durable returns true.
func (ToolStarted) Durable() bool { return true }

// Type returns "tool.output".
func (ToolOutput) Type() string { return "tool.output" }

// Durable returns false: it is transient.
func (ToolOutput) Durable() bool { return false }

// Type returns "tool.waits".
func (ToolWaits) Type() string { return "tool.waits" }

// Durable returns false: it is transient.
func (ToolWaits) Durable() bool { return false }

// Type returns "tool.result".
func (ToolResult) Type() string { return "tool.result" }

// Durable returns true.
func (ToolResult) Durable() bool { return true }

// Type returns "target.connecting".
func (TargetConnecting) Type() string { return "target.connecting" }

// Durable returns false: it is transient.
func (TargetConnecting) Durable() bool { return false }

// Type returns "hook.started".
func (HookStarted) Type() string { return "hook.started" }

// Durable returns false: it is transient.
func (HookStarted) Durable() bool { return false }

// Type returns "hook.ran".
func (HookRan) Type() string { return "hook.ran" }

// Durable returns true.
func (HookRan) Durable() bool { return true }

// Type returns "prompt.blocked".
func (PromptBlocked) Type() string { return "prompt.blocked" }

// Durable returns true.
func (PromptBlocked) Durable() bool { return true }

// Type returns "file.kept".
func (FileKept) Type() string { return "file.kept" }

// Durable returns true.
func (FileKept) Durable() bool { return true }

// Type returns "file.restoring".
func (FileRestoring) Type() string { return "file.restoring" }

// Durable returns true.
func (FileRestoring) Durable() bool { return true }

// Type returns "file.unchanged".
func (FileUnchanged) Type() string { return "file.unchanged" }

// Durable returns true.
func (FileUnchanged) Durable() bool { return true }

// Type returns "file.restored".
func (FileRestored) Type() string { return "file.restored" }

// Durable returns true.
func (FileRestored) Durable() bool { return true }

// Type returns "question.asked".
func (QuestionAsked) Type() string { return "question.asked" }

// Durable returns true.
func (QuestionAsked) Durable() bool { return true }

// Type returns "question.answered".
func (QuestionAnswered) Type() string { return "question.answered" }

// Durable returns true.
func (QuestionAnswered) Durable() bool { return true }

// Type returns "skill.loaded".
func (SkillLoaded) Type() string { return "skill.loaded" }

// Durable returns true.
func (SkillLoaded) Durable() bool { return true }

// Type returns "commands.listed".
func (CommandsListed) Type() string { return "commands.listed" }

// Durable returns false: it is transient.
func (CommandsListed) Durable() bool { return false }

// Type returns "reminder.attached".
func (ReminderAttached) Type() string { return "reminder.attached" }

// Durable returns true.
func (ReminderAttached) Durable() bool { return true }

// Type returns "pane.opened".
func (PaneOpened) Type() string { return "pane.opened" }

// Durable returns true.
func (PaneOpened) Durable() bool { return true }

// Type returns "pane.lost".
func (PaneLost) Type() string { return "pane.lost" }

// Durable returns true.
func (PaneLost) Durable() bool { return true }

// Type returns "pane.closed".
func (PaneClosed) Type() string { return "pane.closed" }

// Durable returns true.
func (PaneClosed) Durable() bool { return true }

// Type returns "pane.screen".
func (PaneScreen) Type() string { return "pane.screen" }

// Durable returns false: it is transient.
func (PaneScreen) Durable() bool { return false }

// Type returns "pane.history".
func (PaneHistory) Type() string { return "pane.history" }

// Durable returns false: it is transient.
func (PaneHistory) Durable() bool { return false }
