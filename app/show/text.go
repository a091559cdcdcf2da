package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buddy/views/markup"
)

// maxName limits the row ids that the user is expected to type, in bytes.
const maxName = 12

// maxCell limits a cell of a list in plain text, in characters.
const maxCell = 100

// String returns an answer as plain text without control characters. The rows of a list have numbers, and the choices
// of a question are the commands to type.
func (a Answer) String() string {
	switch {
	case a.Text != nil:
		return markup.Plain(strings.TrimRight(a.Text.Body, "\n"))
	case a.List != nil:
		return a.List.text()
	case a.Document != nil:
		return a.Document.text()
	case a.Question != nil:
		return a.Question.text()
	}
	return ""
}

func (l *List) text() string {
	lines := []string{markup.Inline(l.Title) + ":"}
	if len(l.Rows) == 0 {
		lines = []string{l.Empty}
	}
	shown := l.Rows
	if l.Most > 0 {
		shown = shown[:min(len(shown), l.Most)]
	}
	cells, widths := l.cells(shown)
	for i, r := range shown {
		mark := " "
		if r.Mark {
			mark = "*"
		}
		line := mark
		if !l.Numbered {
			line += fmt.Sprintf("%2d", i+1)
		}
		for n, cell := range cells[i] {
			line += fmt.Sprintf("  %-*s", widths[n], cell)
		}
		lines = append(lines, strings.TrimRight(line, " "))
		if r.Whole || l.Unfold { // nobody may decide without seeing all of it
			for _, more := range r.More {
				lines = append(lines, "       "+markup.Plain(more))
			}
		}
	}
	if more := len(l.Rows) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	for _, more := range []string{l.Note, l.Usage} {
		if more != "" {
			lines = append(lines, markup.Inline(more))
		}
	}
	return strings.Join(lines, "\n")
}

// cells returns the cells of rows and the widths of the columns.
func (l *List) cells(rows []Row) (cells [][]string, widths []int) {
	cells = make([][]string, len(rows))
	for i, r := range rows {
		if l.named() {
			cells[i] = []string{markup.Inline(r.ID)}
		}
		for _, cell := range r.Cells {
			cells[i] = append(cells[i], markup.Shorten(cell, maxCell))
		}
		for n, cell := range cells[i] {
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	return cells, widths
}

// named reports whether the rows must be shown with their ids, because commands name them by short ids that no cell
// shows.
func (l *List) named() bool {
	if l.Numbered {
		return false
	}
	for i, r := range l.Rows {
		if r.ID == strconv.Itoa(i+1) || len(r.ID) > maxName || strings.ContainsAny(r.ID, " /:") || slices.Contains(r.Cells, r.ID) || len(r.Cells) > 0 && strings.HasPrefix(strings.TrimPrefix(r.Cells[0], "/"), r.ID) {
			return false
		}
	}
	return true
}

func (d *Document) text() string {
	lines := []string{d.Title}
	left := 0
	for _, s := range d.Sections {
		values := slices.DeleteFunc(slices.Clone(s.Values), func(v Value) bool { return v.BuiltIn })
		if left += len(s.Values) - len(values); len(values) == 0 {
			continue
		}
		lines = append(lines, "")
		if s.Title != "" {
			lines = append(lines, s.Title)
		}
		width := 0
		for _, v := range values {
			width = max(width, utf8.RuneCountInString(markup.Inline(v.Label)))
		}
		for _, v := range values {
			line := fmt.Sprintf("  %-*s  %s", width, markup.Inline(v.Label), markup.Inline(v.Text))
			if v.From != "" {
				line += "  (" + markup.Inline(v.From) + ")"
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	if left > 0 {
		lines = append(lines, "", fmt.Sprintf("%d more have their defaults", left))
	}
	if d.Usage != "" {
		lines = append(lines, d.Usage)
	}
	return strings.Join(lines, "\n")
}

func (q *Question) text() string {
	lines := []string{markup.Inline(q.Title)}
	for _, l := range q.Lines {
		lines = append(lines, "  "+markup.Plain(l))
	}
	for _, c := range q.Choices {
		if c.Run != nil { // printed text asks nothing: a person types the command
			lines = append(lines, markup.Inline("  /"+strings.Join(c.Run, " ")+"  "+c.Label))
		}
	}
	return strings.Join(lines, "\n")
}

// Value returns an answer for JSON. A list becomes an array of objects with the columns' names as keys. Other answers
// are returned as they are.
func (a Answer) Value() any {
	switch {
	case a.Text != nil:
		return a.Text
	case a.List != nil:
		return a.List.objects()
	case a.Document != nil:
		return a.Document
	case a.Question != nil:
		return a.Question
	}
	return struct{}{}
}

func (l *List) objects() []map[string]any {
	all := make([]map[string]any, len(l.Rows))
	for i, r := range l.Rows {
		one := map[string]any{"id": r.ID}
		for n, cell := range r.Cells {
			if n < len(l.Columns) {
				one[strings.ReplaceAll(l.Columns[n], " ", "_")] = cell
			}
		}
		if r.Mark {
			one["mark"] = true
		}
		if len(r.More) > 0 {
			one["preview"] = r.More
		}
		all[i] = one
	}
	return all
}
