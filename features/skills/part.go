package skills

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
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/texts"
	"buddy/tools"
)

// Brief adds to the conversation what changed about skills: their list, texts that a compaction removed, and skills
// that the person called. It does nothing if neither the model nor the person can use skills.
func (b *Book) Brief(ctx context.Context, to turn.Briefing) {
	b.preload(ctx, to)
	if !to.Has("skill") && to.Subagent() {
		return
	}
	b.await(ctx)
	if ctx.Err() != nil {
		return
	}
	if !to.Short() { // otherwise only the person can call them
		list := conversation.Listing{Kind: reminder.Skills, Head: skill.Head}
		for _, line := range b.lines(to.Window()) {
			list.Items = append(list.Items, conversation.ListingItem{Name: line.Name, Line: line.String()})
		}
		to.List(list)
	}
	b.reopen.Do(func() { b.reopenFolders(to) })
	b.restore(to)
	for _, line := range to.Conversation().TakeCalls() {
		b.call(ctx, to, line)
	}
}

// call loads the skill that the person's line calls, if the line calls one.
func (b *Book) call(ctx context.Context, to turn.Briefing, line string) {
	name, args, ok := skill.Call(line)
	if !ok {
		return
	}
	s, ok := b.find(name)
	if !ok || !s.Typed {
		return
	}
	text := loading{b, to.Access, s, args}.text(ctx)
	if ctx.Err() != nil {
		return // the prompt was undone
	}
	b.countUse(s.Name)
	to.Conversation().LoadSkill(to.Task(), 0, event.SkillLoaded{
		Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByPerson, Line: line,
		Text: "The user's prompt " + s.Call() + " means this:\n" + toAgent(s) + text,
	})
}

// toAgent asks the model to delegate a skill to its subagent; "" if the skill has none.
func toAgent(s skill.Skill) string {
	if s.Agent == "" {
		return ""
	}
	return fmt.Sprintf("Call the `agent` tool with type %q for it, with all of this in prompt, and tell the user what it answers.\n", s.Agent)
}

// preload loads the skills of a subagent before its first request.
func (b *Book) preload(ctx context.Context, to turn.Briefing) {
	agent := to.Agent()
	if len(agent.Skills) == 0 || !to.First() {
		return
	}
	b.await(ctx)
	for _, name := range agent.Skills {
		s, ok := b.find(name)
		if !ok {
			to.Publish(event.Notice{Text: fmt.Sprintf("there is no skill %q, which the agent %s needs", name, agent.Type), Code: "agents"})
			continue
		}
		text := loading{b, to.Access, s, ""}.text(ctx)
		if ctx.Err() != nil {
			return
		}
		b.countUse(s.Name)
		to.Conversation().LoadSkill(to.Task(), 0, event.SkillLoaded{
			Name: s.Name, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByPerson, Text: "For your work:\n" + text,
		})
	}
}

// readingRules returns rules that allow reading the files of a skill from the user's own folders. For other skills it
// returns none: files of a project's skill are in the workspace.
func readingRules(s skill.Skill) []action.Rule {
	if s.Dir == "" || s.Origin != extensions.Person {
		return nil
	}
	below := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(s.Dir) + "/**"
	var rules []action.Rule
	for _, tool := range action.ReadingTools {
		rules = append(rules, action.Rule{Decision: action.Allow, Tool: tool, Path: below, Target: "local", Source: action.FromSession})
	}
	return rules
}

// reopenFolders allows reading the files of skills that an earlier process loaded.
func (b *Book) reopenFolders(to turn.Briefing) {
	for _, was := range to.Conversation().LoadedSkills() {
		if s, ok := b.find(was.Name); ok {
			to.Approvals().Permit(readingRules(s)...)
		}
	}
}

// Equip lets a call load a skill.
func (b *Book) Equip(a turn.Asking, call *tools.Call) {
	call.Skill = func(ctx context.Context, name, args string) (string, error) { return b.load(ctx, a, call, name, args) }
}

// load returns the text of a skill that the model loads with a call.
func (b *Book) load(ctx context.Context, a turn.Asking, call *tools.Call, name, args string) (string, error) {
	b.await(ctx)
	s, ok := b.find(strings.ToLower(strings.TrimPrefix(name, "/")))
	if !ok || !s.Listed && s.Origin != extensions.BuiltIn {
		return "", fmt.Errorf("there is no skill %q to load (have: %s)", texts.ClipBytes(name, 100), strings.Join(b.names(), ", "))
	}
	now, conv := loading{b, a.Access, s, args}, a.Conversation()
	if slices.Contains(conv.LoadedSkills(), conversation.LoadedSkill{Name: s.Name, Args: args, Sum: s.Sum}) {
		now.lend()
		now.restrict()
		return "You have the text of " + s.Name + " already; it has not changed.", nil
	}
	text := now.text(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	b.countUse(s.Name)
	if s.Agent != "" {
		res := call.Agent(ctx, *call, tools.Subagent{Type: s.Agent, Title: s.Call(), Prompt: text, Background: new(bool)})
		if res.IsError {
			return "", errors.New(res.Content)
		}
		return res.Content, nil
	}
	conv.LoadSkill(a.Task(), a.Turn(), event.SkillLoaded{Name: s.Name, Args: args, Origin: string(s.Origin), File: s.File, Sum: s.Sum, By: event.ByModel})
	return text, nil
}

// maxRestored limits the texts that are restored after a compaction, in bytes: about 25,000 tokens.
const maxRestored = 5 * skill.MaxBody

// restore adds the texts that a compaction removed, last loaded first, without running their commands again.
func (b *Book) restore(to turn.Briefing) {
	var names, texts []string
	size := 0
	for _, was := range slices.Backward(to.Conversation().LoadedSkills()) {
		s, ok := b.find(was.Name)
		if !was.Gone || !ok {
			continue
		}
		text := s.Wrap(to.Redact(s.Expand(was.Args, b.o.Fill, func(string) string { return "[a command's output was here]" })))
		if s.Origin == extensions.Project || s.Origin == extensions.Plugin {
			text = inject.Defuse(text, inject.Scan(text))
		}
		if size += len(text); size > maxRestored {
			break
		}
		names, texts = append(names, was.Name), append(texts, text)
	}
	if len(names) > 0 {
		to.Conversation().Attach(to.Task(), 0, event.ReminderAttached{
			Kinds: []string{reminder.SkillTexts}, Names: names,
			Text: reminder.Wrap("Skills that were loaded before the conversation was shortened:\n" + strings.Join(texts, "\n")),
		})
	}
}
