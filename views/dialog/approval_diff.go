package dialog

import (
	"strings"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/words"
)

// addPreview appends the preview of an action, which is a diff if the action changes a file. tight is the number of
// context lines to omit.
func (b *body) addPreview(act action.Action, w, tight int) {
	if files := act.Kind == action.FileWrite || act.Kind == action.FileDelete; !files {
		if act.Path != "" {
			b.add(bodyIndent, nil, draw.Untrusted(themes.Strong, act.Path), w)
		}
		for line := range strings.Lines(act.Preview) {
			b.add(bodyIndent, nil, draw.Untrusted(themes.Text, strings.TrimSuffix(line, "\n")), w)
		}
		return
	}
	b.addDiff(bodyIndent, markup.NewDiff(words.DiffOf(act), markup.DiffView{Tight: tight, NoFiles: words.OneFile(act)}), w)
}

// addTried appends the changes of a command that was tried, and the end of its output. tight is as in addPreview.
func (b *body) addTried(t *action.Tried, w, tight int) {
	if diff := words.TriedDiff(t); diff != "" {
		b.addDiff(bodyIndent, markup.NewDiff(diff, markup.DiffView{Tight: tight}), w)
	}
	if t.Output == "" {
		return
	}
	b.add(bodyIndent, nil, []draw.Span{draw.Text(themes.Muted, "output:")}, w)
	for line := range strings.Lines(t.Output) {
		b.add(bodyIndent, nil, draw.Untrusted(themes.Text, strings.TrimSuffix(line, "\n")), w)
	}
}
