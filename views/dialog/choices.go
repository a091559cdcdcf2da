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

// choice is one answer that a docked dialog offers.
type choice struct {
	action keymap.Action // "" where it has no letter
	key    keymap.Key    // its letter; the zero Key for none
	label  string        // may be anybody's text
	row    bool          // it begins a row and has it alone
	dim    bool          // it can't be taken now
}

// choices lets a person take one of several answers: by its letter, or by going to it with an
// arrow or its digit and then pressing Enter.
type choices struct {
	all []choice
	at  int // the number of the one that was gone to, from 1; 0: none yet
}

// press takes a key. It returns the index of the choice that the key takes, -1 for none.
func (c *choices) press(p keymap.Press) int {
	n := len(c.all)
	switch p.Action {
	case keymap.ChoiceUp:
		c.at = max(1, c.at-1)
	case keymap.ChoiceDown:
		c.at = min(n, c.at+1)
	case keymap.ChoiceNumber:
		if k := int(p.Text[0] - '0'); k <= n {
			c.at = k
		}
	case keymap.ChoiceTake:
		return c.at - 1
	default:
		return slices.IndexFunc(c.all, func(o choice) bool { return o.action == p.Action && p.Action != "" })
	}
	return -1
}

// choose takes a key of the choices and returns the index of the one that the key takes, -1 for none. Enter takes
// nothing before something is gone to, and a digit only goes there: both are said, since elsewhere they answer at once.
func (d *docked) choose(p keymap.Press) int {
	i := d.choices.press(p)
	switch {
	case p.Action == keymap.ChoiceTake && i < 0:
		d.tell("nothing is chosen yet: go to a choice with ↑↓ or its number, then press " + d.Keys.Name(keymap.ChoiceTake))
	case p.Action == keymap.ChoiceNumber && d.choices.has(p.Text):
		d.tell(d.Keys.Name(keymap.ChoiceTake) + " takes " + p.Text + ": " + d.choices.all[d.choices.at-1].label)
	}
	return i
}

// has reports whether there is a choice with that number.
func (c *choices) has(number string) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n >= 1 && n <= len(c.all)
}

// bindings returns a choice for each action of a scope that has a key and a label.
func bindings(keys *keymap.Map, scope keymap.Scope, with func(keymap.Action) bool) []choice {
	var all []choice
	for e := range keys.In(scope) {
		if e.Label != "" && len(e.Keys) > 0 && with(e.Action) {
			all = append(all, choice{action: e.Action, key: e.Keys[0], label: e.Label})
		}
	}
	return all
}

const choiceGap = 3 // cells between two choices of a row

// choiceSize says how much room choices take.
type choiceSize uint8

const (
	wideChoices  choiceSize = iota // a row each
	shortChoices                   // several in a row
	tinyChoices                    // letters and labels only
)

// rows draws the choices and, behind them, some hints, in rows of at most w cells. What is too
// long for a row is wrapped, behind its number and letter and without losing one. Tight rows leave out the numbers of what has a letter.
func (c *choices) rows(w int, hints []draw.Hint, tight bool) [][]draw.Span {
	flow := choiceFlow{w: w, gap: choiceGap}
	if tight {
		flow.gap = 2
	}
	for i, o := range c.all {
		item, label := c.item(i, tight)
		flow.add(item, label, o.row)
	}
	for i, h := range hints {
		item, label := draw.Clickable(h.Key, draw.Text(themes.Key, h.Name())), draw.Clickable(h.Key, draw.Text(themes.Muted, " "+h.Label))
		if n := draw.Width(item) + draw.Width(label); !tight && (i == 0 && flow.full || !flow.fits(n)) {
			item = append([]draw.Span{draw.Text(themes.Text, "  ")}, item...)
		}
		flow.add(item, label, false)
	}
	return flow.rows
}

// item is the mark, number and letter of a choice, and its label.
func (c *choices) item(i int, tight bool) (item, label []draw.Span) {
	o := c.all[i]
	role, mark := themes.Text, "  "
	if c.at == i+1 {
		role, mark = themes.Strong, "❯ "
	}
	letter := themes.Key
	if o.dim {
		role, letter = themes.Muted, themes.Muted
	}
	item = []draw.Span{draw.Text(themes.Accent, mark), draw.Text(themes.Muted, fmt.Sprint(i+1)+" ")}
	key := keymap.Typed(rune('1' + i))
	if o.key != (keymap.Key{}) {
		if tight {
			item = item[:0]
			if c.at == i+1 {
				item = append(item, draw.Text(themes.Accent, "❯"))
			}
		}
		key = o.key
		item = append(item, draw.Text(letter, key.String()))
	}
	if o.key != (keymap.Key{}) {
		item = append(item, draw.Text(role, " "))
	}
	return draw.Clickable(key, item...), draw.Clickable(key, draw.Untrusted(role, o.label)...)
}

// choiceFlow puts items into rows.
type choiceFlow struct {
	w, used int
	gap     int // cells between two items of a row
	rows    [][]draw.Span
	full    bool // the next item begins a row
}

// fits reports whether an item of n cells has room in the last row.
func (f *choiceFlow) fits(n int) bool { return f.used+f.gap+n <= f.w }

// add appends an item: what stands before its label, and that, which has rows of its own if it is alone
// or has no room beside the last item.
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
