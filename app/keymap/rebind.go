package keymap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gdamore/tcell/v2"

	"buddy/app/fuzzy"
)

// BindError is an error in the settings of an action's keys. Action is the setting's name in the [keys] section, from
// which a caller can find the file and line.
type BindError struct {
	Action string
	Err    error
}

// Error returns the setting's full name and the cause.
func (e *BindError) Error() string { return "keys." + e.Action + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BindError) Unwrap() error { return e.Err }

// Lost is a built-in key that an action has lost because the user bound it to another action.
type Lost struct {
	Key    Key
	Action Action // the action that had the key
	To     Action // the action that has it now
	Left   []Key  // the other keys of Action, after all losses
}

// Rebind sets the keys of actions. bindings maps action ids to key names; an empty list means no keys. If a key is a
// built-in key of another action, that action loses it; Rebind returns these losses, sorted. It is an error to take a
// key from an action that answers approvals, or to bind a key to two actions. On an error, which is a *BindError,
// nothing has changed.
func (m *Map) Rebind(bindings map[string][]string) ([]Lost, error) {
	if len(bindings) == 0 {
		return nil, nil
	}
	entries := slices.Clone(m.entries)
	for _, id := range slices.Sorted(maps.Keys(bindings)) {
		i := entryOf(entries, Action(id))
		if i < 0 {
			return nil, &BindError{id, fmt.Errorf("unknown action %q (nearest: %s)", id, nearest(entries, id))}
		}
		keys, err := parseKeys(entries[i], bindings[id])
		if err != nil {
			return nil, &BindError{id, err}
		}
		entries[i].Keys = keys
	}
	lost, index, err := releaseShared(entries, bindings)
	if err != nil {
		return nil, &BindError{culprit(err, bindings), err}
	}
	m.entries, m.index = entries, index
	return lost, nil
}

// entryOf returns the index of an action in the table, -1 if there is none.
func entryOf(entries []Entry, a Action) int {
	return slices.IndexFunc(entries, func(e Entry) bool { return e.Action == a })
}

// releaseShared removes built-in keys from actions if bindings give them to other actions, and returns the new index.
func releaseShared(entries []Entry, bindings map[string][]string) (lost []Lost, index map[Scope]map[Key]Action, err error) {
	var c *conflict
	for index, err = indexOf(entries); errors.As(err, &c); index, err = indexOf(entries) {
		to := Action(culprit(err, bindings))
		from := c.a
		if to == c.a {
			from = c.b
		}
		e := &entries[entryOf(entries, from)]
		answers := c.scope == Approval || e.Scopes[0] == Approval // actions that answer approvals list Approval first
		if _, asked := bindings[string(from)]; asked || answers {
			return nil, nil, err
		}
		e.Keys = slices.DeleteFunc(slices.Clone(e.Keys), func(k Key) bool { return k == c.key })
		lost = append(lost, Lost{Key: c.key, Action: from, To: to})
	}
	for i := range lost {
		lost[i].Left = entries[entryOf(entries, lost[i].Action)].Keys
	}
	slices.SortFunc(lost, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Key.String(), b.Key.String()))
	})
	return lost, index, err
}

// Take replaces the contents of m with those of other, for all users of m.
func (m *Map) Take(other *Map) { *m = *other }

func parseKeys(e Entry, names []string) ([]Key, error) {
	var keys []Key
	for _, name := range names {
		k, err := Parse(name)
		if err != nil {
			return nil, err
		}
		for _, s := range e.Scopes {
			if s.types() && k.plain() {
				return nil, fmt.Errorf("key %q: a plain character would be typed as text in scope %s (add Ctrl or Alt)", name, s)
			}
		}
		if e.Action == Approve && k == (Key{code: tcell.KeyEnter}) {
			return nil, fmt.Errorf("key %q: Enter can't approve because it is too easy to press by accident", name)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// culprit returns the action of a conflict that is named in bindings, and so has caused it.
func culprit(err error, bindings map[string][]string) string {
	c, ok := errors.AsType[*conflict](err)
	if !ok {
		return ""
	}
	if _, asked := bindings[string(c.b)]; asked {
		return string(c.b)
	}
	return string(c.a)
}

// nearest returns the action with the id most similar to a wrong id.
func nearest(entries []Entry, wrong string) string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = string(e.Action)
	}
	return fuzzy.Nearest(wrong, ids)
}
