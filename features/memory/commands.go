package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
	"buddy/views/markup"
)

var memoryCommand = feature.Command{
	Command: slash.Command{
		Name: "memory", Args: "[why ID|edit ID TEXT|keep ID|share ID|forget ID|accept ID|reject ID|undo|off]", Brief: "what you taught buddy",
		Help: "list what you taught buddy (rules, corrections, facts) with sources, and proposals to accept; undo the latest change; switch memory off for this session",
	},
	Run: feature.Verbs(
		"memory",
		verb{Name: "list", Run: onMemory(listEntries)},
		verb{Name: "why", Args: "ID", Run: onMemory(whyEntry)},
		verb{Name: "add", Args: "[--scope folder|person|team] [--kind rule|correction|fact] [--paths GLOBS] [--target NAME] TEXT", Run: onMemory(addEntry)},
		verb{Name: "edit", Args: "ID TEXT", Run: onEntry((*Store).Edit, "now: ")},
		verb{Name: "keep", Args: "ID", Run: onEntry(withoutText((*Store).Confirm), "confirmed today: ")},
		verb{Name: "share", Args: "ID", Run: onEntry(withoutText((*Store).Share), "shared with the team: ")},
		verb{Name: "forget", Args: "ID", Run: onEntry(withoutText((*Store).Forget), "")},
		verb{Name: "accept", Args: "ID [TEXT]", Run: onEntry((*Store).Accept, "remembered: ")},
		verb{Name: "reject", Args: "ID", Run: onMemory(rejectProposal)},
		verb{Name: "undo", Run: onMemory(undoLast)},
		verb{Name: "off", Run: onMemory(switchOff)},
	),
}

var rememberCommand = feature.Command{
	Command: slash.Command{
		Name: "remember", Args: "[--scope folder|person|team] [--kind KIND] [--paths GLOBS] [--target NAME] TEXT", Brief: "keep a rule for later sessions",
		Help: "keep a rule for later sessions: in this folder, for you everywhere, or for the team; if you want, only for some files or a target",
	},
	Run: func(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
		return memoryCommand.Run(ctx, a, append([]string{"add"}, args...))
	},
}

type verb = feature.Verb[feature.Asked]

// answerTime limits how long a command takes, because a target's files can be slow to read.
const answerTime = 15 * time.Second

// onMemory passes the memory of the session to a command, or the folder's memory if no session runs.
func onMemory(do func(context.Context, *Store, []string) (show.Answer, error)) func(context.Context, feature.Asked, []string) (show.Answer, error) {
	return func(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
		p, ok := a.Part.(Part)
		if !ok {
			here, err := a.Here()
			if err != nil {
				return show.Answer{}, err
			}
			p.Store = memoryOf(here)
		}
		if err := p.ended(); errors.Is(err, errDisabled) {
			return show.Answer{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		return do(ctx, p.Store, args)
	}
}

// onEntry turns a method that changes one entry into a command, which passes the text after the id to the method.
func onEntry(change func(*Store, context.Context, string, string) (Change, error), label string) func(context.Context, feature.Asked, []string) (show.Answer, error) {
	return onMemory(func(ctx context.Context, store *Store, args []string) (show.Answer, error) {
		c, err := change(store, ctx, args[0], joined(args[1:]))
		return changed(label, c), err
	})
}

// withoutText adapts a change that takes no text.
func withoutText(change func(*Store, context.Context, string) (Change, error)) func(*Store, context.Context, string, string) (Change, error) {
	return func(store *Store, ctx context.Context, id, text string) (Change, error) {
		if text != "" {
			return Change{}, fmt.Errorf("nothing may follow the ID: remove %q", text)
		}
		return change(store, ctx, id)
	}
}

// changed lists the changed and forgotten entries, then the diff of the files.
func changed(label string, c Change) show.Answer {
	var lines []string
	for _, e := range c.Entries {
		lines = append(lines, label+markup.Inline(e.Text)+" ("+e.ID+", "+e.Scope.Where()+")")
	}
	for _, e := range c.Gone {
		if !slices.ContainsFunc(c.Entries, func(now Entry) bool { return now.ID == e.ID }) {
			lines = append(lines, "forgotten: "+markup.Inline(e.Text)+" ("+e.ID+")")
		}
	}
	if c.Diff == "" {
		lines = append(lines, "no file needed a change")
	} else {
		lines = append(lines, strings.TrimRight(c.Diff, "\n"))
	}
	return show.Say(strings.Join(lines, "\n"))
}

// remembered is a row of the list: an entry or a proposal.
type remembered struct {
	id, kind, text string
	scope          Scope
	state          string // why it does not hold, or "proposed"; "" for an entry that simply holds
	limits         string // the files or the target that the entry holds for
	source         string // who proposes it
	place, note    string // file and line, and its comment; "" for a proposal
	from           []string
	proposed       bool
}

// rememberedIn returns proposals, then entries, and one line about skipped parts of files.
func rememberedIn(ctx context.Context, store *Store) (all []remembered, skipped string, err error) {
	proposals, err := store.Proposals(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, p := range proposals {
		all = append(all, remembered{
			id: p.ID, kind: string(p.Draft.Kind), scope: p.Draft.Scope, text: p.Draft.Text, state: "proposed",
			limits: limitsOf(p.Draft.Paths, p.Draft.Target), source: p.Source, from: p.From, proposed: true,
		})
	}
	listing, err := store.Entries(ctx)
	for _, e := range listing.Entries {
		all = append(all, remembered{
			id: e.ID, kind: string(e.Kind), scope: e.Scope, text: e.Text, state: whyNot(e),
			limits: limitsOf(e.Note.Paths(), e.Note.Target()), place: fmt.Sprintf("%s:%d", e.File, e.Line), note: e.Note.String(), from: e.Note.Sources(),
		})
	}
	return all, listing.Skipped(), err
}

// whyNot describes why an entry does not hold or needs attention, or returns "".
func whyNot(e Entry) string {
	switch {
	case e.Overridden != "":
		return "not in effect: " + e.Overridden + " says the opposite"
	case e.Opposed != "":
		return "sent to the model with " + e.Opposed + ", which says the opposite"
	case e.Asked:
		return "nothing has confirmed it for 180 days: keep or forget it"
	case e.Sinking:
		return "sent to the model last, because nothing has confirmed it for 90 days"
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

// listEntries lists proposals, then entries.
func listEntries(ctx context.Context, store *Store, _ []string) (show.Answer, error) {
	all, skipped, err := rememberedIn(ctx, store)
	if err != nil && len(all) == 0 {
		return show.Answer{}, err
	}
	if err != nil {
		skipped = err.Error()
	}
	var ids []string
	for _, e := range all {
		ids = append(ids, e.from...)
	}
	records, err := store.Records(ids)
	list := show.List{
		Title: "Memory", Columns: []string{"text", "kind", "scope", "state"}, Note: skipped,
		Empty: "memory is empty: /remember TEXT or a denial with a reason adds an entry",
		Usage: "why, edit, keep, share and forget take an entry's ID; accept and reject take a proposal's ID",
	}
	for _, e := range all {
		list.Rows = append(list.Rows, e.row(records))
	}
	return show.Answer{List: &list}, err
}

// Texts and states with more bytes than this are cut in the list on a small screen; their row repeats them in full.
const (
	shortText  = 30
	shortState = 12
)

// scopeWords names the scopes in the list.
var scopeWords = map[Scope]string{Folder: "this folder", Person: "you", Team: "the team"}

// row returns the list row with its actions.
func (e remembered) row(records map[string]Record) show.Row {
	r := show.Row{
		ID: e.id, Cells: []string{e.text, e.kind, scopeWords[e.scope], cmp.Or(e.state, e.limits)},
		Mark: e.proposed, More: e.why(records), Whole: e.proposed,
	}
	if len(e.text) > shortText || len(e.state) > shortState {
		r.Line = strings.TrimSuffix(e.text+" · "+e.state, " · ")
	}
	if e.proposed {
		r.Title = "Proposed: " + e.text
	}
	do := func(label, verb string) show.Deed {
		return show.Deed{Label: label, Run: []string{"memory", verb, e.id}}
	}
	edit := func(d show.Deed) show.Deed { d.Edit = e.text; return d }
	switch {
	case e.proposed:
		r.Deeds = []show.Deed{do("accept it: it applies from now on", "accept"), edit(do("accept it with another text", "accept")), do("reject it for good", "reject")}
	case e.scope == Team:
		r.Deeds = []show.Deed{edit(do("edit it", "edit")), do("keep it: it is still right", "keep"), do("forget it", "forget")}
	default:
		r.Deeds = []show.Deed{edit(do("edit it", "edit")), do("keep it: it is still right", "keep"), do("share it with the team, in .buddy/memory.md", "share"), do("forget it", "forget")}
	}
	return r
}

// why returns lines about the entry and the records it was learned from.
func (e remembered) why(records map[string]Record) []string {
	lines := []string{e.id + "  " + e.kind + "  " + e.scope.Where()}
	for _, more := range []string{e.text, e.limits, e.state, e.source, e.place, e.note} {
		if more != "" {
			lines = append(lines, "  "+more)
		}
	}
	var missing []string
	for _, id := range e.from {
		if r, ok := records[id]; ok {
			lines = append(lines, "  "+recordLine(r))
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		lines = append(lines, "  sources that are not on this machine any more: "+strings.Join(missing, ", "))
	}
	if e.note == "" && !e.proposed {
		lines = append(lines, "  written by hand")
	}
	return lines
}

// whyEntry answers /memory why.
func whyEntry(ctx context.Context, store *Store, args []string) (show.Answer, error) {
	id := joined(args)
	all, _, err := rememberedIn(ctx, store)
	i := slices.IndexFunc(all, func(e remembered) bool { return e.id == id })
	if i < 0 {
		return show.Answer{}, cmp.Or(err, fmt.Errorf("memory has no entry %q (/memory lists them)", id))
	}
	records, err := store.Records(all[i].from)
	return show.Say(strings.Join(all[i].why(records), "\n")), err
}

// recordLine describes a record in one line, with its session and call.
func recordLine(r Record) string {
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

// addEntry writes an entry in the person's name.
func addEntry(ctx context.Context, store *Store, args []string) (show.Answer, error) {
	d, err := readDraft(args)
	if err != nil {
		return show.Answer{}, err
	}
	d.Note = append(d.Note, "by:user")
	c, err := store.Add(ctx, d)
	return changed("remembered: ", c), err
}

// readDraft parses the options before the text of an entry.
func readDraft(args []string) (d Draft, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		name, value, ok := strings.Cut(args[0], "=")
		if args = args[1:]; !ok && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		if value == "" {
			return d, fmt.Errorf("%s needs a value", name)
		}
		switch name {
		case "--scope":
			d.Scope = Scope(value)
		case "--kind":
			d.Kind = Kind(value)
		case "--paths":
			d.Paths = strings.Split(value, ",")
		case "--target":
			d.Target = value
		default:
			return d, fmt.Errorf("%s is not known (have: --scope, --kind, --paths, --target)", name)
		}
	}
	d.Text = joined(args)
	return d, nil
}

func rejectProposal(ctx context.Context, store *Store, args []string) (show.Answer, error) {
	id := joined(args)
	return show.Say("rejected for good: " + id), store.Reject(ctx, id)
}

func undoLast(ctx context.Context, store *Store, _ []string) (show.Answer, error) {
	c, err := store.Undo(ctx)
	return changed("again: ", c), err
}

func switchOff(_ context.Context, store *Store, _ []string) (show.Answer, error) {
	store.Off()
	return show.Say("memory is off in this session: buddy records, learns and sends nothing more; [memory] enabled = false (buddy memory off) turns it off for good"), nil
}

func joined(args []string) string { return strings.TrimSpace(strings.Join(args, " ")) }
