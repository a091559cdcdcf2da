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

// loading is a skill that is being loaded into a turn.
type loading struct {
	book *Book
	turn.Access
	s    skill.Skill
	args string
}

// text expands the skill with its arguments and attached files for a model, and applies its permissions.
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

// lend applies allowed-tools until the next prompt and switches to the skill's model, if the skill is trusted. Entries
// without an exact rule are reported and not allowed.
func (l loading) lend() {
	s := l.s
	if !s.Acts {
		return
	}
	if !l.Subagent() { // permissions of a subagent do not apply to the session
		rules, refused := fieldRules(s.Allowed, func(text string) ([]action.Rule, error) {
			return action.FieldRules(text, action.Allow, action.FromSession)
		})
		l.Approvals().Lend(l.Task(), rules...)
		l.report("allowed-tools", "allow", refused)
	}
	if s.Model == "" {
		return
	}
	switch other, err := l.AnswerWith(s.Model); {
	case err != nil:
		l.note(fmt.Sprintf("the model of %s can't be used, so the previous one answers: %v", s.Call(), err))
	case other:
		l.note(s.Call() + " lets the model " + s.Model + " answer this prompt")
	}
}

// restrict applies disallowed-tools until the next prompt. Commands in the skill's own text have already run.
func (l loading) restrict() {
	rules, refused := fieldRules(l.s.Denied, func(text string) ([]action.Rule, error) { return action.FieldDenials(text, action.FromSession) })
	l.Approvals().Lend(l.Task(), rules...)
	l.report("disallowed-tools", "deny", refused)
}

// fieldRules converts the entries of a field to rules, with reasons for the entries that it can't convert.
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

// report notifies the person about entries of a field that have no effect.
func (l loading) report(setting, verb string, refused []string) {
	if len(refused) > 0 {
		l.note(setting + " of " + l.s.Call() + " that " + verb + " nothing here: " + strings.Join(refused, "; "))
	}
}

// note publishes a notice.
func (l loading) note(text string) { l.Publish(event.Notice{Text: text, Code: "skills"}) }

// run runs a command in the skill's text as a call of the model, and returns its replacement.
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

// Limits of the attached files of a skill.
const (
	maxAttached = 10
	maxNames    = 32 // names after an @ that are looked up
)

// files attaches the files that the skill's text names as @PATH, each read as a call of the model. Names in command
// output are ignored. A skill that is not trusted can name only files of the workspace.
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
