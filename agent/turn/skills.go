package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/agent/reminder"
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
	list := conversation.Listing{Kind: reminder.Skills, Head: skill.Head}
	for _, line := range l.p.Skills.Lines(window) {
		list.Items = append(list.Items, conversation.ListingItem{Name: line.Name, Line: line.String()})
	}
	x.talk.Tell(x.task, list)
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
		Text: "The user's prompt " + s.Call() + " stands for this:\n" + s.Wrap(text),
	})
}

// skillText returns the text of a skill with its arguments, and opens what it needs.
func (l *Loop) skillText(ctx context.Context, x *Exchange, s skill.Skill, args string) string {
	l.p.Approvals.Permit(readingRules(s)...)
	l.lend(x, s)
	text := l.o.Redact.Text(s.Expand(args, l.p.Skills.Fill(), func(command string) string {
		return l.runForSkill(ctx, x, s, command)
	}))
	if s.Origin == extensions.Person || s.Origin == extensions.BuiltIn {
		return text
	}
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, which came with the project: it %s: %q", s.File, found[0].Reason, found[0].Excerpt)
		x.talk.Distrust(why)
		l.p.Stream.Publish(x.task, 0, event.Warning{
			Text: why, Code: conversation.InjectionWarning, NextStep: "look at the file; until your next prompt more needs your approval",
		})
	}
	return inject.Defuse(text, found)
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

// lend allows until the next prompt what a skill says in allowed-tools, if it may act. What has no
// rule that means exactly the same is said and not allowed.
func (l *Loop) lend(x *Exchange, s skill.Skill) {
	if !s.Acts {
		return
	}
	var rules []action.Rule
	var refused []string
	for _, text := range s.Allowed {
		more, err := action.FieldRules(text, action.Allow, action.FromSession)
		if err != nil {
			refused = append(refused, err.Error())
		}
		rules = append(rules, more...)
	}
	l.p.Approvals.Lend(x.task, rules...)
	if len(refused) > 0 {
		l.p.Stream.Publish(x.task, 0, event.Notice{Text: "allowed-tools of " + s.Call() + " that allow nothing here: " + strings.Join(refused, "; "), Code: "skills"})
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
	args, err := json.Marshal(map[string]string{"command": command, "why": "a command in the text of " + s.Call()})
	if err != nil {
		return "[not run: " + err.Error() + "]"
	}
	b := l.newBatch(ctx, x, 0)
	defer b.cancel(nil)
	j := b.plan(model.ToolCall{ID: "skill_" + stream.NewID(), Name: commandTool, Arguments: string(args)})
	if j.err != nil {
		return "[not run: " + command + ": " + j.err.Error() + "]"
	}
	b.request(j)
	b.alone(j)
	return printed(j.result)
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
		return "You have the text of " + s.Name + " already; it has not changed.", nil
	}
	text := b.loop.skillText(ctx, b.x, s, args)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	book.Used(s.Name)
	b.x.talk.LoadSkill(b.x.task, b.turn, event.SkillLoaded{Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByModel})
	return s.Wrap(text), nil
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
			Kinds: []string{reminder.SkillTexts}, Names: names,
			Text: reminder.Wrap("Skills that were loaded before the conversation was shortened:\n" + strings.Join(texts, "\n")),
		})
	}
}
