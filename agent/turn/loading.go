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
)

// loading is a skill on its way into an exchange.
type loading struct {
	loop *Loop
	x    *Exchange
	s    skill.Skill
	args string
}

// text returns the text of the skill with its arguments and the files that it names, as a model
// gets it, and opens what it needs.
func (l loading) text(ctx context.Context) string {
	s, x := l.s, l.x
	l.loop.p.Approvals.Permit(readingRules(s)...)
	l.lend()
	text := l.loop.o.Redact.Text(s.Expand(l.args, l.loop.p.Skills.Fill(), func(command string) string { return l.run(ctx, command) }))
	files := l.files(ctx)
	l.restrict()
	if s.Origin == extensions.Person || s.Origin == extensions.BuiltIn {
		return s.Wrap(text) + files
	}
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, which came with the project: it %s: %q", s.File, found[0].Reason, found[0].Excerpt)
		distrust(l.loop.p, x, why)
		l.loop.p.Stream.Publish(x.task, 0, event.Warning{
			Text: why, Code: conversation.InjectionWarning, NextStep: "look at the file; until your next prompt more needs your approval",
		})
	}
	return s.Wrap(inject.Defuse(text, found)) + files
}

// lend allows until the next prompt what the skill says in allowed-tools, and lets its model answer,
// if it may act. What has no rule that means exactly the same is said and not allowed.
func (l loading) lend() {
	s, x := l.s, l.x
	if !s.Acts {
		return
	}
	if l.loop.agent.Type == "" { // what an agent was given is not the session's
		rules, refused := fieldRules(s.Allowed, func(text string) ([]action.Rule, error) {
			return action.FieldRules(text, action.Allow, action.FromSession)
		})
		l.loop.p.Approvals.Lend(x.task, rules...)
		l.say("allowed-tools", "allow", refused)
	}
	if s.Model == "" || s.Model == l.loop.model(x).Info().Profile || l.loop.o.Models == nil {
		return
	}
	m, err := l.loop.o.Models(s.Model, "")
	if err != nil {
		l.loop.p.Stream.Publish(x.task, 0, event.Notice{Text: fmt.Sprintf("the model of %s does not answer, but the one that did before: %v", s.Call(), err), Code: "skills"})
		return
	}
	x.EndFallback(l.loop.p.Stream, 0)
	x.answerWith(WithDurable(m, l.loop.o.Durable))
	l.loop.p.Stream.Publish(x.task, 0, event.Notice{Text: s.Call() + " lets the model " + s.Model + " answer this prompt", Code: "skills"})
}

// restrict denies until the next prompt what the skill says in disallowed-tools. It begins when the
// commands in its own text have run.
func (l loading) restrict() {
	rules, refused := fieldRules(l.s.Denied, func(text string) ([]action.Rule, error) { return action.FieldDenials(text, action.FromSession) })
	l.loop.p.Approvals.Lend(l.x.task, rules...)
	l.say("disallowed-tools", "deny", refused)
}

// fieldRules returns the rules that texts of the field mean, and why others mean none.
func fieldRules(all []string, meaning func(string) ([]action.Rule, error)) (rules []action.Rule, refused []string) {
	for _, text := range all {
		more, err := meaning(text)
		if err != nil {
			refused = append(refused, err.Error())
		}
		rules = append(rules, more...)
	}
	return rules, refused
}

// say tells the person which texts of a setting do nothing.
func (l loading) say(setting, verb string, refused []string) {
	if len(refused) > 0 {
		l.loop.p.Stream.Publish(l.x.task, 0, event.Notice{Text: setting + " of " + l.s.Call() + " that " + verb + " nothing here: " + strings.Join(refused, "; "), Code: "skills"})
	}
}

// run runs a command in the text of the skill as if the model had asked for it, and returns
// what is put in its place.
func (l loading) run(ctx context.Context, command string) string {
	s := l.s
	switch why := l.loop.p.Skills.NoCommands(); {
	case s.Origin == extensions.Project && why != "":
		return "[not run: " + command + ": " + why + "]"
	case !s.Acts:
		return "[not run: " + command + ": the user has not trusted this " + s.Kind.One() + "]"
	case ctx.Err() != nil:
		return ""
	}
	result, err := l.call(ctx, commandTool, map[string]string{"command": command, "why": "a command in the text of " + s.Call()})
	if err != nil {
		return "[not run: " + command + ": " + err.Error() + "]"
	}
	return strings.TrimRight(result.Result, "\n")
}

// call makes a call of a tool for the skill as if the model had asked for it, and returns the
// result.
func (l loading) call(ctx context.Context, tool string, args map[string]string) (event.ToolResult, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return event.ToolResult{}, err
	}
	b := l.loop.newBatch(ctx, l.x, 0)
	defer b.cancel(nil)
	j := b.plan(model.ToolCall{ID: "skill_" + stream.NewID(), Name: tool, Arguments: string(text)})
	if j.err != nil {
		return event.ToolResult{}, j.err
	}
	b.request(j)
	b.alone(j)
	return j.result, nil
}

// Limits of the files that the text of a skill attaches.
const (
	maxAttached = 10
	maxNames    = 32 // names after an @ that are looked for
)

// files returns the files that the skill's text names as @PATH, each read as if the model had asked
// for it. What its commands print names none. One that may not act names files of the workspace only.
func (l loading) files(ctx context.Context) string {
	s := l.s
	var all strings.Builder
	var done []string
	names := instructions.Mentions(s.Expand(l.args, l.loop.p.Skills.Fill(), func(string) string { return "" }))
	for _, name := range names[:min(len(names), maxNames)] {
		inside := filepath.IsLocal(name) && name[0] != '~'
		if !s.Acts && !inside || slices.Contains(done, name) || ctx.Err() != nil || !l.loop.p.Skills.IsFile(ctx, name) {
			continue // an ordinary mention
		}
		if done = append(done, name); len(done) > maxAttached {
			fmt.Fprintf(&all, "\n[only the first %d files are attached; read_file has the others]", maxAttached)
			break
		}
		result, err := l.call(ctx, readTool, map[string]string{"path": name, "why": "a file that the text of " + s.Call() + " names"})
		switch text := strings.TrimRight(skill.Inert(result.Result), "\n"); {
		case err != nil:
			fmt.Fprintf(&all, "\n[not attached: %s: %v]", name, err)
		case result.IsError:
			fmt.Fprintf(&all, "\n[not attached: %s: %s]", name, text)
		default:
			fmt.Fprintf(&all, "\n<file path=%q>\n%s\n</file>", name, text)
		}
	}
	return all.String()
}
