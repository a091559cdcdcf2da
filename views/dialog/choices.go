package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
)

// choice is an answer in a docked dialog.
type choice struct {
	action keymap.Action // "" without a letter
	label  string        // may be untrusted
	row    bool          // it has a row of its own
	dim    bool          // it is not accepted now
}

// choices is a set of answers. A person takes one by its digit or letter, or with the arrows and Enter.
type choices struct {
	all []choice
	at  int // the marked one, from 1; 0: none
}

// press handles a key and returns the index of the choice that the key takes, or -1.
func (c *choices) press(p keymap.Press) int {
	n := len(c.all)
	switch p.Action {
	case keymap.ChoiceUp:
		c.at = max(1, c.at-1)
	case keymap.ChoiceDown:
		c.at = min(n, c.at+1)
	case keymap.ChoiceNumber:
		if c.has(p.Text) {
			c.at = int(p.Text[0] - '0')
			return c.at - 1
		}
	case keymap.ChoiceTake:
		return c.at - 1
	default:
		return slices.IndexFunc(c.all, func(o choice) bool { return o.action == p.Action && p.Action != "" })
	}
	return -1
}

// choose calls press and shows a hint if Enter takes nothing because no choice is marked.
func (d *docked) choose(p keymap.Press) int {
	i := d.choices.press(p)
	if p.Action == keymap.ChoiceTake && i < 0 {
		d.hint("choose with ↑↓ or a number first")
	}
	return i
}

// has reports whether there is a choice with a number.
func (c *choices) has(number string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n >= 1 && n <= len(c.all)
}

// bindings returns a choice for each action of a scope that has a key and a label and that with accepts.
func bindings(keys *keymap.Map, scope keymap.Scope, with func(keymap.Action) bool) []choice {
	var all []choice
	for e := range keys.In(scope) {
		if e.Label != "" && len(e.Keys) > 0 && with(e.Action) {
			all = append(all, choice{action: e.Action, label: e.Label, row: true})
		}
	}
	return all
}

const choiceGap = 2 // cells between two choices of a row

// rows draws the choices in rows of at most w cells. Long choices are wrapped and indented. Tight rows hold several
// choices.
func (c *choices) rows(w int, tight bool) [][]draw.Span {
	flow := choiceFlow{w: w, gap: choiceGap}
	for i, o := range c.all {
		item, label := c.item(i, tight)
		flow.add(item, label, o.row)
	}
	return flow.rows
}

// item returns the mark and number of a choice, and its label.
func (c *choices) item(i int, tight bool) (item, label []draw.Span) {
	o := c.all[i]
	role, digit, mark := themes.Text, themes.Key, "  "
	if c.at == i+1 {
		role, mark = themes.Strong, "❯ "
	}
	if o.dim {
		role, digit = themes.Muted, themes.Muted
	}
	gap := "  "
	if tight {
		mark, gap = strings.TrimSpace(mark), " "
	}
	key := keymap.Typed(rune('1' + i))
	item = []draw.Span{draw.Text(themes.Accent, mark), draw.Text(digit, fmt.Sprint(i+1)), draw.Text(themes.Text, gap)}
	return draw.Clickable(key, item...), draw.Clickable(key, draw.Untrusted(role, o.label)...)
}

// choiceFlow arranges items in rows.
type choiceFlow struct {
	w, used int
	gap     int // cells between two items of a row
	rows    [][]draw.Span
	full    bool // the next item starts a row
}

// fits reports whether an item of n cells fits into the last row.
func (f *choiceFlow) fits(n int) bool { return f.used+f.gap+n <= f.w }

// add appends an item and its label. The item starts a row if alone is set or if it does not fit into the last row.
func (f *choiceFlow) add(item, label []draw.Span, alone bool) {
	lead := draw.Width(item)
	n := lead + draw.Width(label)
	if len(f.rows) == 0 || f.full || alone || !f.fits(n) {
		for _, row := range draw.WrapWhole(label, f.w-lead) {
			f.rows = append(f.rows, append(item, row...))
			item = []draw.Span{draw.Text(themes.Text, strings.Repeat(" ", lead))}
		}
		f.used = n
	} else {
		last := len(f.rows) - 1
		f.rows[last] = append(append(f.rows[last], draw.Text(themes.Text, strings.Repeat(" ", f.gap))), append(item, label...)...)
		f.used += f.gap + n
	}
	f.full = alone
}
