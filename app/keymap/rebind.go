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

// BindError says what is wrong with one action under [keys]. Action is the key below
// "keys" in the configuration, so that a caller can add the file and line.
type BindError struct {
	Action string
	Err    error
}

// Error names the key path, then the cause.
func (e *BindError) Error() string { return "keys." + e.Action + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BindError) Unwrap() error { return e.Err }

// Lost is a built-in key that an action gave up, because a person wants it for another one.
type Lost struct {
	Key    Key
	Action Action // that had it
	To     Action // that has it now
	Left   []Key  // that the first still has
}

// Rebind gives actions other keys: action id to key names, an empty list for none. A built-in key that one of them
// takes is lost for the action that had it; where a key decides about an approval, and between two of the bindings,
// that is an error. It changes everything or, on an error (a *BindError), nothing.
func (m *Map) Rebind(bindings map[string][]string) ([]Lost, error) {
	if len(bindings) == 0 {
		return nil, nil
	}
	entries := slices.Clone(m.entries)
	for _, id := range slices.Sorted(maps.Keys(bindings)) {
		i := slices.IndexFunc(entries, func(e Entry) bool { return string(e.Action) == id })
		if i < 0 {
			return nil, &BindError{id, fmt.Errorf("unknown action %q (nearest: %s)", id, nearest(entries, id))}
		}
		keys, err := parseKeys(entries[i], bindings[id])
		if err != nil {
			return nil, &BindError{id, err}
		}
		entries[i].Keys = keys
	}
	lost, index, err := yield(entries, bindings)
	if err != nil {
		return nil, &BindError{culprit(err, bindings), err}
	}
	m.entries, m.index = entries, index
	return lost, nil
}

// yield takes built-in keys from the entries that share them with a binding, and makes the index.
func yield(entries []Entry, bindings map[string][]string) (lost []Lost, index map[Scope]map[Key]Action, err error) {
	for {
		index, err = indexOf(entries)
		var c *conflict
		if !errors.As(err, &c) {
			slices.SortFunc(lost, func(a, b Lost) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Action, b.Action)) })
			return lost, index, err
		}
		to := Action(culprit(err, bindings))
		from := c.a
		if to == c.a {
			from = c.b
		}
		if _, asked := bindings[string(from)]; asked || c.scope == Approval {
			return nil, nil, err
		}
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Action == from && slices.Contains(e.Keys, c.key) })
		if i < 0 {
			return nil, nil, err
		}
		entries[i].Keys = slices.DeleteFunc(slices.Clone(entries[i].Keys), func(k Key) bool { return k == c.key })
		lost = append(lost, Lost{c.key, from, to, entries[i].Keys})
	}
}

// Take makes m what other is, so that everyone who has m sees it.
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
				return nil, fmt.Errorf("key %q: a plain character is text in scope %s (add Ctrl or Alt)", name, s)
			}
		}
		if e.Action == Approve && k == (Key{code: tcell.KeyEnter}) {
			return nil, fmt.Errorf("key %q: Enter never approves, it is typed too easily", name)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// culprit returns the one of two conflicting actions that was asked for.
func culprit(err error, bindings map[string][]string) string {
	var c *conflict
	if !errors.As(err, &c) {
		return ""
	}
	if _, asked := bindings[string(c.b)]; asked {
		return string(c.b)
	}
	return string(c.a)
}

// nearest returns the action whose id differs least from a wrong one.
func nearest(entries []Entry, wrong string) string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = string(e.Action)
	}
	return fuzzy.Nearest(wrong, ids)
}
