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

// Limits of distilling.
const (
	leastNew   = 3  // records that were not used yet
	maxLearned = 20 // learned rules of a folder
	maxWishes  = 3  // sentences of one prompt
	maxPrompt  = 2000
)

// Learned is the result of [Store.Distill].
type Learned struct {
	Entries  []Entry // rules that hold from now on
	Proposed int     // entries that the person may accept

	by commands
}

// Text says what was learned in one line, and what takes it back; "" for nothing.
func (l Learned) Text() string {
	var parts []string
	if len(l.Entries) > 0 {
		parts = append(parts, "learned: "+Change{Entries: l.Entries}.Text()+" ("+l.by.undo(l.Entries)+")")
	}
	if l.Proposed > 0 {
		parts = append(parts, fmt.Sprintf("memory has proposals from output, new: %d (%s)", l.Proposed, l.by.does("list")))
	}
	return strings.Join(parts, "; ")
}

// wish is a sentence that says how something is to be done.
var (
	wish   = texts.Regexp(`^(?i:prefer|always|never|don't|don’t|do not|avoid|use)\s+\S`)
	strong = texts.Regexp(`^(?i:prefer|always|never)\b`)
	ends   = texts.Regexp(`[.!?](?:\s|$)`)
)

// sentences calls f for the sentences of a text, outside of code blocks and of what is quoted, until f
// returns false.
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

// sentence returns the first sentence of a text that reads like a rule, "" for none.
func sentence(text string) (found string) {
	sentences(text, func(one string) bool {
		if wish().MatchString(one) && utf8.RuneCountInString(one) <= MaxText {
			found = one
		}
		return found == ""
	})
	return found
}

// wishes returns the sentences of a prompt that may be rules. A long prompt has none: most of it is
// pasted.
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

// candidate is a rule that may be learned.
type candidate struct {
	draft   Draft
	sources []Record
}

// Distill makes rules of what was observed since it did so last, if that are three records or more. What
// the person said or did holds at once; what output claims is proposed. The same records make the same
// rules, each record once.
func (s *Store) Distill(ctx context.Context) (Learned, error) {
	if s.o.Dir == "" || s.ended() != nil || s.mayWrite() != nil {
		return Learned{}, nil
	}
	o := observed{s.o.Dir}
	if all, _, err := o.read(neededForDistilling); err != nil || len(fresh(all)) < leastNew {
		return Learned{}, err
	}
	var learned Learned
	var undone []Record // that become used
	c, err := s.change(ctx, func(w *writing) error {
		all, _, err := o.read(neededForDistilling) // again, under the lock
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
		took, err := w.learn(f, candidates(news))
		if err != nil {
			return err
		}
		proposed, looked := s.claimed(w, all, news)
		learned.Proposed = len(proposed)
		undone = proposed
		if ids := append(took, looked...); len(ids) > 0 {
			undone = append(undone, Record{Kind: used, Time: s.o.Now().UTC(), Session: s.o.Session, IDs: ids})
		}
		w.after = func() error { return o.append(undone...) }
		return nil
	})
	learned.Entries, learned.by = c.Entries, s.commands()
	return learned, err
}

// fresh returns the records that were not used yet.
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
		return done[r.ID] || r.Kind != correction && r.Kind != said && (r.Kind != observation || !slices.Contains(r.Tags, claims)) || r.Kind == correction && r.Corrected == nil
	})
}

// candidates returns the rules that the person's own records make, those with most support first.
func candidates(news []Record) (all []candidate) {
	groups := make(map[string][]Record)
	var order []string
	for _, r := range news {
		key := ""
		switch r.Kind {
		case correction:
			key = "c " + limitOf(r.Target) + " " + r.Context
		case said:
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

// limitOf returns the target to which a rule learned there is limited: all but this machine.
func limitOf(target string) string {
	name, _, _ := strings.Cut(target, " (")
	if name == "local" || strings.ContainsAny(name, ", *?[{") {
		return ""
	}
	return name
}

// candidateOf returns the rule of records of the same, if they make one: once is enough for a wish that
// says always, never or prefer, and for a denial whose reason is a wish.
func candidateOf(same []Record) (c candidate, ok bool) {
	last := same[len(same)-1]
	c.sources = same
	switch last.Kind {
	case said:
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

// usual returns the correction of several that says what most of them say, of these the newest.
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

// correctionText returns a correction as a rule, "" for an edited call that reads as it did: what was changed
// is not said of it.
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

// code returns a text for between backticks, short.
func code(s string) string { return texts.Clip(strings.ReplaceAll(s, "`", "'"), 80) }

// sentenceOf returns a text as a sentence.
func sentenceOf(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimRight(texts.Clip(s[size:], MaxText-2), ".!") + "."
}

// learn puts candidates into a file, whose learned rules are the best supported then. It returns the ids
// of the records that it used.
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

// leastLearned returns the line of the learned rule with the least support, the oldest of these, -1 as
// long as there is room.
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

// claimed returns proposals for what output claims, and the ids of the records that were looked at. What
// tries to give the model orders is not even proposed.
func (s *Store) claimed(w *writing, all, news []Record) (proposed []Record, looked []string) {
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
		looked = append(looked, r.ID)
		if known[normal(r.Text)] || !innocent(r.Text) || w.says(r.Text) {
			continue
		}
		known[normal(r.Text)] = true
		p := s.proposal(Draft{Text: sentenceOf(r.Text), Target: limitOf(r.Target)}, r.Source)
		p.From = []string{r.ID}
		proposed = append(proposed, p)
	}
	return proposed, looked
}

// says reports whether a file has an entry with a text.
func (w *writing) says(text string) bool {
	return slices.ContainsFunc(w.files, func(f *file) bool {
		return slices.ContainsFunc(f.doc.lines, func(l line) bool { return l.entry != nil && normal(l.entry.Text) == normal(text) })
	})
}
