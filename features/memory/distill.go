package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"buddy/agent/action"
	"buddy/texts"
)

// Limits of learning.
const (
	leastNew   = 3  // unused records
	maxLearned = 20 // learned rules in a folder
	maxWishes  = 3  // sentences of one prompt
	maxPrompt  = 2000
)

// Learned is the outcome of [Store.Distill].
type Learned struct {
	Entries  []Entry // rules that hold from now on
	Proposed int     // proposals from output

	by commands
}

// Text reports in one line what was learned and the command that undoes it, or returns "".
func (l Learned) Text() string {
	var parts []string
	if len(l.Entries) > 0 {
		parts = append(parts, "learned: "+Change{Entries: l.Entries}.Text()+" ("+l.by.undo(l.Entries)+")")
	}
	if l.Proposed > 0 {
		parts = append(parts, fmt.Sprintf("memory has new proposals from output: %d (%s)", l.Proposed, l.by.does("list")))
	}
	return strings.Join(parts, "; ")
}

// wish matches a sentence that asks for a way of working.
var (
	wish   = texts.Regexp(`^(?i:prefer|always|never|don't|don’t|do not|avoid|use)\s+\S`)
	strong = texts.Regexp(`^(?i:prefer|always|never)\b`)
	ends   = texts.Regexp(`[.!?](?:\s|$)`)
)

// sentences calls f for each sentence outside of code blocks and quotes, until f returns false.
func sentences(text string, f func(string) bool) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced, strings.HasPrefix(line, ">"):
			continue
		}
		line = strings.TrimLeft(line, "-*+ ")
		for line != "" {
			one, rest := line, ""
			if at := ends().FindStringIndex(line); at != nil {
				one, rest = line[:at[0]], strings.TrimSpace(line[at[1]:])
			}
			if one = strings.TrimSpace(one); one != "" && !f(one) {
				return
			}
			line = rest
		}
	}
}

// sentence returns the first sentence that reads like a rule, or "".
func sentence(text string) (found string) {
	sentences(text, func(one string) bool {
		if wish().MatchString(one) && utf8.RuneCountInString(one) <= MaxText {
			found = one
		}
		return found == ""
	})
	return found
}

// wishes returns the sentences of a prompt that can become rules. A long prompt has none, because most of it is pasted.
func wishes(prompt string) (all []string) {
	if len(prompt) > maxPrompt {
		return nil
	}
	sentences(prompt, func(one string) bool {
		if wish().MatchString(one) && len(one) < MaxText && innocent(one) {
			all = append(all, one)
		}
		return len(all) < maxWishes
	})
	return all
}

type candidate struct {
	draft   Draft
	sources []Record
}

// Distill makes rules from the records that were not used yet, if there are at least three. Words and actions of the
// person become rules at once; claims in output are only proposed. The same records always make the same rules.
func (s *Store) Distill(ctx context.Context) (Learned, error) {
	if s.o.Dir == "" || s.ended() != nil || s.mayWrite() != nil {
		return Learned{}, nil
	}
	o := observed{s.o.Dir}
	if all, _, err := o.read(neededForDistilling); err != nil || len(fresh(all)) < leastNew {
		return Learned{}, err
	}
	var learned Learned
	var undone []Record // appended to the records once the files are written
	c, err := s.change(ctx, func(w *writing) error {
		all, _, err := o.read(neededForDistilling) // read again, now under the lock
		if err != nil {
			return err
		}
		news := fresh(all)
		if len(news) < leastNew {
			return nil
		}
		f, err := w.file(Folder)
		if err != nil {
			return err
		}
		learnedFrom, err := w.learn(f, candidates(news))
		if err != nil {
			return err
		}
		proposed, checked := s.claimed(w, all, news)
		learned.Proposed = len(proposed)
		undone = proposed
		if ids := append(learnedFrom, checked...); len(ids) > 0 {
			undone = append(undone, Record{Kind: used, Time: s.o.Now().UTC(), Session: s.o.Session, IDs: ids})
		}
		w.after = func() error { return o.append(undone...) }
		return nil
	})
	learned.Entries, learned.by = c.Entries, s.commands()
	return learned, err
}

// fresh returns the records that can teach and were not used yet.
func fresh(all []Record) []Record {
	done := make(map[string]bool)
	for _, r := range all {
		if r.Kind == used {
			for _, id := range r.IDs {
				done[id] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r Record) bool {
		return done[r.ID] || r.Kind != correction && r.Kind != remark && (r.Kind != observation || !slices.Contains(r.Tags, claims)) || r.Kind == correction && r.Corrected == nil
	})
}

// candidates returns the rules that the person's own records support, the best supported first.
func candidates(news []Record) (all []candidate) {
	groups := make(map[string][]Record)
	var order []string
	for _, r := range news {
		key := ""
		switch r.Kind {
		case correction:
			key = "c " + limitOf(r.Target) + " " + r.Context
		case remark:
			key = "s " + normal(r.Text)
		default:
			continue
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	for _, key := range order {
		if c, ok := candidateOf(groups[key]); ok {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(len(b.sources), len(a.sources)) })
	return all
}

// limitOf returns the target to which a rule learned on a target is limited, "" for this machine and for names with
// glob characters.
func limitOf(target string) string {
	name, _, _ := strings.Cut(target, " (")
	if name == "local" || strings.ContainsAny(name, ", *?[{") {
		return ""
	}
	return name
}

// candidateOf makes a rule of similar records, if they suffice. One record suffices for a wish with always, never or
// prefer, and for a denial whose reason is a wish.
func candidateOf(same []Record) (c candidate, ok bool) {
	last := same[len(same)-1]
	c.sources = same
	switch last.Kind {
	case remark:
		sessions := make(map[string]bool)
		for _, r := range same {
			sessions[r.Session] = true
		}
		if !strong().MatchString(last.Text) && len(sessions) < 2 {
			return c, false
		}
		c.draft.Text = sentenceOf(last.Text)
	default:
		last = usual(same)
		if len(same) < 2 && (!wish().MatchString(last.Corrected.Corrected) || !strings.HasPrefix(last.Source, "denied:")) {
			return c, false
		}
		if c.draft.Text = correctionText(last); c.draft.Text == "" {
			return c, false
		}
		c.draft.Target = limitOf(last.Target)
	}
	var ids []string
	for _, r := range same {
		ids = append(ids, r.ID)
	}
	from := ids[max(0, len(ids)-maxFrom):]
	c.draft.Note = Note{"from:" + strings.Join(from, ","), "support:" + strconv.Itoa(len(same))}
	return c, innocent(c.draft.Text)
}

// usual returns the most frequent correction, the newest of equally frequent ones.
func usual(same []Record) Record {
	times := make(map[string]int)
	best := same[0]
	for _, r := range same {
		times[normal(r.Corrected.Corrected)]++
	}
	for _, r := range same {
		a, b := normal(r.Corrected.Corrected), normal(best.Corrected.Corrected)
		if b == "" || a != "" && times[a] >= times[b] {
			best = r
		}
	}
	return best
}

// correctionText turns a correction into the text of a rule. It returns "" for an edited call whose text looks
// unchanged.
func correctionText(r Record) string {
	how, _, _ := strings.Cut(r.Source, ":")
	what, wanted := r.wrong(), r.Corrected.Corrected
	switch {
	case wanted == "":
		return fmt.Sprintf("Not `%s`: its changes were taken back.", code(what))
	case how == "edited":
		instead := head(wanted)
		if instead == what || what == r.Original {
			what, instead = r.Original, wanted
		}
		if code(what) == code(instead) {
			return ""
		}
		return fmt.Sprintf("Not `%s` but `%s`.", code(what), code(instead))
	}
	return action.Taught(deniedText(r), wanted)
}

// code shortens a text that goes between backticks.
func code(s string) string { return texts.Clip(strings.ReplaceAll(s, "`", "'"), 80) }

// sentenceOf capitalizes a text and ends it with a period.
func sentenceOf(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimRight(texts.Clip(s[size:], MaxText-2), ".!") + "."
}

// learn writes candidates to a file and keeps the best supported learned rules. It returns the ids of the records it
// used.
func (w *writing) learn(f *file, all []candidate) (ids []string, err error) {
	for _, c := range all {
		e, err := w.s.entry(c.draft, w.taken)
		if err != nil {
			return nil, err
		}
		for _, r := range c.sources {
			ids = append(ids, r.ID)
		}
		if i := same(f.doc, e); i >= 0 {
			w.confirm(f, i, e)
			continue
		}
		if least := leastLearned(f.doc); least >= 0 {
			if f.doc.lines[least].entry.Note.Support() > e.Note.Support() {
				continue
			}
			w.drop(f, least)
		}
		w.add(f, e)
	}
	return ids, nil
}

// leastLearned returns the line of the oldest learned rule among those with the least support, or -1 while there is
// room.
func leastLearned(d document) int {
	at, n := -1, 0
	for i, l := range d.lines {
		if l.entry == nil || l.entry.Kind != Rule || len(l.entry.Note.Sources()) == 0 {
			continue
		}
		if n++; at < 0 || l.entry.Note.Support() < d.lines[at].entry.Note.Support() {
			at = i
		}
	}
	if n < maxLearned {
		return -1
	}
	return at
}

// claimed makes proposals of the rules that tool output states, except prompt injections. checked has the ids of the
// records that it looked at.
func (s *Store) claimed(w *writing, all, news []Record) (proposed []Record, checked []string) {
	known := make(map[string]bool)
	for _, r := range all {
		if r.Kind == proposal {
			known[normal(r.Text)] = true
		}
	}
	for _, r := range news {
		if r.Kind != observation {
			continue
		}
		checked = append(checked, r.ID)
		if known[normal(r.Text)] || !innocent(r.Text) || w.hasText(r.Text) {
			continue
		}
		known[normal(r.Text)] = true
		p := s.proposal(Draft{Text: sentenceOf(r.Text), Target: limitOf(r.Target)}, r.Source)
		p.From = []string{r.ID}
		proposed = append(proposed, p)
	}
	return proposed, checked
}

// hasText reports whether a file has an entry with the text.
func (w *writing) hasText(text string) bool {
	return slices.ContainsFunc(w.files, func(f *file) bool {
		return slices.ContainsFunc(f.doc.lines, func(l line) bool { return l.entry != nil && normal(l.entry.Text) == normal(text) })
	})
}
