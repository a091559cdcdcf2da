package skills

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/extensions/skill"
)

// perToken estimates the bytes of a token.
const perToken = 4

// Publish says in the stream what Report says, once the skills are read. It does not wait.
func (b *Book) Publish(window int) {
	b.work.Go(func() {
		b.Await(b.whole)
		b.stream.Publish(0, 0, event.Notice{Text: b.Report(window), Code: string(event.ReportSkills)})
	})
}

// Report describes the skills for a person: what each costs, and what was left out and why.
// window is that of the model, in tokens.
func (b *Book) Report(window int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := skill.Lines(b.on(), window, b.used)
	cost := make(map[string]int, len(lines))
	total := 0
	for _, l := range lines {
		cost[l.Name] = tokens(len(l.String()) + 1)
		total += cost[l.Name]
	}
	if total > 0 {
		total += tokens(len(skill.Head))
	}
	out := []string{fmt.Sprintf("skills and commands: %d; the list of them costs the model about %d tokens, once in a conversation", len(b.set.Skills), total)}
	for _, s := range b.set.Skills {
		out = append(out, b.line(s, cost))
	}
	for i, p := range b.set.Problems {
		if i == 0 {
			out = append(out, "not as you might expect:")
		}
		out = append(out, "  "+p.String())
	}
	return strings.Join(append(out, "/skills off NAME, /skills on NAME: for this session; [skills] off in your settings: for all"), "\n")
}

func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }

// line describes one skill. The caller holds b.mu.
func (b *Book) line(s skill.Skill, cost map[string]int) string {
	var states []string
	switch n, listed := cost[s.Name]; {
	case b.off(s.Name):
		states = append(states, "off")
	case s.Listed && s.Asleep:
		states = append(states, "listed once a file of "+strings.Join(s.Paths, ", ")+" is used")
	case listed:
		states = append(states, fmt.Sprintf("listed: %d tokens", n))
	default:
		states = append(states, "not listed")
	}
	states = append(states, fmt.Sprintf("text: %d tokens", tokens(len(s.Body))))
	if n := b.used[s.Name]; n > 0 {
		states = append(states, fmt.Sprintf("used: %d", n))
	}
	if s.Withheld != "" {
		states = append(states, "description withheld: "+s.Withheld)
	}
	switch {
	case !s.WantsTrust() || s.Acts:
	case s.Changed:
		states = append(states, "changed since you trusted it, so its commands and grants are off ("+b.trustLine(s)+")")
	default:
		states = append(states, "not trusted, so its commands and grants are off ("+b.trustLine(s)+")")
	}
	return fmt.Sprintf("%-24s %s · %s\n    %s", s.Call(), s.Origin, strings.Join(states, " · "), s.File)
}

// trustLine returns the command that trusts a skill, for the workspace or a folder below it.
func (b *Book) trustLine(s skill.Skill) string {
	if rel, ok := strings.CutPrefix(s.Base, b.o.Workspace+"/"); ok {
		return "buddy trust " + rel
	}
	return "buddy trust"
}
