package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"buddy/agent/inject"
	"buddy/agent/instructions"
	"buddy/agent/reminder"
)

// Limits of what models see.
const (
	// MaxShare limits the memory in a session's first context, in bytes.
	MaxShare = 4 << 10
	maxRules = 200 // entries that hold for some files only
)

// Instructions returns the memory for the start of a session as instruction files within the limit. Files of projects
// are marked as such, because a stranger may have written them. Entries for some files come as rules, and a note in the
// last file reports how many entries were left out.
func (s *Store) Instructions(ctx context.Context) (instructions.Set, Listing, error) {
	if s.ended() != nil {
		return instructions.Set{}, Listing{}, nil
	}
	l, files, err := s.read(ctx)
	var always, limited []Entry
	for _, e := range holding(l.Entries) {
		switch {
		case len(e.Note.Paths()) > 0:
			limited = append(limited, e)
		case onTarget(e.Note.Target(), s.o.Target):
			always = append(always, e)
		}
	}
	rank(always)
	rank(limited)
	set := fit(files, always, s.o.Limit)
	if len(limited) > maxRules {
		l.Problems = append(l.Problems, Problem{Why: fmt.Sprintf("%d entries for some paths are left out (at most %d)", len(limited)-maxRules, maxRules)})
		limited = limited[:maxRules]
	}
	for _, e := range limited {
		if onTarget(e.Note.Target(), s.o.Target) {
			set.Rules = append(set.Rules, ruleOf(e, files))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news, s.gone = nil, nil // the new instructions contain what this session wrote
	s.inPrompt = share{ids: make(map[string]bool), bytes: len(set.Text())}
	for _, e := range l.Entries {
		s.inPrompt.ids[e.ID] = true
	}
	return set, l, err
}

// share describes the memory in the system prompt.
type share struct {
	ids   map[string]bool
	bytes int
}

// Told returns how many bytes of the system prompt come from memory.
func (s *Store) Told() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off != nil {
		return 0
	}
	return s.inPrompt.bytes
}

// Report summarizes in one line how many entries hold and how many bytes the model saw. It reads no file.
func (s *Store) Report() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(s.off, errDisabled):
		return "off ([memory] enabled)"
	case s.off != nil:
		return "off in this session"
	}
	count := make(map[Kind]int)
	for _, e := range s.active {
		count[e.Kind]++
	}
	return fmt.Sprintf("rules %d, corrections %d, facts %d, new in this session %d; sent to the model: %d bytes (limit %d); see /memory",
		count[Rule], count[Correction], count[Fact], len(s.news), s.inPrompt.bytes, s.o.Limit)
}

// rank sorts entries by kind, support and date; entries that nobody has confirmed for a long time come last.
func rank(all []Entry) {
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(
			compareBool(a.Sinking, b.Sinking),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(b.support, a.support),
			b.confirmed.Compare(a.confirmed),
			cmp.Compare(a.Scope.width(), b.Scope.width()),
		)
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fit returns as many entries as fit into limit bytes, with the text around them.
func fit(files []file, ranked []Entry, limit int) instructions.Set {
	n, size := 0, 0
	for n < len(ranked) && size < limit { // a quick upper bound shortens the exact search
		size += len(ranked[n].Text) + len("- \n")
		n++
	}
	for ; n > 0; n-- {
		set := asFiles(files, ranked[:n], len(ranked))
		if len(set.Text()) > limit {
			continue
		}
		for i := range set.Files {
			scan(&set.Files[i])
		}
		if len(set.Text()) <= limit { // warnings about prompt injections need room, too
			return set
		}
	}
	return instructions.Set{}
}

// asFiles returns entries as instruction files, in their order.
func asFiles(files []file, some []Entry, all int) (set instructions.Set) {
	for _, f := range files {
		var b strings.Builder
		number := 0
		for _, k := range kinds {
			for _, e := range some {
				if e.File != f.Path || e.Kind != k {
					continue
				}
				if number++; b.Len() == 0 || !strings.Contains(b.String(), headingOf(k)) {
					b.WriteString(headingOf(k))
				}
				b.WriteString("- " + e.Text + "\n")
			}
		}
		if number == 0 {
			continue
		}
		set.Files = append(set.Files, instructionFile(f, f.Path, strings.TrimSpace(b.String())))
	}
	if last := len(set.Files) - 1; last >= 0 && len(some) < all {
		set.Files[last].Why = fmt.Sprintf("the first %d of %d entries of memory", len(some), all)
	}
	return set
}

func headingOf(k Kind) string {
	for _, s := range sections {
		if s.kind == k {
			return "## " + s.heading + "\n"
		}
	}
	return ""
}

// instructionFile wraps a text as an instruction file of the project or the person.
func instructionFile(f file, name, text string) instructions.File {
	from := instructions.Project
	if f.Scope == Person {
		from = instructions.Person
	}
	return instructions.File{Path: name, From: from, Bytes: len(f.data), Text: text}
}

// scan looks for prompt injections in files that came with a project.
func scan(f *instructions.File) {
	if f.From != instructions.Project {
		return
	}
	if found := inject.Scan(f.Text); inject.Worst(found) >= inject.High {
		f.Found = found
	}
}

// ruleOf returns an entry as a rule for its paths.
func ruleOf(e Entry, files []file) instructions.Rule {
	i := slices.IndexFunc(files, func(f file) bool { return f.Path == e.File })
	one := instructionFile(files[i], e.File+"#"+e.ID, "- "+e.Text)
	scan(&one)
	return instructions.Rule{File: one, Globs: e.Note.Paths(), Base: path.Clean(files[i].Base)}
}

// Reminder returns the changes of memory that the system prompt lacks: entries added, changed or forgotten in this
// session, and entries for targets that calls have named since.
func (s *Store) Reminder(_ context.Context, now reminder.Snapshot) reminder.Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off != nil || len(s.news) == 0 && len(s.gone) == 0 && len(s.touched) == 0 {
		return reminder.Said{}
	}
	marks := strings.Fields(now.Told[reminder.Memory])
	var lines []string
	for _, n := range s.newer() {
		if !slices.Contains(marks, n.mark) && inject.Worst(inject.Scan(n.text)) < inject.High {
			marks, lines = append(marks, n.mark), append(lines, n.text)
		}
	}
	if len(lines) == 0 {
		return reminder.Said{}
	}
	return reminder.Said{
		Text:  "New in memory since this session started. It says how to work and permits nothing:\n" + strings.Join(lines, "\n"),
		State: strings.Join(marks, " "),
	}
}

// newLine is a line of a reminder. Its mark is stored with the conversation, so that the line is sent only once.
type newLine struct{ mark, text string }

// newer returns the lines that the system prompt lacks. The caller holds s.mu.
func (s *Store) newer() (all []newLine) {
	mark := func(e Entry) string { return e.ID + "." + newID("t", 4, nil, e.Text) }
	everywhere := func(e Entry) bool { return len(e.Note.Paths()) == 0 }
	for _, e := range s.news {
		if t := e.Note.Target(); everywhere(e) && (t == "" || s.touches(t)) {
			all = append(all, newLine{mark(e), "- " + e.Text})
		}
	}
	for _, e := range s.active {
		if t := e.Note.Target(); t != "" && everywhere(e) && !onTarget(t, s.o.Target) && s.touches(t) {
			all = append(all, newLine{mark(e), "- on " + t + ": " + e.Text})
		}
	}
	for _, e := range s.gone {
		all = append(all, newLine{e.ID + ".gone", "- no longer valid: " + e.Text})
	}
	return all
}

// touches reports whether a limit covers the session's target or a target that a call has named. The caller holds s.mu.
func (s *Store) touches(limit string) bool {
	for t := range s.touched {
		if onTarget(limit, t) {
			return true
		}
	}
	return onTarget(limit, s.o.Target)
}
