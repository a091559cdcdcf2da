package plan

import (
	"strings"

	"buddy/texts"
)

// whole is the full reminder of plan mode.
func whole(file string) string {
	return `Plan mode is on. Change nothing now, whatever was approved before: tools that write, and commands that do more than read, are denied, through use_tool and in subagents as well. Don't try ways around that.
- Find out what you need with tools and commands that only read. Ask with ask_user where a wrong guess would cost much.
- Write the plan to ` + file + ` with write_file or edit_file: the only file that you may write. If a plan is in it already, continue it, or replace it if it is about something else. Say what changes in which files and in which order, and how it is checked.
- Steps may end it as a fenced block "steps", a YAML list of at most 20 entries: description, and where it is known tool, args, depends_on (numbers of steps, from 1), risk (low, medium, high), requires_approval (true). They become the todo list.
- When the plan is complete call use_tool with {"name":"exit_plan","args":{}}: the user reads it there and decides. Don't ask for approval in other ways.`
}

// short is the full reminder for a model that can't call exit_plan and whose answer is the plan.
const short = "Plan mode is on: change nothing now. Look with commands that only read, then answer with the plan: what changes in which files, in which order, and how it is checked."

// sparse is the short reminder of plan mode.
func sparse(file string) string {
	return "Plan mode is still on: change nothing; only " + file + " may be written. exit_plan (with use_tool) shows the user the plan when it is complete."
}

// Reminders at the end of plan mode. The model knows an approved plan from the result of its call.
const (
	overApproved = "Plan mode is over: the user approved the plan. You may change things again; each call is judged as in the mode before. That approval was for this plan only."
	over         = "Plan mode is over without an approved plan. You may change things again, as far as the user asks for it; each call is judged as in the mode before."
)

// draft returns the unfinished plan after a compaction removed it.
func draft(file, text string) string {
	return "The plan in " + file + " as it is now:\n" + shortened(file, text)
}

// again returns the approved plan after a compaction removed it.
func again(file, text string) string {
	return "The plan that the user approved before the conversation was shortened:\n" + shortened(file, text)
}

// maxRepeated limits the text of a repeated plan, in bytes.
const maxRepeated = 16 << 10

// shortened cuts the end of a long plan.
func shortened(file, text string) string {
	if len(text) > maxRepeated {
		text = texts.ClipBytes(text, maxRepeated) + "\n[the rest is in " + file + "]"
	}
	return strings.TrimSpace(text)
}
