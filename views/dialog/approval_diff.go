package dialog

import (
	"strings"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/words"
)

// addPreview appends what shows of an action before it happens: that of files is a diff; bare leaves out all lines of
// it that do not change.
func (b *body) addPreview(act action.Action, w int, bare bool) {
	if files := act.Kind == action.FileWrite || act.Kind == action.FileDelete; !files {
		if act.Path != "" {
			b.add(bodyIndent, nil, draw.Untrusted(themes.Strong, act.Path), w)
		}
		for line := range strings.Lines(act.Preview) {
			b.add(bodyIndent, nil, draw.Untrusted(themes.Text, strings.TrimSuffix(line, "\n")), w)
		}
		return
	}
	b.addDiff(bodyIndent, markup.NewDiff(words.DiffOf(act), markup.DiffView{Bare: bare, NoFiles: words.OneFile(act)}), w)
}
