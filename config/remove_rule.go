package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/agent/action"
)

// ErrNoRule is the error of [RemoveRule] for a file without the rule.
var ErrNoRule = errors.New("the rule is not in it")

// RemoveRule deletes a rule from a settings file, the first one with the same decision about the same actions, and
// leaves the rest unchanged. The file may be a project's.
func RemoveRule(path string, r action.Rule) error {
	if !exists(path) {
		return fmt.Errorf("%s: %w", path, ErrNoRule)
	}
	return changeFile(path, func(d *Document) error { return d.removeRule(r) })
}

// removeRule deletes the table of a rule: its header, its keys, and the comments between them.
func (d *Document) removeRule(r action.Rule) error {
	rules := d.Check().Config.Rules
	r.Source = action.FromUser // the file may be a project's
	at := slices.IndexFunc(rules, func(other Rule) bool { return sameRule(other, Rule{Rule: r}) })
	if at < 0 {
		return fmt.Errorf("%s: %w", d.path, ErrNoRule)
	}
	entries, _, err := scan(d.data)
	if err != nil {
		return err
	}
	from, to := d.tableAt(entries, rules[at].Place)
	if from < 0 {
		return fmt.Errorf("%s: the rule does not have its own [[%s]] table: use buddy config edit", rules[at].Place, r.Decision)
	}
	return d.removeEntries(entries, from, to, rules[at].Place)
}

// removeEntries deletes entries[from:to] and the comments between them. The first entry is a table's header. place is
// the position for errors.
func (d *Document) removeEntries(entries []entry, from, to int, place string) error {
	last := entries[from].from
	for _, e := range entries[from:to] {
		last = max(last, e.to)
	}
	start, end := d.startOfLine(entries[from].from), d.endOfLine(last)
	for end < len(d.data) && len(bytes.TrimSpace(d.data[end:d.endOfLine(end)])) == 0 { // the blank line below
		end = d.endOfLine(end)
	}
	data := d.splice(start, end, "")
	after, _, err := scan(data)
	left := slices.Delete(slices.Clone(entries), from, to)
	if err != nil || !slices.Equal(otherEntries(left, nil), otherEntries(after, nil)) {
		return fmt.Errorf("%s: can't be deleted without changing the rest: use buddy config edit", place)
	}
	d.data = data
	return nil
}

// tableAt returns the range of entries of the array table whose header is at a place, -1 if there is none.
func (d *Document) tableAt(entries []entry, place string) (from, to int) {
	from = slices.IndexFunc(entries, func(e entry) bool {
		return e.kind == unstable.ArrayTable && len(e.path) == 1 && fmt.Sprintf("%s:%d", d.path, e.line) == place
	})
	if from < 0 {
		return -1, 0
	}
	return from, nextTable(entries, from)
}

// nextTable returns the index of the next header after an entry.
func nextTable(entries []entry, from int) int {
	next := slices.IndexFunc(entries[from+1:], func(e entry) bool { return e.kind == unstable.Table || e.kind == unstable.ArrayTable })
	if next < 0 {
		return len(entries)
	}
	return from + 1 + next
}

// removeTable deletes the table at a path with its keys, if it has a header.
func (d *Document) removeTable(path ...string) error {
	entries, _, err := scan(d.data)
	if err != nil {
		return err
	}
	from := slices.IndexFunc(entries, func(e entry) bool { return e.kind == unstable.Table && slices.Equal(e.path, path) })
	if from < 0 {
		return fmt.Errorf("%s: there is no table [%s]: use buddy config edit", d.path, tomlPath(path))
	}
	return d.removeEntries(entries, from, nextTable(entries, from), fmt.Sprintf("%s:%d", d.path, entries[from].line))
}
