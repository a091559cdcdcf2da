package views

import (
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/markup"
)

// approvalBody is what a person is asked about, as rows for one width.
type approvalBody struct {
	window
	rows  [][]span
	width int // for which rows holds; 0 = none
}

const bodyIndent = 2

// layBody wraps what the action does: the command, or the path with its diff.
func (a *Approval) layBody(w int) {
	b := &a.body
	if b.width == w && b.rows != nil {
		return
	}
	b.width, b.rows = w, nil
	act := a.asked.Action
	if act.Path != "" {
		b.add(nil, foreign(themes.Strong, act.Path), w)
	}
	if act.Command != "" {
		a.layCommand(act.Command, w)
	}
	if act.Preview != "" {
		a.layPreview(act, w)
	}
	if b.rows == nil {
		b.add(nil, []span{own(themes.Warning, "nothing is known about what this does")}, w)
	}
}

// add appends a line behind a gutter, wrapped.
func (b *approvalBody) add(gutter, line []span, w int) {
	indent := own(themes.Text, strings.Repeat(" ", bodyIndent))
	n := spansWidth(gutter)
	for i, r := range wrapSpans(line, w-bodyIndent-n) {
		row := []span{indent}
		if i == 0 {
			row = append(row, gutter...)
		} else if n > 0 {
			row = append(row, own(themes.Text, strings.Repeat(" ", n)))
		}
		b.rows = append(b.rows, append(row, r...))
	}
}

// layCommand numbers the lines of a command that has several.
func (a *Approval) layCommand(command string, w int) {
	lines := strings.Split(strings.TrimSuffix(command, "\n"), "\n")
	if len(lines) == 1 {
		a.body.add(nil, foreign(themes.Strong, lines[0]), w)
		return
	}
	digits := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		gutter := []span{own(themes.Muted, fmt.Sprintf("%*d ", digits, i+1))}
		a.body.add(gutter, foreign(themes.Strong, l), w)
	}
}

// layPreview colours a preview that is a diff and counts its lines.
func (a *Approval) layPreview(act action.Action, w int) {
	lines := strings.Split(strings.TrimSuffix(act.Preview, "\n"), "\n")
	diff := act.Kind == action.FileWrite
	if diff {
		if added, removed := countDiff(lines); added+removed > 0 {
			a.body.add(nil, []span{own(themes.DiffAdd, fmt.Sprintf("+%d", added)), own(themes.DiffDelete, fmt.Sprintf(" -%d", removed)), own(themes.Muted, " lines")}, w)
		}
	}
	hunk := false
	for _, l := range lines {
		role := themes.Text
		if diff {
			role, hunk = markup.DiffRole(l, hunk)
		}
		a.body.add(nil, foreign(role, l), w)
	}
}

func countDiff(lines []string) (added, removed int) {
	hunk := false
	var role themes.Role
	for _, l := range lines {
		switch role, hunk = markup.DiffRole(l, hunk); role {
		case themes.DiffAdd:
			added++
		case themes.DiffDelete:
			removed++
		}
	}
	return added, removed
}

// drawBody draws h rows; if there are more, the last one says so.
func (a *Approval) drawBody(in area, h int) int {
	b := &a.body
	n, room := len(b.rows), h
	if n > h {
		room = max(1, h-1)
	}
	from, to := b.show(n, room)
	in.rows(b.rows[from:to])
	if n <= h {
		return n
	}
	if h > 1 {
		more := fmt.Sprintf("rows %d-%d of %d · %s %s", from+1, to, n, a.keys.Name(keymap.PageUp), a.keys.Name(keymap.PageDown))
		in.down(h-1).spans(bodyIndent, own(themes.Warning, more))
	}
	return h
}
