package dialog

import (
	"strings"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
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
	text := act.Preview
	if len(act.Paths) == 0 {
		text = markup.PreviewDiff(act.Path, text)
	}
	b.addDiff(bodyIndent, markup.NewDiff(text, markup.DiffView{Bare: bare}), w)
}
