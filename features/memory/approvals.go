package memory

import (
	"context"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// Asked returns the entries to show with the approval of an action and the scopes in which the reason of a denial can
// be remembered. There are no scopes in plan mode or when memory is off. It reads no file.
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
	m.Begins, m.Only = correctionStart(s.clean, act), limitOf(act.Target)
	return m
}

// correctionStart returns the first words of the correction that a denial of the action would add, without secrets.
func correctionStart(clean cleaner, act action.Action) string {
	c := call{name: act.Tool, act: act}
	r := Record{Kind: correction, Source: "denied:" + act.Tool, Corrected: &Corrected{Original: c.what(), Context: c.context()}}
	clean.record(&r) // before texts are cut, because half a secret is not found
	return deniedText(r)
}

// deniedText returns the first words of a correction that came from a denial.
func deniedText(r Record) string { return "Not `" + code(r.wrong()) + "`: " }

// wrong returns the rejected command or file action: the words that similar corrections share.
func (r Record) wrong() string {
	_, name, _ := strings.Cut(r.Source, ":")
	if strings.HasPrefix(r.Original, name+" ") {
		return r.Original
	}
	return strings.TrimPrefix(r.Context, name+": ")
}

// Denied is a tool call that the person denied.
type Denied struct {
	Call   string // its id
	Action action.Action
	Reason string
}

// Remember stores the reason of a denial as a correction. Its note has the session and the call, for /memory why.
func (s *Store) Remember(ctx context.Context, scope Scope, d Denied) (Change, error) {
	act := d.Action
	reason := s.clean.text(d.Reason) // before it is cut
	original := s.clean.line(call{name: act.Tool, act: act}.what())
	draft := Draft{
		Scope: scope, Kind: Correction, Text: action.Taught(correctionStart(s.clean, act), reason), Target: limitOf(act.Target),
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

// writable returns the scopes whose files are on this machine, narrowest first. Team is last, because others read its
// file.
func writable(sources []Source) (all []Scope) {
	for _, scope := range []Scope{Folder, Person, Team} {
		if slices.ContainsFunc(sources, func(src Source) bool { return src.Scope == scope && src.Remote == "" }) {
			all = append(all, scope)
		}
	}
	return all
}

// Where describes the scope in words for the screen.
func (s Scope) Where() string { return action.ScopeText(string(s)) }

// Kept reports in one line where the reason of a denial was stored, and the command that undoes it.
func (s *Store) Kept(scope Scope, c Change) string {
	return "remembered " + scope.Where() + ": " + c.Text() + " (" + s.commands().undo(c.Entries) + ")"
}

// Waits reports in one line that a proposal needs the person's decision.
func (s *Store) Waits(p Proposal) string {
	return "proposed for memory: " + p.Draft.Text + " (" + s.commands().does("accept "+p.ID) + ", or reject)"
}

// commands spells commands of memory as slash commands, or as shell commands where there is no prompt.
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
