package transcript

import (
	"fmt"

	"buddy/agent/action"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/markup"
)

// changeRows limits the rows of a change that are shown before it is unfolded.
const changeRows = 15

// changes reports whether a call changes the content of files and has a diff.
func changes(c *state.Call) bool {
	return (c.Action.Kind == action.FileWrite || c.Action.Kind == action.FileDelete) && c.Action.Preview != ""
}

// changed reports whether a call has changed files; then the diff is shown below the call's head.
func changed(c *state.Call) bool { return c.State == state.CallDone && changes(c) }

// diffOf lays out a call's change, limited to most lines (0: no limit). If the call changes a single file, the diff
// omits the file's name, because the head has it.
func diffOf(c *state.Call, most int) *markup.Diff {
	text, one := c.Action.Preview, len(c.Action.Paths) == 0
	if one {
		text = markup.PreviewDiff(c.Action.Path, text)
	}
	return markup.NewDiff(text, markup.DiffView{Most: most, NoFiles: one})
}

// addDiff adds a diff as a part.
func (l *laidBlock) addDiff(d *markup.Diff, with *shared) {
	l.diff, l.diffAt = d, len(l.parts)
	d.Highlighter = with.lexers
	p := part{text: &d.Text}
	p.layout.Wrap(p.text, l.width-gutterWidth, 0)
	l.parts = append(l.parts, p)
}

// layChange adds a call's change as a part: all of it, or its start and the number of further lines.
func (l *laidBlock) layChange(c *state.Call, with *shared) {
	most := 0
	if l.fold == foldAuto {
		most = changeRows
	}
	l.addDiff(diffOf(c, most), with)
	if most == 0 {
		return
	}
	p := &l.parts[l.diffAt]
	hidden := l.diff.More
	if rows := p.layout.Rows; len(rows) > most {
		for _, r := range rows[most:] {
			if r.From == 0 || p.text.Bytes[r.From-1] == '\n' {
				hidden++
			}
		}
		if hidden == 0 {
			hidden = 1 // the rest of a long line
		}
		p.layout.Rows = rows[:most]
	}
	if hidden > 0 {
		t := &markup.Text{}
		t.Put(fmt.Sprintf("… %s · +%d −%d in total", texts.Plural(hidden, "more line"), l.diff.Added, l.diff.Deleted), markup.Style{Role: themes.Muted})
		if key := with.unfold(); key != "" {
			t.Put(" · "+key+" shows all", markup.Style{Role: themes.Muted})
		}
		more := part{text: t}
		more.layout.Wrap(t, l.width-gutterWidth, 0)
		l.parts = append(l.parts, more)
	}
}
