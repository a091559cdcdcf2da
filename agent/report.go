package agent

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/memory"
	"buddy/agent/model"
	"buddy/agent/reminder"
)

// ModeOf returns how approvals are decided now.
func ModeOf(r *Runtime) action.Mode {
	mode, _ := r.approvals.Mode()
	return mode
}

// NamesOfAgents returns the types of the subagents that a prompt may name, those of plugins as PLUGIN:NAME. It
// reads their definitions first where those may have changed.
func NamesOfAgents(ctx context.Context, r *Runtime) []string { return r.tasks.agents.book.Names(ctx) }

// report answers a question about the session. It works while a task runs.
func (r *Runtime) report(what event.ReportKind) {
	var text string
	switch what {
	case event.ReportStatus:
		text = r.status()
	case event.ReportTasks:
		text = r.listTasks()
	case event.ReportContext:
		text = r.context()
	case event.ReportSkills:
		r.skills.Publish(r.selection.KnownWindow())
		return
	case event.ReportAgents:
		r.tasks.agents.book.Publish()
		return
	case event.ReportGoal:
		text = r.tasks.goals.report()
	case event.ReportHooks:
		text = r.opts.Programs.List()
	case event.ReportRuns:
		text = r.tasks.workflows.book.Report()
	case event.ReportWorkflows:
		r.life.work.Go(r.tasks.workflows.list) // files are read
		return
	default:
		kinds := []event.ReportKind{event.ReportStatus, event.ReportTasks, event.ReportContext, event.ReportSkills, event.ReportAgents, event.ReportHooks, event.ReportWorkflows, event.ReportRuns, event.ReportGoal}
		r.reject("unknown report %q (have: %s)", what, strings.Trim(fmt.Sprint(kinds), "[]"))
		return
	}
	r.Publish(event.Notice{Text: text, Code: string(what)})
}

// status describes the model, the tools and the counters.
func (r *Runtime) status() string {
	info := r.selection.Model().Info()
	endpoint := info.BaseURL
	if endpoint == "" {
		endpoint = "built in"
	}
	var tools []string
	for _, d := range r.selection.Tools().Definitions() {
		tools = append(tools, d.Name)
	}
	mode, until := r.approvals.Mode()
	approvals := mode.Label()
	if !until.IsZero() {
		approvals += " until " + until.Format("15:04:05")
	}
	window := "unknown"
	if info.Window > 0 {
		window = fmt.Sprintf("%d tokens", info.Window)
	}
	if info.Effort != "" {
		window += ", effort " + info.Effort
	}
	msgs, tokens := r.tasks.tree.Main().Request()
	withheld := "none"
	if len(r.opts.Withheld) > 0 {
		withheld = strings.Join(r.opts.Withheld, ", ") + " ([tools] env_allow passes them on)"
	}
	return strings.Join(append([]string{
		fmt.Sprintf("session    %s in %s on %s", r.opts.Session, r.opts.Cwd, r.opts.Target),
		fmt.Sprintf("model      %s (%s), %s, window %s", info.Model, info.API, endpoint, window),
		fmt.Sprintf("tools      %s", strings.Join(tools, ", ")+inBlocks(info)),
		fmt.Sprintf("approvals  %s", approvals),
		"allowed    " + r.approvals.Free(r.opts.Target),
		"sandbox    " + fenceReport(r),
		"hidden     environment variables that commands don't get: " + withheld,
		fmt.Sprintf("context    about %d tokens; messages: %d", tokens, len(msgs)),
		"memory     " + remembers(r.opts.Memory),
		"used       " + r.ledger.Session() + fmt.Sprintf("; turns: %d", r.tasks.loop.Turns()),
		"prompt     " + r.ledger.LastTask(),
	}, r.tasks.agents.report()...), "\n")
}

// inBlocks says why calls are blocks of text, "" if they are not.
func inBlocks(m model.Info) string {
	if m.Blocks == "" {
		return ""
	}
	return ", called in blocks of text, because " + m.Blocks
}

// fenceReport says how many commands ran in the sandbox of auto mode, and why there is none.
func fenceReport(r *Runtime) string {
	t := approval.Counted(r.approvals)
	text := fmt.Sprintf("commands that ran inside: %d, approvals asked: %d, denied: %d", t.Inside, t.Asked, t.Denied)
	if err := approval.CanFence(r.approvals); err != nil {
		text += "; auto mode is not available: " + err.Error()
	}
	return text
}

// context describes how full the context window is.
func (r *Runtime) context() string {
	items, used := conversation.Items(r.tasks.tree.Main())
	text := fmt.Sprintf("messages: %d, about %d tokens", len(items), used)
	if window := r.selection.KnownWindow(); window > 0 {
		text += fmt.Sprintf(", %d%% of the window of %d", compact.Percent(used, window), window)
	} else {
		text += "; the window of the model is not known (context_limit in a profile for it sets it)"
	}
	if sizes := contextSizes(r, items, used); sizes != "" {
		text += "\n" + sizes
	}
	text += "\nlast request: " + r.ledger.LastRequest()
	text += "\nthis prompt: " + r.ledger.LastTask()
	text += "\nsession: " + r.ledger.Session()
	text += "\nmemory: " + remembers(r.opts.Memory)
	if tools := r.ledger.Tools(); tools != "" {
		text += "\ntools, by what their results had in this session:\n  " + strings.ReplaceAll(tools, "\n", "\n  ")
	}
	var now reminder.Snapshot
	conversation.Describe(r.tasks.tree.Main(), &now)
	if work := now.Work.Text(now.Steps.Open); work != "" {
		text += "\nworking memory:\n  " + strings.ReplaceAll(r.opts.Redact.Text(work), "\n", "\n  ")
	}
	if files := r.instructions.List(); files != "" {
		text += "\n" + files
	}
	return text
}

// remembers says what memory has, and how much of it the model was told.
func remembers(m *memory.Store) string {
	if m == nil {
		return "off ([memory] enabled)"
	}
	return m.Report()
}
