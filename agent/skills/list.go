package skills

import (
	"context"
	"slices"

	"buddy/extensions"
	"buddy/extensions/skill"
)

// perToken estimates the bytes of a token.
const perToken = 4

// Listing holds the skills and custom commands of a session, and what was left out.
type Listing struct {
	Entries   []Entry
	Cost      int // tokens of the list that the model gets of them
	Workspace string
	Problems  []extensions.Problem
}

// Entry is a skill in its session.
type Entry struct {
	skill.Skill
	Off  bool
	Cost int // tokens of its line in the model's list; 0: it is not there
	Size int // tokens of its text
	Used int // how often
}

// List returns the skills, once they are read. window is that of the model, in tokens.
func (b *Book) List(ctx context.Context, window int) Listing {
	b.Await(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	l := Listing{Workspace: b.o.Workspace, Problems: slices.Clone(b.set.Problems)}
	cost := make(map[string]int)
	for _, line := range skill.Lines(b.on(), window, b.used) {
		cost[line.Name] = tokens(len(line.String()) + 1)
		l.Cost += cost[line.Name]
	}
	if l.Cost > 0 {
		l.Cost += tokens(len(skill.Head))
	}
	for _, s := range b.set.Skills {
		l.Entries = append(l.Entries, Entry{s, b.off(s.Name), cost[s.Name], tokens(len(s.Body)), b.used[s.Name]})
	}
	return l
}

func tokens(bytes int) int { return (bytes + perToken - 1) / perToken }
