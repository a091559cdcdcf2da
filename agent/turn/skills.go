package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/instructions"
	"buddy/agent/model"
	"buddy/agent/stream"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/tools"
)

// tellSkills brings the conversation up to date with the skills before a request: which ones
// there are, the texts that a compaction took out, and those that the person has called.
func (l *Loop) tellSkills(ctx context.Context, x *Exchange) {
	l.p.Skills.Await(ctx)
	if ctx.Err() != nil {
		return
	}
	window := l.p.Selection.Model().Info().Window // 0: nobody knows
	list := conversation.Listing{Kind: "skills", Head: skill.Head}
	for _, line := range l.p.Skills.Lines(window) {
		list.Items = append(list.Items, conversation.ListingItem{Name: line.Name, Line: line.String()})
	}
	x.talk.Tell(x.task, list)
	l.reopen.Do(func() { l.reopenFolders(x) })
	l.restoreSkills(x)
	for _, line := range x.talk.TakeCalls() {
		l.callSkill(ctx, x, line)
	}
}

// callSkill tells the model the text of a skill that a person called, if the line calls one.
func (l *Loop) callSkill(ctx context.Context, x *Exchange, line string) {
	name, args, ok := skill.Call(line)
	if !ok {
		return
	}
	s, ok := l.p.Skills.Find(name)
	if !ok || !s.Typed {
		return
	}
	text := l.skillText(ctx, x, s, args)
	if ctx.Err() != nil {
		return // the prompt was taken back; nothing was promised of it
	}
	l.p.Skills.Used(s.Name)
	x.talk.LoadSkill(x.task, 0, event.SkillLoaded{
		Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByPerson, Line: line,
		Text: "The user's prompt " + s.Call() + " stands for this:\n" + text,
	})
}

// skillText returns the text of a skill with its arguments and the files that it names, as a model
// gets it, and opens what it needs.
func (l *Loop) skillText(ctx context.Context, x *Exchange, s skill.Skill, args string) string {
	l.p.Approvals.Permit(readingRules(s)...)
	l.lend(x, s)
	text := l.o.Redact.Text(s.Expand(args, l.p.Skills.Fill(), func(command string) string {
		return l.runForSkill(ctx, x, s, command)
	}))
	files := l.filesOf(ctx, x, s, args)
	l.restrict(x, s)
	if s.Origin == extensions.Person || s.Origin == extensions.BuiltIn {
		return s.Wrap(text) + files
	}
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, which came with the project: it %s: %q", s.File, found[0].Reason, found[0].Excerpt)
		x.talk.Distrust(why)
		l.p.Stream.Publish(x.task, 0, event.Warning{
			Text: why, Code: conversation.InjectionWarning, NextStep: "look at the file; until your next prompt more needs your approval",
		})
	}
	return s.Wrap(inject.Defuse(text, found)) + files
}

// readingRules allow to read the files that belong to a person's skill. Those of a project are
// in its workspace.
func readingRules(s skill.Skill) []action.Rule {
	if s.Dir == "" || s.Origin != extensions.Person {
		return nil
	}
	below := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(s.Dir) + "/**"
	var rules []action.Rule
	for _, tool := range []string{"read_file", "list_dir", "glob", "grep"} {
		rules = append(rules, action.Rule{Decision: action.Allow, Tool: tool, Path: below, Target: "local", Source: action.FromSession})
	}
	return rules
}

// reopenFolders allows to read the files of the skills that an earlier process loaded.
func (l *Loop) reopenFolders(x *Exchange) {
	for _, was := range x.talk.LoadedSkills() {
		if s, ok := l.p.Skills.Find(was.Name); ok {
			l.p.Approvals.Permit(readingRules(s)...)
		}
	}
}

// lend allows until the next prompt what a skill says in allowed-tools, and lets its model answer,
// if it may act. What has no rule that means exactly the same is said and not allowed.
func (l *Loop) lend(x *Exchange, s skill.Skill) {
	if !s.Acts {
		return
	}
	rules, refused := fieldRules(s.Allowed, action.Allow)
	l.p.Approvals.Lend(x.task, rules...)
	l.sayOf(x, s, "allowed-tools", "allow", refused)
	if s.Model == "" || s.Model == l.p.Selection.Model().Info().Profile || l.o.Models == nil {
		return
	}
	m, err := l.o.Models(s.Model, "")
	if err != nil {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: fmt.Sprintf("the model of %s does not answer, but the one that did before: %v", s.Call(), err), Code: "skills"})
		return
	}
	x.answerWith(WithDurable(m, l.o.Durable))
	l.p.Stream.Publish(x.task, 0, event.Notice{Text: s.Call() + " lets the model " + s.Model + " answer this prompt", Code: "skills"})
}

// restrict denies until the next prompt what a skill says in disallowed-tools. It begins when the
// commands in its own text have run.
func (l *Loop) restrict(x *Exchange, s skill.Skill) {
	rules, refused := fieldRules(s.Denied, action.Deny)
	l.p.Approvals.Lend(x.task, rules...)
	l.sayOf(x, s, "disallowed-tools", "deny", refused)
}

// fieldRules returns the rules that texts of the field mean, and why others mean none.
func fieldRules(all []string, d action.Decision) (rules []action.Rule, refused []string) {
	for _, text := range all {
		more, err := action.FieldRules(text, d, action.FromSession)
		if err != nil {
			refused = append(refused, err.Error())
		}
		rules = append(rules, more...)
	}
	return rules, refused
}

// sayOf tells the person which texts of a setting do nothing.
func (l *Loop) sayOf(x *Exchange, s skill.Skill, setting, verb string, refused []string) {
	if len(refused) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: setting + " of " + s.Call() + " that " + verb + " nothing here: " + strings.Join(refused, "; "), Code: "skills"})
	}
}

// runForSkill runs a command in the text of a skill as if the model had asked for it, and returns
// what is put in its place.
func (l *Loop) runForSkill(ctx context.Context, x *Exchange, s skill.Skill, command string) string {
	switch why := l.p.Skills.NoCommands(); {
	case s.Origin == extensions.Project && why != "":
		return "[not run: " + command + ": " + why + "]"
	case !s.Acts:
		return "[not run: " + command + ": the user has not trusted this " + s.Kind.One() + "]"
	case ctx.Err() != nil:
		return ""
	}
	result, err := l.callFor(ctx, x, commandTool, map[string]string{"command": command, "why": "a command in the text of " + s.Call()})
	if err != nil {
		return "[not run: " + command + ": " + err.Error() + "]"
	}
	return printed(result)
}

// callFor makes a call of a tool for a skill as if the model had asked for it, and returns the
// result that it would read.
func (l *Loop) callFor(ctx context.Context, x *Exchange, tool string, args map[string]string) (string, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	b := l.newBatch(ctx, x, 0)
	defer b.cancel(nil)
	j := b.plan(model.ToolCall{ID: "skill_" + stream.NewID(), Name: tool, Arguments: string(text)})
	if j.err != nil {
		return "", j.err
	}
	b.request(j)
	b.alone(j)
	return j.result, nil
}

// maxAttached limits the files that the text of a skill attaches.
const maxAttached = 10

// readTool reads a file.
const readTool = "read_file"

// filesOf returns the files that a skill's text names as @PATH, each read as if the model had asked
// for it. What its commands print names none. One that may not act names files of the workspace only.
func (l *Loop) filesOf(ctx context.Context, x *Exchange, s skill.Skill, args string) string {
	var all strings.Builder
	var done []string
	for _, name := range instructions.Mentions(s.Expand(args, l.p.Skills.Fill(), func(string) string { return "" })) {
		inside := filepath.IsLocal(name) && name[0] != '~'
		if !s.Acts && !inside || slices.Contains(done, name) || ctx.Err() != nil || !l.p.Skills.IsFile(ctx, name) {
			continue // an ordinary mention
		}
		if done = append(done, name); len(done) > maxAttached {
			fmt.Fprintf(&all, "\n[only the first %d files are attached; read_file has the others]", maxAttached)
			break
		}
		result, err := l.callFor(ctx, x, readTool, map[string]string{"path": name, "why": "a file that the text of " + s.Call() + " names"})
		if err != nil {
			result = err.Error()
		}
		all.WriteString("\n" + attached(name, result))
	}
	return all.String()
}

// attached returns a file as a model gets it beside the text of a skill, or why it does not.
func attached(name, result string) string {
	var got struct {
		Result struct{ Content, Lines, Note string }
	}
	if json.Unmarshal([]byte(result), &got) != nil {
		return fmt.Sprintf("[not attached: %s: %s]", name, result)
	}
	r := got.Result
	lines := ""
	if r.Lines != "" {
		lines = fmt.Sprintf(" lines=%q", r.Lines)
	}
	if r.Note != "" {
		r.Content += "\n[" + r.Note + "]"
	}
	return fmt.Sprintf("<file path=%q%s>\n%s\n</file>", name, lines, strings.TrimRight(skill.Inert(r.Content), "\n"))
}

// printed returns what a command printed, or why it did not run, of the result that a model reads.
func printed(result string) string {
	var got struct {
		Result struct {
			Stdout, Stderr string
			ExitCode       int `json:"exit_code"`
		}
	}
	if json.Unmarshal([]byte(result), &got) != nil {
		return result
	}
	text := strings.TrimRight(got.Result.Stdout, "\n")
	if stderr := strings.TrimSpace(got.Result.Stderr); stderr != "" && got.Result.ExitCode != 0 {
		text = strings.TrimLeft(text+"\n"+stderr, "\n")
	}
	if got.Result.ExitCode != 0 {
		text += fmt.Sprintf("\n[exit code %d]", got.Result.ExitCode)
	}
	return text
}

// loadSkill returns the text of a skill for the model that asked for it.
func (b *batch) loadSkill(ctx context.Context, name, args string) (string, error) {
	book := b.loop.p.Skills
	book.Await(ctx)
	s, ok := book.Find(strings.ToLower(strings.TrimPrefix(name, "/")))
	if !ok || !s.Listed && s.Origin != extensions.BuiltIn {
		return "", fmt.Errorf("there is no skill %q to load (have: %s)", tools.Clip(name, 100), strings.Join(book.Names(), ", "))
	}
	if slices.Contains(b.x.talk.LoadedSkills(), conversation.LoadedSkill{Name: s.Name, Args: args, Sum: s.Sum}) {
		b.loop.lend(b.x, s)
		b.loop.restrict(b.x, s)
		return "You have the text of " + s.Name + " already; it has not changed.", nil
	}
	text := b.loop.skillText(ctx, b.x, s, args)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	book.Used(s.Name)
	b.x.talk.LoadSkill(b.x.task, b.turn, event.SkillLoaded{Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByModel})
	return text, nil
}

// maxRestored limits the texts of skills that are told again after a compaction, in bytes: about
// 25,000 tokens.
const maxRestored = 5 * skill.MaxBody

// restoreSkills tells the model again the texts that a compaction took out, those loaded last
// first, without running their commands again.
func (l *Loop) restoreSkills(x *Exchange) {
	var names, texts []string
	size := 0
	for _, was := range slices.Backward(x.talk.LoadedSkills()) {
		s, ok := l.p.Skills.Find(was.Name)
		if !was.Gone || !ok {
			continue
		}
		text := s.Wrap(l.o.Redact.Text(s.Expand(was.Args, l.p.Skills.Fill(), func(string) string { return "[what a command gave stood here]" })))
		if s.Origin == extensions.Project || s.Origin == extensions.Plugin {
			text = inject.Defuse(text, inject.Scan(text))
		}
		if size += len(text); size > maxRestored {
			break
		}
		names, texts = append(names, was.Name), append(texts, text)
	}
	if len(names) > 0 {
		x.talk.Attach(x.task, 0, event.ReminderAttached{
			Kinds: []string{"skill"}, Names: names,
			Text: "<system-reminder>\nSkills that were loaded before the conversation was shortened:\n" + strings.Join(texts, "\n") + "\n</system-reminder>",
		})
	}
}
