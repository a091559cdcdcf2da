package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

// report answers a question about the session. It works while a task runs.
func (r *Runtime) report(what event.ReportKind) {
	var text string
	switch what {
	case event.ReportStatus:
		text = r.status()
	case event.ReportTasks:
		text = r.tasks()
	case event.ReportContext:
		text = r.context()
	default:
		r.reject("unknown report %q (have: %s, %s, %s)", what, event.ReportStatus, event.ReportTasks, event.ReportContext)
		return
	}
	r.emit(0, 0, event.Notice{Text: text, Code: string(what)})
}

// status tells the model, the tools and the counters (I09).
func (r *Runtime) status() string {
	info := r.answering().Info()
	endpoint := info.BaseURL
	if endpoint == "" {
		endpoint = "built in"
	}
	var tools []string
	for _, d := range r.toolset().Definitions() {
		tools = append(tools, d.Name)
	}
	mode, until := r.approvals.Mode()
	approvals := string(mode)
	if !until.IsZero() {
		approvals += " until " + until.Format("15:04:05")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	window := "unknown"
	if info.Window > 0 {
		window = fmt.Sprintf("%d tokens", info.Window)
	}
	if info.Effort != "" {
		window += ", effort " + info.Effort
	}
	withheld := "none"
	if len(r.opts.Withheld) > 0 {
		withheld = strings.Join(r.opts.Withheld, ", ") + " ([tools] env_allow passes them on)"
	}
	return strings.Join([]string{
		fmt.Sprintf("session    %s in %s on %s", r.opts.Session, r.opts.Cwd, r.opts.Target),
		fmt.Sprintf("model      %s (%s), %s, window %s", info.Model, info.API, endpoint, window),
		fmt.Sprintf("tools      %s", strings.Join(tools, ", ")),
		fmt.Sprintf("approvals  %s", approvals),
		"free       " + r.approvals.Free(r.opts.Target),
		"withheld   variables from commands: " + withheld,
		fmt.Sprintf("context    about %d tokens; messages: %d", r.main.hist.Tokens(), len(r.main.hist.Messages())),
		"used       " + r.ledger.Session() + fmt.Sprintf("; turns: %d", r.ids.turn),
		"prompt     " + r.ledger.LastTask(),
	}, "\n")
}

// context tells how full the context is (I09).
func (r *Runtime) context() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	used, window := r.main.hist.Tokens(), r.model.Info().Window
	text := fmt.Sprintf("messages: %d, about %d tokens", len(r.main.hist.Messages()), used)
	if window > 0 {
		text += fmt.Sprintf(", %.1f %% of the window of %d", float64(used)*100/float64(window), window)
	} else {
		text += "; the window of the model is not known (context_limit in its profile tells it)"
	}
	text += "\nlast request: " + r.ledger.LastRequest()
	text += "\nthis prompt: " + r.ledger.LastTask()
	text += "\nsession: " + r.ledger.Session()
	if files := r.guide.list(); files != "" {
		text += "\n" + files
	}
	return text
}

// onTarget says where a pane is, if that is not on the first target.
func onTarget(pane string) string {
	if target := tools.ParsePane(pane).Target; target != "" {
		return " on " + target
	}
	return ""
}

// tasks lists what runs and what waits (G11).
func (r *Runtime) tasks() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, t := range r.busy() {
		lines = append(lines, fmt.Sprintf("#%d  %s  %s  running  %q", t.id, t.kind, r.opts.Now().Sub(t.began).Round(time.Second), t.title))
	}
	for _, id := range slices.Sorted(maps.Keys(r.main.shells)) {
		s := r.main.shells[id]
		lines = append(lines, fmt.Sprintf("#%d  %s  %s  running%s  %q  pane %s", id, event.ShellTask, r.opts.Now().Sub(s.began).Round(time.Second), onTarget(s.Pane), cut(s.Title), s.Pane))
	}
	for _, p := range r.main.queue {
		lines = append(lines, fmt.Sprintf("    prompt %d  waits  %q", p.ID, cut(p.Text)))
	}
	if len(lines) == 0 {
		return "no tasks"
	}
	return strings.Join(lines, "\n")
}
