package keymap

import (
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

// Rebind gives actions other keys: action id to key names, an empty list for none. It
// changes everything or, on an error (a *BindError), nothing.
func (m *Map) Rebind(bindings map[string][]string) error {
	entries := slices.Clone(m.entries)
	for _, id := range slices.Sorted(maps.Keys(bindings)) {
		i := slices.IndexFunc(entries, func(e Entry) bool { return string(e.Action) == id })
		if i < 0 {
			return &BindError{id, fmt.Errorf("unknown action %q (nearest: %s)", id, nearest(entries, id))}
		}
		keys, err := parseKeys(entries[i], bindings[id])
		if err != nil {
			return &BindError{id, err}
		}
		entries[i].Keys = keys
	}
	index, err := indexOf(entries)
	if err != nil {
		return &BindError{culprit(err, bindings), err}
	}
	m.entries, m.index = entries, index
	return nil
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
