package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/reminder"
	"buddy/agent/subagents"
	"buddy/texts"
)

// Section is a part of the status of a session. Its texts are for the person; some come from files or models.
type Section struct {
	Title string
	Facts []Fact
}

// Fact is a line of a section. A label has one or two words.
type Fact struct{ Label, Text string }

// add appends a fact, unless its text is empty.
func (s *Section) add(label, text string) {
	if text != "" {
		s.Facts = append(s.Facts, Fact{label, text})
	}
}

// Status describes the model, the permissions and the usage. Any goroutine may call it, even while a task runs.
func Status(r *Runtime) []Section {
	info := r.selection.Model().Info()
	var tools []string
	for _, d := range r.selection.Tools().Definitions() {
		tools = append(tools, d.Name)
	}
	session := Section{Title: "Session", Facts: []Fact{
		{"Id", r.opts.Session}, {"Folder", folderText(r.opts.Cwd)}, {"Target", r.opts.Target},
	}}
	who := Section{Title: "Model", Facts: []Fact{
		{"Model", fmt.Sprintf("%s (%s)", info.Model, info.API)}, {"Endpoint", cmp.Or(info.BaseURL, "built in")}, {"Window", windowText(info.Window)},
	}}
	who.add("Effort", info.Effort)
	if info.Blocks != "" {
		who.add("Calls", "blocks of text, because "+info.Blocks)
	}
	who.add("Tools", strings.Join(tools, ", "))
	_, tokens := r.tasks.tree.Main().Request()
	spent := Section{Title: "Used", Facts: []Fact{
		{"Context", usedOf(tokens, r.selection.KnownWindow())},
		{"Session", r.ledger.Session()},
		{"Turns", texts.Count(r.tasks.loop.Turns())},
		{"This prompt", r.ledger.LastTask()},
	}}
	remembered(r, &spent)
	all := []Section{session, who, permissions(r), spent}
	if agents := r.tasks.agents.report(); len(agents.Facts) > 0 {
		all = append(all, agents)
	}
	return all
}

// permissions describes what runs without approval, and which variables are hidden from commands.
func permissions(r *Runtime) Section {
	mode, until := r.approvals.Mode()
	label := mode.Label()
	if !until.IsZero() {
		label += " until " + texts.Until(r.opts.Now(), until, "15:04:05")
	}
	ran := approval.Counted(r.approvals)
	s := Section{Title: "Permissions", Facts: []Fact{
		{"Mode", label},
		{"Allowed", r.approvals.Free(r.opts.Target)},
		{"Commands", fmt.Sprintf("ran inside the sandbox: %d, approvals asked: %d, denied: %d", ran.Inside, ran.Asked, ran.Denied)},
	}}
	if err := approval.CanFence(r.approvals); err != nil {
		s.add("Auto mode", "not available: "+err.Error())
	}
	if len(r.opts.Withheld) > 0 {
		s.add("Variables", "commands don't get "+strings.Join(r.opts.Withheld, ", ")+" ([tools] env_allow passes them on)")
	}
	return s
}

// ContextUse describes how full the context window is, and what fills it. Any goroutine may call it.
func ContextUse(r *Runtime) []Section {
	items, tokens := conversation.Items(r.tasks.tree.Main())
	window := Section{Title: "Window", Facts: []Fact{{"Used", usedOf(tokens, r.selection.KnownWindow())}, {"Messages", texts.Count(len(items))}}}
	if r.selection.KnownWindow() == 0 {
		window.add("Limit", "not known (context_limit in a profile for the model sets it)")
	}
	all := []Section{window}
	parts, largest := contextSizes(r, items, tokens)
	sizes := Section{Title: "Parts"}
	for _, p := range parts {
		sizes.add(texts.Capital(p.name), fmt.Sprintf("%s · %.0f %%", texts.Count(p.tokens), float64(p.tokens)*100/float64(max(tokens, 1))))
	}
	big := Section{Title: "Largest"}
	for _, p := range largest {
		big.add(texts.Count(p.tokens), p.name)
	}
	used := Section{Title: "Used", Facts: []Fact{
		{"Last request", r.ledger.LastRequest()}, {"This prompt", r.ledger.LastTask()}, {"Session", r.ledger.Session()},
	}}
	remembered(r, &used)
	tools := Section{Title: "Results of tools"}
	top, more := r.ledger.Tools()
	for _, u := range top {
		tools.add(u.Name, fmt.Sprintf("%s tokens in %s", texts.Count(u.Tokens), texts.Plural(u.Calls, "call")))
	}
	if more > 0 {
		tools.add("Others", fmt.Sprintf("%d more tools", more))
	}
	for _, s := range []Section{sizes, big, used, tools, working(r), r.instructionFiles()} {
		if len(s.Facts) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// working returns a section with the working memory of the main conversation.
func working(r *Runtime) Section {
	s := Section{Title: "Working memory"}
	var now reminder.Snapshot
	conversation.Describe(r.tasks.tree.Main(), &now)
	for line := range strings.Lines(r.opts.Redact.Text(now.Work.Text(now.Steps.Open))) {
		label, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if files, folder, ok := strings.Cut(label, " below "); ok {
			label, text = files, text+" (below "+folder+")"
		}
		s.add(texts.Capital(label), text)
	}
	return s
}

// instructionFiles lists the instruction files that the model has, and the reasons for missing ones.
func (r *Runtime) instructionFiles() Section {
	s := Section{Title: "Instruction files"}
	for _, f := range r.instructions.Files() {
		text := fmt.Sprintf("%s · %s", f.Path, texts.ByteCount(int64(f.Sent)))
		if f.Why != "" {
			text += " (" + f.Why + ")"
		}
		s.add(texts.Capital(f.From), text)
	}
	return s
}

// usedOf returns how much of a window is used; 0 is an unknown window.
func usedOf(tokens, window int) string {
	if window == 0 {
		return texts.Count(tokens) + " tokens"
	}
	return fmt.Sprintf("%s of %s tokens (%d %%)", texts.Count(tokens), texts.Count(window), compact.Percent(tokens, window))
}

func windowText(tokens int) string {
	if tokens == 0 {
		return "unknown"
	}
	return texts.Count(tokens) + " tokens"
}

// remembered adds a line about the memory of earlier sessions to a section.
func remembered(r *Runtime, to *Section) {
	if report := r.opts.Memory.Report; report != nil {
		to.add("Memory", report())
	}
}

// ModeOf returns the current approval mode.
func ModeOf(r *Runtime) action.Mode {
	mode, _ := r.approvals.Mode()
	return mode
}

// Subagents returns the types of subagents; those of plugins are named PLUGIN:NAME. It reads the definitions first if
// they may have changed. Any goroutine may call it.
func Subagents(ctx context.Context, r *Runtime) subagents.Set { return r.tasks.agents.book.Set(ctx) }

// folderText returns a folder, preceded by its short name if it is a worktree that buddy made.
func folderText(dir string) string {
	if label := texts.Worktree(dir); label != "" {
		return label + ": " + dir
	}
	return dir
}
