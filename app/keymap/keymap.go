// Package keymap holds the table of key bindings: which action each key runs, and in which part of the screen.
// Nothing else in the program compares keys; the footer, the help screen, the settings and docs/keys.md use the
// table, too.
//
//	m := keymap.Default()
//	p := m.Lookup(ev, view.Scope().Chain()...)
//	view.Press(p)
//
// The screen looks up each key once, and passes the resulting [Press] to the focused view.
package keymap

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gdamore/tcell/v2"
)

// Scope names a place where keys apply: the focused pane, or an overlay.
type Scope string

// The scopes. Popup and Search lie over the prompt, Finding and Selecting over the conversation, Typing over the panes,
// Reason and Amend over the approval, and Picker and all scopes after it over everything. While visible, these get keys
// first.
const (
	Global       Scope = "global"
	Prompt       Scope = "prompt"
	Popup        Scope = "popup"  // completion of commands and files
	Vi           Scope = "vi"     // the prompt's normal mode with [ui] editor = "vi"
	Search       Scope = "search" // of the prompt's history
	Conversation Scope = "conversation"
	Finding      Scope = "finding" // typing a search text in the conversation
	Selecting    Scope = "selecting"
	Panes        Scope = "panes"
	Typing       Scope = "typing" // into a terminal pane
	Tasks        Scope = "tasks"
	Approval     Scope = "approval"
	Question     Scope = "question" // a question from the model
	Reason       Scope = "reason"   // the reason for denying an approval
	Amend        Scope = "amend"    // editing the command or the file text
	Secret       Scope = "secret"   // typing a key unseen
	Confirm      Scope = "confirm"  // a question before something irreversible
	Leaving      Scope = "leaving"  // asking what to do with running commands
	Asking       Scope = "asking"   // a question for one line
	Pager        Scope = "pager"    // a whole output
	Help         Scope = "help"
	Picker       Scope = "picker"    // choosing from a list that typing filters
	Sessions     Scope = "sessions"  // the list of sessions, while no filter is typed
	Board        Scope = "dashboard" // the list of live sessions, while no filter is typed
	Document     Scope = "document"  // the dialog with status, context and settings
	Naming       Scope = "naming"    // typing a name for the selected row
	Changes      Scope = "changes"   // the dialog with all changes of the agent
)

// scopes lists every scope with its title, in the order of the documentation.
var scopes = []struct {
	scope Scope
	title string
}{
	{Global, "Everywhere"},
	{Prompt, "Prompt"},
	{Popup, "Prompt: while a completion list is open"},
	{Vi, "Prompt: normal mode, with editor = \"vi\""},
	{Search, "Prompt: while searching the history"},
	{Conversation, "Conversation"},
	{Finding, "While typing a search"},
	{Selecting, "Conversation: while text is selected"},
	{Panes, "Live"},
	{Typing, "Live: while typing into a pane (all other keys go to it)"},
	{Tasks, "Tasks"},
	{Approval, "Approval"},
	{Question, "A question from the model"},
	{Reason, "Approval: while giving a reason"},
	{Secret, "While entering a secret key"},
	{Amend, "Approval: while editing the command"},
	{Confirm, "A question"},
	{Leaving, "Quitting while commands run"},
	{Asking, "While entering a line of text"},
	{Pager, "A whole output"},
	{Help, "Help"},
	{Picker, "Lists to choose from"},
	{Sessions, "Sessions: in the list"},
	{Board, "Dashboard: in the list"},
	{Document, "Status, context and settings"},
	{Naming, "Sessions: while typing a title"},
	{Changes, "Changes"},
}

// Scopes lists every scope in the order of the documentation.
func Scopes() []Scope {
	all := make([]Scope, len(scopes))
	for i, s := range scopes {
		all[i] = s.scope
	}
	return all
}

// Title returns the scope's name for the user.
func (s Scope) Title() string {
	for _, known := range scopes {
		if known.scope == s {
			return known.title
		}
	}
	return string(s)
}

// Chain returns the scopes in which a key is looked up while this scope has the keys, this scope first.
func (s Scope) Chain() []Scope {
	switch s {
	case Popup, Vi, Search:
		return []Scope{s, Prompt, Global}
	case Typing: // all others go to the pane
		return []Scope{s}
	}
	return []Scope{s, Global}
}

// shadows reports whether a scope may bind keys that have another meaning in Global. It may if it is visible only for a
// while and gets keys first.
func (s Scope) shadows() bool {
	switch s {
	case Popup, Vi, Search, Finding, Selecting, Reason, Amend, Secret, Typing, Confirm, Leaving, Asking, Picker, Sessions, Board, Document, Naming:
		return true
	}
	return false
}

// types reports whether plain characters are text in a scope and so cannot be bound.
func (s Scope) types() bool {
	switch s {
	case Global, Prompt, Popup, Search, Finding, Reason, Amend, Secret, Typing, Asking, Picker, Document, Naming:
		return true
	}
	return false
}

// Action is something that a key can do. Its text is its id in the configuration.
type Action string

// Entry is a row of the table.
type Entry struct {
	Action Action
	Scopes []Scope
	Keys   []Key
	Label  string // one or two words for the footer; "" = not in the footer
	Help   string // for the help screen and the documentation
}

// Map is a table with its index. Only one goroutine may use it while Rebind or Take runs; otherwise it is read-only.
type Map struct {
	entries []Entry
	index   map[Scope]map[Key]Action
}

// Default returns the built-in table.
func Default() *Map {
	m := &Map{entries: defaults()}
	index, err := indexOf(m.entries)
	if err != nil {
		panic(err) // a test checks the built-in table
	}
	m.index = index
	return m
}

// Press describes what a key does in the scopes that were passed to [Map.Lookup].
type Press struct {
	Scope  Scope  // the first scope that binds the key; "" if none does
	Action Action // its action there; "" if no scope binds the key
	Text   string // the character that the key types, bound or not; "" for none
	Event  *tcell.EventKey
}

// Bound reports whether a scope binds the key.
func (p Press) Bound() bool { return p.Scope != "" }

// Types reports whether the key types a character that no scope binds.
func (p Press) Types() bool { return p.Scope == "" && p.Text != "" }

// Lookup returns the meaning of a key: its action in the first scope that binds it, and its character.
func (m *Map) Lookup(ev *tcell.EventKey, scopes ...Scope) Press {
	key := Of(ev)
	p := Press{Text: key.text(), Event: ev}
	for _, s := range scopes {
		if a, ok := m.index[s][key]; ok {
			p.Scope, p.Action = s, a
			break
		}
	}
	return p
}

// In yields the rows that apply in a scope, in the order of the table.
func (m *Map) In(scope Scope) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range m.entries {
			if e := &m.entries[i]; slices.Contains(e.Scopes, scope) && !yield(*e) {
				return
			}
		}
	}
}

// Keys returns an action's keys, best known first; none if the action is unbound or unknown.
func (m *Map) Keys(a Action) []Key {
	for _, e := range m.entries {
		if e.Action == a {
			return e.Keys
		}
	}
	return nil
}

// Name returns the name of an action's first key, or "" if it has none.
func (m *Map) Name(a Action) string {
	if keys := m.Keys(a); len(keys) > 0 {
		return keys[0].String()
	}
	return ""
}

// conflict is the error that one key has two actions in one scope.
type conflict struct {
	key   Key
	scope Scope
	a, b  Action
}

func (c *conflict) Error() string {
	return fmt.Sprintf("key %s is both %s and %s in scope %s", c.key, c.a, c.b, c.scope)
}

// indexOf builds the index and finds keys that two overlapping scopes share.
func indexOf(entries []Entry) (map[Scope]map[Key]Action, error) {
	index := make(map[Scope]map[Key]Action, len(scopes))
	for _, s := range scopes {
		index[s.scope] = make(map[Key]Action)
	}
	for _, e := range entries {
		for _, s := range e.Scopes {
			for _, k := range e.Keys {
				if other, taken := index[s][k]; taken && other != e.Action {
					return nil, &conflict{k, s, other, e.Action}
				}
				index[s][k] = e.Action
			}
		}
	}
	for _, s := range scopes {
		if s.scope == Global || s.scope.shadows() {
			continue
		}
		for k, a := range index[s.scope] {
			if g, taken := index[Global][k]; taken && g != a {
				return nil, &conflict{k, s.scope, g, a}
			}
		}
	}
	return index, nil
}
