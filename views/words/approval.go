package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
	"buddy/views/draw"
	"buddy/views/markup"
)

// OneFile reports whether the question of an action on files names the file.
func OneFile(act action.Action) bool { return len(act.Paths) < 2 && len(FilesOf(act)) == 1 }

// Question returns the question of an approval: Edit checkout/tax.go? For changes of files it also returns the numbers
// of added and deleted lines, +4 −1.
func Question(a event.ApprovalAsked) (question, counts string) {
	act := a.Action
	switch act.Kind {
	case action.Shell, action.Git:
		return commandQuestion(a), ""
	case action.PaneKeys:
		return "Type this into the pane?", ""
	case action.FileWrite, action.FileDelete:
		return fileQuestion(act)
	case action.FileRead:
		return "Read " + pathOf(act) + "?", ""
	case action.Network, action.Browser:
		return networkQuestion(act), ""
	case action.Connect:
		return connectQuestion(act), ""
	case action.MCP:
		return mcpQuestion(act), ""
	case action.EnterPlan:
		return "Switch to plan mode?", ""
	default:
		return texts.Capital(Title(act)) + "?", ""
	}
}

func commandQuestion(a event.ApprovalAsked) string {
	switch n := len(a.Action.Targets); {
	case a.Context.Tried != nil:
		return triedQuestion(a.Context.Tried)
	case a.Context.Outside:
		return "Run outside the sandbox?"
	case n > 1:
		return fmt.Sprintf("Run this command on %d machines?", n)
	}
	return "Run this command?"
}

// fileVerbs maps the verbs of diffs to the verbs of questions.
var fileVerbs = map[string]string{"new": "Create", "delete": "Delete", "rename": "Rename", "edit": "Edit"}

func fileQuestion(act action.Action) (question, counts string) {
	files := FilesOf(act)
	if len(files) == 0 {
		verb := "Edit"
		if act.Kind == action.FileDelete {
			verb = "Delete"
		}
		return verb + " " + pathOf(act) + "?", ""
	}
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	if added+deleted > 0 {
		counts = fmt.Sprintf("+%d −%d", added, deleted)
	}
	n := max(len(files), len(act.Paths))
	if renamed := len(files) == 1 && files[0].Verb == "rename" && n == 2; n == 1 || renamed {
		return fileVerbs[cmp.Or(files[0].Verb, "edit")] + " " + draw.FirstLine(files[0].Name) + "?", counts
	}
	verb := "Edit"
	if len(files) == n && !slices.ContainsFunc(files, func(f markup.DiffFile) bool { return f.Verb != files[0].Verb }) {
		verb = fileVerbs[cmp.Or(files[0].Verb, "edit")]
	} else if act.Kind == action.FileDelete {
		verb = "Edit and delete"
	}
	return fmt.Sprintf("%s %d files?", verb, n), counts
}

// FilesOf returns the files in the diffs of an action's preview.
func FilesOf(act action.Action) []markup.DiffFile { return markup.DiffFiles(DiffOf(act)) }

// TriedDiff returns, as a diff, the changes of a command that was tried; "" if there are none.
func TriedDiff(t *action.Tried) string {
	var b strings.Builder
	for _, f := range t.Files {
		b.WriteString(markup.PreviewDiff(f.Path, f.Preview))
	}
	if t.More > 0 {
		fmt.Fprintf(&b, "%s%s  not listed\n", markup.FileMark, texts.Plural(t.More, "more change"))
	}
	return b.String()
}

// DiffOf returns the preview of an action on files as a diff. If the action has a single file, it adds a line with its
// name.
func DiffOf(act action.Action) string {
	if len(act.Paths) > 0 || act.Preview == "" {
		return act.Preview
	}
	return markup.PreviewDiff(act.Path, act.Preview)
}

func pathOf(act action.Action) string { return draw.FirstLine(cmp.Or(act.Path, "a file")) }

func networkQuestion(act action.Action) string {
	what := draw.FirstLine(cmp.Or(act.Host, act.URL, "a page"))
	switch {
	case act.Tool == "web_search":
		return "Search the web?"
	case act.Method == "" || act.Method == "GET" || act.Method == "HEAD":
		return "Fetch " + what + "?"
	}
	return "Send a " + draw.FirstLine(act.Method) + " request to " + what + "?"
}

// connectQuestion asks about hosts. The question does not name a long host, because the start of the name alone would
// be misleading. The dialog shows the whole host below.
func connectQuestion(act action.Action) string {
	switch n := len(act.Hosts); {
	case n > 1:
		return fmt.Sprintf("Let this command connect to %d hosts?", n)
	case len(act.Host) > action.ShortHost:
		return "Let this command connect to this host?"
	}
	return "Let this command connect to " + draw.FirstLine(act.Host) + "?"
}

func mcpQuestion(act action.Action) string {
	server, tool, ok := strings.Cut(texts.OneLine(act.Op), ": ")
	if !ok {
		server, tool, ok = strings.Cut(strings.TrimPrefix(act.Tool, "mcp__"), "__")
	}
	if !ok {
		return "Let an MCP server run " + texts.OneLine(cmp.Or(act.Op, act.Tool)) + "?"
	}
	return fmt.Sprintf("Let the MCP server %q run %s?", server, tool)
}

// RiskOf returns the risk of an approval, "" if unknown.
func RiskOf(a event.ApprovalAsked) action.Risk { return cmp.Or(a.Context.Risk, a.Action.Risk) }

// Where returns the machine of an action unless it is this one, and a note if it is in production; "" for neither.
func Where(a event.ApprovalAsked) string {
	where := elsewhere(a.Action)
	if a.Context.Production {
		where = strings.TrimSpace(where + " · production")
	}
	return draw.FirstLine(where)
}

// elsewhere returns the machine of an action, "" for this one.
func elsewhere(act action.Action) string {
	switch n := len(act.Targets); {
	case n > 1:
		return fmt.Sprintf("%d machines", n)
	case act.Target == "local":
		return ""
	}
	return act.Target
}

// Facts returns the facts that a person must know before approving, one sentence each: first why approval is necessary
// (unless the effect explains it), then the effect. Usually there is one fact; none repeats the question.
func Facts(a event.ApprovalAsked) []string {
	c := a.Context
	if c.Tried != nil {
		return triedFacts(c.Tried)
	}
	facts := []string{sentence(c.Because)}
	if unseen := c.Unseen.Text(); unseen != "" {
		facts = append(facts, sentence(unseen))
	}
	facts = append(facts, c.Effect.Sentence())
	for i, text := range c.Loses {
		if i > 0 || text != c.Effect.Text() {
			facts = append(facts, text+".")
		}
	}
	if c.Changed != "" {
		facts = append(facts, sentence(c.Changed))
	}
	for _, said := range c.Memory.Said {
		facts = append(facts, "You said before: "+said)
	}
	for _, noted := range c.Memory.Noted {
		facts = append(facts, "Noted "+noted)
	}
	return slices.DeleteFunc(facts, func(s string) bool { return s == "" })
}

// Reason returns the agent's reason in quotes, or "".
func Reason(a event.ApprovalAsked) string {
	if why := texts.OneLine(a.Action.Why); why != "" && a.Context.Tried == nil {
		return `"` + why + `"`
	}
	return ""
}

// Details returns more information about an approval, in texts of one or two sentences that do not repeat Facts. `buddy
// policy explain` shows the rest.
func Details(a event.ApprovalAsked) []string {
	c, act := a.Context, a.Action
	var all []string
	add := func(s string) {
		if s = sentence(s); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	add(asks(a))
	if len(c.Kept) == 0 || len(act.Targets) > 0 {
		add(folder(act))
	}
	if len(c.Kept) > 0 {
		add(c.Kept[len(c.Kept)-1])
	}
	if !isCommand(act) || c.Effect.Text() == "" || len(c.Consequences) > 1 { // otherwise the effect is clearer
		for _, s := range c.Consequences {
			add(s)
		}
	}
	add(ruleReach(c))
	add(strings.TrimSpace(undo(a) + " " + safer(c)))
	if c.Try.Why != "" {
		add("It can't be tried first: " + c.Try.Why)
	}
	if c.Failed != "" {
		add("The last call failed: " + c.Failed)
	}
	return all
}

// undo describes how to undo an action; "" if a fact from Facts already says that this is impossible.
func undo(a event.ApprovalAsked) string {
	c, where := a.Context, elsewhere(a.Action)
	switch {
	case c.Undo != "":
		return sentence("To undo it: " + c.Undo)
	case c.Reversible || c.Risk == "" || c.Effect.Final:
	case isCommand(a.Action) && where != "":
		return sentence("/undo can't take it back: it runs on " + where)
	default:
		return "buddy doesn't know how to undo it."
	}
	return ""
}

// safer names safer alternatives.
func safer(c action.ApprovalContext) string {
	if len(c.Alternatives) == 0 {
		return ""
	}
	return sentence("A safer way: " + strings.Join(c.Alternatives, "; "))
}

// isCommand reports whether an action runs a command.
func isCommand(act action.Action) bool { return act.Kind == action.Shell || act.Kind == action.Git }

// asks explains why approval is necessary, and which rule requires it; "" if the facts from Facts already say so.
func asks(a event.ApprovalAsked) string {
	v := a.Verdict
	if v.Reason == "" {
		return ""
	}
	c := a.Context
	switch effect := strings.TrimSpace(c.Effect.Verb + " " + c.Effect.Object); {
	case v.Reason == c.Because && v.Rule != "" && v.Rule != v.Reason:
		return "The rule: " + v.Rule
	case v.Reason == c.Because, effect != "" && c.Effect.Count == 0 && strings.HasSuffix(v.Reason, effect):
		return ""
	}
	text := "You are asked because " + lowerFirst(v.Reason)
	if what, ok := unknownCommand(v.Reason); ok {
		text = "buddy asks because it can't tell whether " + what + " is read-only"
	}
	if v.Rule != "" && v.Rule != v.Reason && !strings.Contains(v.Reason, v.Rule) {
		text += " (rule: " + v.Rule + ")"
	}
	return text
}

// unknownCommand returns the command of a reason such as "make is not known to be read-only". ok is false for other
// reasons.
func unknownCommand(reason string) (what string, ok bool) {
	const unknown = "not known to be read-only"
	if reason == unknown {
		return "this command", true
	}
	what, ok = strings.CutSuffix(reason, " is "+unknown)
	return what, ok && !strings.Contains(what, ": ") // after a colon, the reason is a clause in another one
}

// lowerFirst returns a clause with a lower-case first letter, for the middle of a sentence.
func lowerFirst(s string) string {
	if strings.HasPrefix(s, "not ") {
		return "it is " + s
	}
	for _, verb := range []string{"changes ", "deletes ", "uses ", "reads "} {
		if strings.HasPrefix(s, verb) {
			return "it " + s
		}
	}
	return s
}

// folder describes where a command starts, for each machine if the folders differ.
func folder(act action.Action) string {
	if len(act.Targets) == 0 {
		if act.Cwd == "" {
			return ""
		}
		return "It starts in " + act.Cwd
	}
	var all []string
	for _, t := range act.Targets {
		all = append(all, t.Target+" (in "+cmp.Or(t.Cwd, "an unknown folder")+")")
	}
	return "It runs on " + strings.Join(all, ", ")
}

// ruleReach describes which commands "don't ask again" would also cover, and which not.
func ruleReach(c action.ApprovalContext) string {
	if c.Similar == "" || len(c.Passes) == 0 {
		return ""
	}
	if c.Exact {
		return "“Don't ask again” covers only this command, alone or piped into one that only reads, such as tail"
	}
	text := "“Don't ask again” also covers `" + c.Passes[len(c.Passes)-1] + "`"
	if c.Stops != "" {
		text += ", not `" + c.Stops + "`"
	}
	return text
}

// sentence makes a sentence of a clause. The program's name keeps its lower case.
func sentence(s string) string {
	if strings.HasPrefix(s, "buddy ") {
		return strings.TrimSuffix(s, ".") + "."
	}
	return texts.Sentence(s)
}
