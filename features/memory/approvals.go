package memory

import (
	"context"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// Asked returns what the person who is asked about an action should know of memory, and where the reason
// of a denial can be remembered: nowhere in mode plan or when memory is off. It reads no file.
func (s *Store) Asked(act action.Action) (m action.Memory) {
	for _, e := range s.About(act) {
		text := e.Text + " (" + e.ID + ")"
		if e.Scope == Person {
			m.Said = append(m.Said, text)
		} else { // a file in the project may have come with a clone
			m.Noted = append(m.Noted, e.Scope.Where()+": "+text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off != nil || s.mode == action.ModePlan || len(s.writable) == 0 {
		return m
	}
	for _, scope := range s.writable {
		m.Scopes = append(m.Scopes, string(scope))
	}
	m.Begins, m.Only = begins(s.clean, act), limitOf(act.Target)
	return m
}

// begins returns how a correction begins that a denial of an action teaches, without secrets.
func begins(clean cleaner, act action.Action) string {
	c := call{name: act.Tool, act: act}
	r := Record{Kind: correction, Source: "denied:" + act.Tool, Corrected: &Corrected{Original: c.what(), Context: c.context()}}
	clean.record(&r) // before anything else is cut
	return deniedText(r)
}

// deniedText returns how the text of a correction begins that came from a denial.
func deniedText(r Record) string { return "Not `" + code(r.wrong()) + "`: " }

// wrong returns what the person did not want: the words that corrections of the same have in common, or
// what was done with a file.
func (r Record) wrong() string {
	_, name, _ := strings.Cut(r.Source, ":")
	if strings.HasPrefix(r.Original, name+" ") {
		return r.Original
	}
	return strings.TrimPrefix(r.Context, name+": ")
}

// Denied is a call that the person denied.
type Denied struct {
	Call   string // its id
	Action action.Action
	Reason string
}

// Remember keeps the reason of a denial as a correction: what the dialog showed, with the session and the
// call for [Store.Why].
func (s *Store) Remember(ctx context.Context, scope Scope, d Denied) (Change, error) {
	act := d.Action
	said := s.clean.text(d.Reason) // before it is cut
	original := s.clean.line(call{name: act.Tool, act: act}.what())
	draft := Draft{
		Scope: scope, Kind: Correction, Text: action.Taught(begins(s.clean, act), said), Target: limitOf(act.Target),
		Note: Note{"denied:" + act.Tool, `"` + strings.ReplaceAll(original, `"`, "'") + `"`},
	}
	if s.o.Session != "" {
		draft.Note = append(draft.Note, "session:"+s.o.Session)
	}
	if d.Call != "" {
		draft.Note = append(draft.Note, "call:"+d.Call)
	}
	return s.Add(ctx, draft)
}

// writable returns the scopes of files that can be written here, the narrowest first; the team's last, because
// others read it.
func writable(sources []Source) (all []Scope) {
	for _, scope := range []Scope{Folder, Person, Team} {
		if slices.ContainsFunc(sources, func(src Source) bool { return src.Scope == scope && src.Remote == "" }) {
			all = append(all, scope)
		}
	}
	return all
}

// Where says for whom an entry holds, for people.
func (s Scope) Where() string { return action.ScopeText(string(s)) }

// Kept says in one line where the reason of a denial was remembered, and what takes that back.
func (s *Store) Kept(scope Scope, c Change) string {
	return "remembered " + scope.Where() + ": " + c.Text() + " (" + s.commands().undo(c.Entries) + ")"
}

// Waits says in one line that a proposal waits for the person.
func (s *Store) Waits(p Proposal) string {
	return "proposed for memory: " + p.Draft.Text + " (" + s.commands().does("accept "+p.ID) + ", or reject)"
}

// commands says how a person obeys what is said of memory: at the prompt, or in a shell where there is none.
type commands struct{ prompt bool }

func (s *Store) commands() commands { return commands{s.o.Person} }

func (c commands) does(what string) string {
	if c.prompt {
		return "/memory " + what
	}
	return "buddy memory " + what
}

func (c commands) undo(all []Entry) string {
	if c.prompt {
		return c.does("undo")
	}
	return c.does("forget " + texts.Join(all, ", ", func(e Entry) string { return e.ID }))
}
