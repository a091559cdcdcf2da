package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/memory"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// MemoryList is the memory of a session or of a folder, for people.
type MemoryList struct{ store *memory.Store }

// NewMemoryList returns the list of a memory, nil for none.
func NewMemoryList(m *memory.Store) MemoryList { return MemoryList{m} }

// errNoMemory says why there is no memory.
var errNoMemory = errors.New("memory is off: [memory] enabled is false (buddy memory on, for the sessions to come)")

// memoryTime limits how long a verb takes: files of a target may be far away.
const memoryTime = 15 * time.Second

// memoryVerbs lists what can follow /memory, in the order of its help.
var memoryVerbs = []struct {
	name, args string
	do         func(MemoryList, context.Context, string) (string, error)
}{
	{"list", "", MemoryList.list},
	{"why", "ID", MemoryList.why},
	{"add", "[--scope folder|person|team] [--kind rule|correction|fact] [--paths GLOBS] [--target NAME] TEXT", MemoryList.add},
	{"edit", "ID TEXT", MemoryList.edit},
	{"keep", "ID", onEntry((*memory.Store).Confirm, "confirmed today: ")},
	{"share", "ID", onEntry((*memory.Store).Share, "shared with the team: ")},
	{"forget", "ID", onEntry((*memory.Store).Forget, "")},
	{"accept", "ID [TEXT]", MemoryList.accept},
	{"reject", "ID", MemoryList.reject},
	{"undo", "", MemoryList.undo},
	{"off", "", MemoryList.off},
}

// Do obeys what follows /memory or `buddy memory`, and returns what there is to say.
func (l MemoryList) Do(args string) (string, error) {
	if l.store == nil {
		return "", errNoMemory
	}
	ctx, cancel := context.WithTimeout(context.Background(), memoryTime)
	defer cancel()
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	var names []string
	for _, v := range memoryVerbs {
		if names = append(names, v.name); v.name != strings.ToLower(cmp.Or(verb, "list")) {
			continue
		}
		switch {
		case rest == "" && v.args != "":
			return "", fmt.Errorf("memory %s needs %s", v.name, v.args)
		case rest != "" && v.args == "":
			return "", fmt.Errorf("memory %s takes nothing more, such as %q", v.name, rest)
		}
		return v.do(l, ctx, rest)
	}
	return "", fmt.Errorf("%q is not known (have: %s)", verb, strings.Join(names, ", "))
}

// onEntry makes a verb of a change of one entry.
func onEntry(change func(*memory.Store, context.Context, string) (memory.Change, error), says string) func(MemoryList, context.Context, string) (string, error) {
	return func(l MemoryList, ctx context.Context, id string) (string, error) {
		c, err := change(l.store, ctx, id)
		return changed(says, c), err
	}
}

// changed says what a change did, with the difference that it made in files.
func changed(says string, c memory.Change) string {
	var lines []string
	for _, e := range c.Entries {
		lines = append(lines, says+markup.Inline(e.Text)+" ("+e.ID+", "+e.Scope.Where()+")")
	}
	for _, e := range c.Gone {
		if !slices.ContainsFunc(c.Entries, func(now memory.Entry) bool { return now.ID == e.ID }) {
			lines = append(lines, "forgotten: "+markup.Inline(e.Text)+" ("+e.ID+")")
		}
	}
	if c.Diff == "" {
		return strings.Join(append(lines, "no file had to change"), "\n")
	}
	return strings.Join(append(lines, markup.Plain(strings.TrimRight(c.Diff, "\n"))), "\n")
}

// Catalog returns the list as slash commands have it.
func (l MemoryList) Catalog() slash.MemoryList {
	return slash.MemoryList{Do: l.Do, List: func() ([]slash.Remembered, string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), memoryTime)
		defer cancel()
		return l.Items(ctx)
	}}
}

// Items returns what memory has, proposals first, and in a line what was skipped.
func (l MemoryList) Items(ctx context.Context) (all []slash.Remembered, skipped string, err error) {
	if l.store == nil {
		return nil, "", errNoMemory
	}
	proposals, err := l.store.Proposals(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, p := range proposals {
		all = append(all, slash.Remembered{
			ID: p.ID, Kind: string(p.Draft.Kind), Scope: string(p.Draft.Scope), Text: p.Draft.Text, State: "proposed",
			Limits: limitsOf(p.Draft.Paths, p.Draft.Target), Source: p.Source, Proposed: true,
		})
	}
	listing, err := l.store.Entries(ctx)
	for _, e := range listing.Entries {
		all = append(all, slash.Remembered{
			ID: e.ID, Kind: string(e.Kind), Scope: string(e.Scope), Text: e.Text, State: whyNot(e),
			Limits: limitsOf(e.Note.Paths(), e.Note.Target()), File: fmt.Sprintf("%s:%d", e.File, e.Line), Note: e.Note.String(),
		})
	}
	return all, listing.Skipped(), err
}

// whyNot says why an entry does not just hold, "" where it does.
func whyNot(e memory.Entry) string {
	switch {
	case e.Overridden != "":
		return "does not hold: " + e.Overridden + " says the opposite"
	case e.Opposed != "":
		return "told with " + e.Opposed + ", which says the opposite"
	case e.Asked:
		return "nothing confirmed it for 180 days: keep or forget it"
	case e.Sinking:
		return "told last: nothing confirmed it for 90 days"
	}
	return ""
}

func limitsOf(paths []string, target string) string {
	var all []string
	if len(paths) > 0 {
		all = append(all, "for "+strings.Join(paths, ", "))
	}
	if target != "" {
		all = append(all, "on "+target)
	}
	return strings.Join(all, ", ")
}

// list returns all of it in lines, what is to be decided first.
func (l MemoryList) list(ctx context.Context, _ string) (string, error) {
	all, skipped, err := l.Items(ctx)
	var lines []string
	head := ""
	for _, e := range all {
		under := memory.Scope(e.Scope).Where() + ":"
		if e.Proposed {
			under = "proposed, for you to accept or reject:"
		}
		if under != head {
			head = under
			lines = append(lines, under)
		}
		text := fmt.Sprintf("  %s  %s  %s", e.ID, e.Kind, markup.Inline(e.Text))
		for _, more := range []string{e.Limits, e.State, e.Source} {
			if more != "" && more != "proposed" {
				text += "  · " + markup.Inline(more)
			}
		}
		lines = append(lines, text)
	}
	if len(all) == 0 && err == nil {
		lines = append(lines, "memory is empty: /remember TEXT writes into it, and a denial with a reason teaches it")
	}
	if skipped != "" {
		lines = append(lines, markup.Inline(skipped))
	}
	if len(all) > 0 {
		lines = append(lines, "why, edit, keep, share, forget take an ID; accept and reject that of a proposal")
	}
	return strings.Join(lines, "\n"), err
}

// why says where an entry or a proposal comes from.
func (l MemoryList) why(ctx context.Context, id string) (string, error) {
	why, err := l.store.Why(ctx, id)
	if err != nil {
		return "", err
	}
	all, _, err := l.Items(ctx)
	i := slices.IndexFunc(all, func(e slash.Remembered) bool { return e.ID == id })
	if i < 0 { // it went meanwhile
		return "", cmp.Or(err, fmt.Errorf("memory has no entry %q any more", id))
	}
	e := all[i]
	lines := []string{e.ID + "  " + e.Kind + "  " + memory.Scope(e.Scope).Where()}
	for _, more := range []string{e.Text, e.Limits, e.State, e.Source, e.File, e.Note} {
		if more != "" {
			lines = append(lines, "  "+more)
		}
	}
	for _, r := range why.Records {
		lines = append(lines, "  "+recordLine(r))
	}
	if len(why.Missing) > 0 {
		lines = append(lines, "  sources that are not on this machine any more: "+strings.Join(why.Missing, ", "))
	}
	if e.Note == "" && !e.Proposed {
		lines = append(lines, "  written by hand")
	}
	return markup.Plain(strings.Join(lines, "\n")), nil
}

// recordLine describes what an entry was learned from, with the session and the call.
func recordLine(r memory.Record) string {
	text := r.Time.Local().Format("2006-01-02 15:04") + "  " + r.Source
	switch c := r.Corrected; {
	case c != nil && c.Corrected == "":
		text += "  " + texts.OneLine(c.Original)
	case c != nil:
		text += "  " + texts.OneLine(c.Original) + " → " + texts.OneLine(c.Corrected)
	default:
		text += "  " + texts.OneLine(r.Text)
	}
	text += "  session " + r.Session
	if r.Call != "" {
		text += ", call " + r.Call
	}
	return text
}

// add writes an entry of the person's.
func (l MemoryList) add(ctx context.Context, args string) (string, error) {
	d, err := readDraft(args)
	if err != nil {
		return "", err
	}
	return l.Add(ctx, d)
}

// Add writes an entry of the person's.
func (l MemoryList) Add(ctx context.Context, d memory.Draft) (string, error) {
	if l.store == nil {
		return "", errNoMemory
	}
	d.Note = append(d.Note, "by:user")
	c, err := l.store.Add(ctx, d)
	return changed("remembered: ", c), err
}

// readDraft reads the options before the text of an entry.
func readDraft(args string) (d memory.Draft, err error) {
	for strings.HasPrefix(args, "--") {
		var option, value string
		option, args, _ = strings.Cut(args, " ")
		name, value, ok := strings.Cut(option, "=")
		if args = strings.TrimSpace(args); !ok {
			value, args, _ = strings.Cut(args, " ")
			args = strings.TrimSpace(args)
		}
		if value == "" {
			return d, fmt.Errorf("%s needs a value", name)
		}
		switch name {
		case "--scope":
			d.Scope = memory.Scope(value)
		case "--kind":
			d.Kind = memory.Kind(value)
		case "--paths":
			d.Paths = strings.Split(value, ",")
		case "--target":
			d.Target = value
		default:
			return d, fmt.Errorf("%s is not known (have: --scope, --kind, --paths, --target)", name)
		}
	}
	d.Text = args
	return d, nil
}

func (l MemoryList) edit(ctx context.Context, args string) (string, error) {
	id, text, _ := strings.Cut(args, " ")
	c, err := l.store.Edit(ctx, id, text)
	return changed("now: ", c), err
}

func (l MemoryList) accept(ctx context.Context, args string) (string, error) {
	id, text, _ := strings.Cut(args, " ")
	c, err := l.store.Accept(ctx, id, strings.TrimSpace(text))
	return changed("remembered: ", c), err
}

func (l MemoryList) reject(ctx context.Context, id string) (string, error) {
	return "rejected for good: " + id, l.store.Reject(ctx, id)
}

func (l MemoryList) undo(ctx context.Context, _ string) (string, error) {
	c, err := l.store.Undo(ctx)
	return changed("again: ", c), err
}

func (l MemoryList) off(context.Context, string) (string, error) {
	l.store.Off()
	return "memory is off in this session: nothing more of it is noted, learned or told; [memory] enabled = false (buddy memory off) ends it for good", nil
}
