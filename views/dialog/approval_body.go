package dialog

import (
	"fmt"
	"strings"

	"buddy/themes"
	"buddy/views/draw"
)

const bodyIndent = 2

// layBody wraps the action: the command, or the path with its diff. tight is the number of context lines to omit around
// changes.
func (a *Approval) layBody(w, tight int) *body {
	b := &a.lines[tight]
	if b.width == w && b.rows != nil {
		return b
	}
	b.relay(w)
	b.code = a.Highlighter
	act := a.asked.Action
	if len(act.Targets) > 0 {
		b.add(bodyIndent, []draw.Span{draw.Text(themes.Muted, "on ")}, draw.Untrusted(themes.Warning, act.Target), w)
	}
	for _, host := range act.Hosts {
		b.add(bodyIndent, []draw.Span{draw.Text(themes.Muted, "to ")}, draw.Untrusted(themes.Warning, host), w)
	}
	if act.Path != "" && (a.amend.done || act.Preview == "") {
		b.add(bodyIndent, nil, draw.Untrusted(themes.Strong, act.Path), w)
	}
	switch {
	case a.amend.done:
		b.addCommand(a.amend.text, w)
		return b
	case act.Command != "":
		b.addCommand(act.Command, w)
	}
	if t := a.asked.Context.Tried; t != nil {
		b.addTried(t, w, tight)
	} else if act.Preview != "" {
		b.addPreview(act, w, tight)
	}
	if b.rows == nil {
		b.addWords(bodyIndent, []draw.Span{draw.Text(themes.Warning, "buddy doesn't know what this does.")}, w)
	}
	return b
}

// addCommand appends a command, with line numbers if it has several lines.
func (b *body) addCommand(command string, w int) {
	lines := strings.Split(strings.TrimSuffix(command, "\n"), "\n")
	if len(lines) == 1 {
		b.add(bodyIndent, nil, draw.Untrusted(themes.Strong, lines[0]), w)
		return
	}
	digits := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		gutter := []draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%*d ", digits, i+1))}
		b.add(bodyIndent, gutter, draw.Untrusted(themes.Strong, l), w)
	}
}
