package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/agent/reminder"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/texts"
	"buddy/tools"
)

// skillTexts tells an exchange of skills.
type skillTexts struct {
	*Loop
	x *Exchange
}

// tellSkills brings the conversation up to date with the skills before a request, if the model can load one or the person
// call one.
func tellSkills(ctx context.Context, b Briefing) {
	texts := skillTexts{b.l, b.x}
	texts.preload(ctx)
	if _, err := b.l.p.Selection.Tools().Lookup("skill"); err == nil || b.l.agent.Type == "" {
		texts.tell(ctx)
	}
}

// tell brings the conversation up to date with the skills before a request: which ones
// there are, the texts that a compaction took out, and those that the person has called.
func (l skillTexts) tell(ctx context.Context) {
	l.p.Skills.Await(ctx)
	if ctx.Err() != nil {
		return
	}
	if !(Briefing{l.Loop, l.x}).Short() { // else the person alone can call them
		window := l.p.Selection.KnownWindow() // 0: nobody knows
		list := conversation.Listing{Kind: reminder.Skills, Head: skill.Head}
		for _, line := range l.p.Skills.Lines(window) {
			list.Items = append(list.Items, conversation.ListingItem{Name: line.Name, Line: line.String()})
		}
		l.x.talk.Tell(l.x.task, list)
	}
	l.reopen.Do(func() { l.reopenFolders() })
	l.restore()
	for _, line := range l.x.talk.TakeCalls() {
		l.call(ctx, line)
	}
}

// call tells the model the text of a skill that a person called, if the line calls one.
func (l skillTexts) call(ctx context.Context, line string) {
	name, args, ok := skill.Call(line)
	if !ok {
		return
	}
	s, ok := l.p.Skills.Find(name)
	if !ok || !s.Typed {
		return
	}
	text := loading{l.Loop, l.x, s, args}.text(ctx)
	if ctx.Err() != nil {
		return // the prompt was taken back; nothing was promised of it
	}
	l.p.Skills.Used(s.Name)
	l.x.talk.LoadSkill(l.x.task, 0, event.SkillLoaded{
		Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByPerson, Line: line,
		Text: "The user's prompt " + s.Call() + " stands for this:\n" + toAgent(s) + text,
	})
}

// toAgent tells the model to give a skill to the subagent that it is for; "" when it is for none.
func toAgent(s skill.Skill) string {
	if s.Agent == "" {
		return ""
	}
	return fmt.Sprintf("Call the tool agent with type %q for it, with all of this in prompt, and tell the user what it answers.\n", s.Agent)
}

// preload gives a subagent the texts of skills before its first request.
func (l skillTexts) preload(ctx context.Context) {
	if len(l.agent.Skills) == 0 || l.x.turns > 0 {
		return
	}
	l.p.Skills.Await(ctx)
	for _, name := range l.agent.Skills {
		s, ok := l.p.Skills.Find(name)
		if !ok {
			l.p.Stream.Publish(l.x.task, 0, event.Notice{Text: fmt.Sprintf("there is no skill %q, which the agent %s is to have", name, l.agent.Type), Code: "agents"})
			continue
		}
		text := loading{l.Loop, l.x, s, ""}.text(ctx)
		if ctx.Err() != nil {
			return
		}
		l.p.Skills.Used(s.Name)
		l.x.talk.LoadSkill(l.x.task, 0, event.SkillLoaded{
			Name: s.Name, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByPerson, Text: "For your work:\n" + text,
		})
	}
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
func (l skillTexts) reopenFolders() {
	for _, was := range l.x.talk.LoadedSkills() {
		if s, ok := l.p.Skills.Find(was.Name); ok {
			l.p.Approvals.Permit(readingRules(s)...)
		}
	}
}

// loadSkill returns the text of a skill for the model that asked for it.
func (b *batch) loadSkill(ctx context.Context, call tools.Call, name, args string) (string, error) {
	book := b.loop.p.Skills
	book.Await(ctx)
	s, ok := book.Find(strings.ToLower(strings.TrimPrefix(name, "/")))
	if !ok || !s.Listed && s.Origin != extensions.BuiltIn {
		return "", fmt.Errorf("there is no skill %q to load (have: %s)", texts.ClipBytes(name, 100), strings.Join(book.Names(), ", "))
	}
	now := loading{b.loop, b.x, s, args}
	if slices.Contains(b.x.talk.LoadedSkills(), conversation.LoadedSkill{Name: s.Name, Args: args, Sum: s.Sum}) {
		now.lend()
		now.restrict()
		return "You have the text of " + s.Name + " already; it has not changed.", nil
	}
	text := now.text(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	book.Used(s.Name)
	if s.Agent != "" {
		res := b.runAgent(ctx, call, tools.Subagent{Type: s.Agent, Title: s.Call(), Prompt: text, Background: new(bool)}, nil)
		if res.IsError {
			return "", errors.New(res.Content)
		}
		return res.Content, nil
	}
	b.x.talk.LoadSkill(b.x.task, b.turn, event.SkillLoaded{Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByModel})
	return text, nil
}

// maxRestored limits the texts of skills that are told again after a compaction, in bytes: about
// 25,000 tokens.
const maxRestored = 5 * skill.MaxBody

// restore tells the model again the texts that a compaction took out, those loaded last
// first, without running their commands again.
func (l skillTexts) restore() {
	var names, texts []string
	size := 0
	for _, was := range slices.Backward(l.x.talk.LoadedSkills()) {
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
		l.x.talk.Attach(l.x.task, 0, event.ReminderAttached{
			Kinds: []string{reminder.SkillTexts}, Names: names,
			Text: reminder.Wrap("Skills that were loaded before the conversation was shortened:\n" + strings.Join(texts, "\n")),
		})
	}
}
