package skills

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// loading is a skill on its way into an exchange.
type loading struct {
	book *Book
	turn.Access
	s    skill.Skill
	args string
}

// text returns the text of the skill with its arguments and the files that it names, as a model
// gets it, and opens what it needs.
func (l loading) text(ctx context.Context) string {
	s := l.s
	l.Approvals().Permit(readingRules(s)...)
	l.lend()
	text := s.Expand(l.args, l.book.o.Fill, func(command string) string { return l.run(ctx, command) })
	files := l.files(ctx)
	l.restrict()
	if s.Origin == extensions.Person || s.Origin == extensions.BuiltIn {
		return s.Wrap(l.Redact(text)) + files
	}
	return s.Wrap(l.Foreign(s.File+", which came with the project", text)) + files
}

// lend allows until the next prompt what the skill says in allowed-tools, and lets its model answer,
// if it may act. What has no rule that means exactly the same is said and not allowed.
func (l loading) lend() {
	s := l.s
	if !s.Acts {
		return
	}
	if !l.Subagent() { // what an agent was given is not the session's
		rules, refused := fieldRules(s.Allowed, func(text string) ([]action.Rule, error) {
			return action.FieldRules(text, action.Allow, action.FromSession)
		})
		l.Approvals().Lend(l.Task(), rules...)
		l.say("allowed-tools", "allow", refused)
	}
	if s.Model == "" {
		return
	}
	switch other, err := l.AnswerWith(s.Model); {
	case err != nil:
		l.note(fmt.Sprintf("the model of %s does not answer, but the one that did before: %v", s.Call(), err))
	case other:
		l.note(s.Call() + " lets the model " + s.Model + " answer this prompt")
	}
}

// restrict denies until the next prompt what the skill says in disallowed-tools. It begins when the
// commands in its own text have run.
func (l loading) restrict() {
	rules, refused := fieldRules(l.s.Denied, func(text string) ([]action.Rule, error) { return action.FieldDenials(text, action.FromSession) })
	l.Approvals().Lend(l.Task(), rules...)
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
		l.note(setting + " of " + l.s.Call() + " that " + verb + " nothing here: " + strings.Join(refused, "; "))
	}
}

// note tells the person something.
func (l loading) note(text string) { l.Publish(event.Notice{Text: text, Code: "skills"}) }

// run runs a command in the text of the skill as if the model had asked for it, and returns
// what is put in its place.
func (l loading) run(ctx context.Context, command string) string {
	s := l.s
	switch {
	case s.Origin == extensions.Project && l.book.o.Away:
		return "[not run: " + command + ": the project is on " + l.book.s.Target + "]"
	case !s.Acts:
		return "[not run: " + command + ": the user has not trusted this " + s.Kind.One() + "]"
	case ctx.Err() != nil:
		return ""
	}
	result, err := l.Call(ctx, "run_shell", map[string]any{"command": command, "why": "a command in the text of " + s.Call()})
	if err != nil {
		return "[not run: " + command + ": " + err.Error() + "]"
	}
	return strings.TrimRight(result.Result, "\n")
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
	if l.book.o.IsFile == nil {
		return ""
	}
	var all strings.Builder
	var done []string
	names := instructions.Mentions(s.Expand(l.args, l.book.o.Fill, func(string) string { return "" }))
	for _, name := range names[:min(len(names), maxNames)] {
		inside := filepath.IsLocal(name) && name[0] != '~'
		if !s.Acts && !inside || slices.Contains(done, name) || ctx.Err() != nil || !l.book.o.IsFile(ctx, name) {
			continue // an ordinary mention
		}
		if done = append(done, name); len(done) > maxAttached {
			fmt.Fprintf(&all, "\n[only the first %d files are attached; read_file has the others]", maxAttached)
			break
		}
		result, err := l.Call(ctx, "read_file", map[string]any{"path": name, "why": "a file that the text of " + s.Call() + " names"})
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
