package plan

import (
	"strings"

	"buddy/texts"
)

// whole tells the model all that it has to know of mode plan.
func whole(file string) string {
	return `Mode plan is on. Nothing is changed now, whatever was approved before: tools that write, and commands that do more than read, are denied, through use_tool and in subagents as well. Don't try ways around that.
- Find out what you need with tools and commands that only read. Ask with ask_user where a wrong guess would cost much.
- Write the plan to ` + file + ` with write_file or edit_file: the only file that you may write. If a plan is in it already, continue it, or replace it if it is about something else. Say what changes in which files and in which order, and how it is checked.
- Steps may end it as a fenced block "steps", a YAML list of at most 20 entries: description, and where it is known tool, args, depends_on (numbers of steps, from 1), risk (low, medium, high), requires_approval (true). They become the todo list.
- When the plan is complete call use_tool with {"name":"exit_plan","args":{}}: the user reads it there and decides. Don't ask for approval in other ways.`
}

// short tells all of it to a model that can't call exit_plan: its answer is the plan.
const short = "Mode plan is on: nothing is changed now. Look with commands that only read, then answer with the plan: what changes in which files, in which order, and how it is checked."

// sparse reminds the model of mode plan.
func sparse(file string) string {
	return "Mode plan is still on: nothing is changed, only " + file + " may be written. exit_plan (with use_tool) shows the user the plan when it is complete."
}

// What the model is told when mode plan has ended. A plan that was approved is known from the result of its call.
const (
	overApproved = "Mode plan is over: the user approved the plan. You may change things again; each call is judged as in the mode before. That approval was for this plan only."
	over         = "Mode plan is over without an approved plan. You may change things again, as far as the user asks for it; each call is judged as in the mode before."
)

// draft tells the model the plan that it works on again, after a compaction took it out.
func draft(file, text string) string {
	return "The plan in " + file + " as it is now:\n" + shortened(file, text)
}

// again tells the model the approved plan again, after a compaction took it out.
func again(file, text string) string {
	return "The plan that the user approved before the conversation was shortened:\n" + shortened(file, text)
}

// maxTold limits the text of a plan that is told again, in bytes.
const maxTold = 16 << 10

// shortened returns a plan, the end of a long one left out.
func shortened(file, text string) string {
	if len(text) > maxTold {
		text = texts.ClipBytes(text, maxTold) + "\n[the rest is in " + file + "]"
	}
	return strings.TrimSpace(text)
}
