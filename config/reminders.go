package config

import (
	"slices"
	"strings"
)

// Reminders holds the section [reminders].
type Reminders struct {
	Off      []string // kinds that are switched off
	Critical []string // texts that every request carries
}

// reminderKinds are the kinds that can be switched off. Package reminder defines their texts.
var reminderKinds = []string{
	"at_file", "editor", "folder", "resources", "agent_mention", "hints", "changed_files", "instructions", "todo", "verify_plan", "critical", "working_memory", "diagnostics", "hook", "memory", "tasks",
	"task_progress", "plan", "plan_exit", "plan_text", "budget_usd", "context", "date_change", "mode_change",
	"model_switch", "skills", "mcp", "agents",
}

// ReminderKinds returns the kinds of reminders that can be switched off.
func ReminderKinds() []string { return slices.Clone(reminderKinds) }

var remindersSection = section{
	name: "reminders", access: personal,
	doc: "What the model gets in addition to prompts and results (docs/reminders.md).",
	fields: []field{
		{
			name: "off", short: "`" + strings.Join(reminderKinds[:len(reminderKinds)-1], "`, `") + "` or `" + reminderKinds[len(reminderKinds)-1] + "`",
			doc:     "Kinds of reminders that no model gets, such as `[\"todo\", \"date_change\"]`.",
			pointer: func(c *Config, _ *Profile) any { return &c.Reminders.Off },
			check:   oneOf("kind of reminder", reminderKinds...),
		},
		{
			name: "critical", short: "texts",
			doc: "Texts that every request carries until the prompt is done, such as `[\"Never push to main.\"]`. They are " +
				"not stored in the conversation, so no compaction removes them.",
			pointer: func(c *Config, _ *Profile) any { return &c.Reminders.Critical },
		},
	},
}
