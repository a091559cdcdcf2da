package transcript

import (
	"strings"

	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// layFault lays out a block about a failed request: one sentence or the progress of retries, and, if unfolded, the
// provider's answer.
func (l *laidBlock) layFault(v *blockView) {
	b := v.block
	if l.seen == len(b.Text) {
		return
	}
	l.seen = len(b.Text)
	t := &markup.Text{Wrap: markup.Words}
	switch b.Kind {
	case state.RetryBlock:
		l.putRetry(t, v)
	case state.ErrorBlock:
		t.Put("error  ", markup.Style{Role: themes.Error})
		for i, line := range strings.Split(string(b.Text), "\n") {
			if i > 0 {
				t.Put("\n", markup.Style{})
			}
			t.Put(markup.Inline(line), markup.Style{Role: themes.Text})
		}
	case state.WarningBlock:
		t.Put("warning  ", markup.Style{Role: themes.Warning})
		t.Put(markup.Inline(string(b.Text)), markup.Style{Role: themes.Text})
	default:
		t.Put(markup.Inline(string(b.Text)), markup.Style{Role: themes.Text})
	}
	l.layPart(t)
	if b.Raw == "" || l.fold != unfolded {
		return
	}
	raw := &markup.Text{}
	for line := range strings.Lines(b.Raw) {
		raw.Line(markup.Hard, "  ")
		raw.Put(markup.Inline(strings.TrimRight(line, "\r\n")), markup.Style{Role: themes.Muted})
	}
	l.layPart(raw)
}

// putRetry adds the progress of retries, with the remaining wait and the keys.
func (l *laidBlock) putRetry(t *markup.Text, v *blockView) {
	role := themes.Muted
	if l.wait != "" {
		role = themes.Warning
	}
	if l.wait == "" {
		t.Put(markup.Inline(string(v.block.Text)), markup.Style{Role: role})
		return
	}
	text := markup.Inline(v.block.Retry.Text) + ". " + l.wait
	t.Put(text, markup.Style{Role: role})
	if keys := v.shared.retryKeys(); keys != "" {
		before := " · "
		if draw.TextWidth(text+before+keys) > l.width-gutterWidth {
			before = "\n" // so that a key and its description stay on one line
		}
		t.Put(before+keys, markup.Style{Role: themes.Text})
	}
}

// retryWait describes the remaining wait before a retry, or returns "".
func (v *blockView) retryWait() string {
	if v.block.Retry == nil || v.shared.now == nil { // a search lays out blocks without a clock
		return ""
	}
	return draw.RetryWait(v.block.Retry.At-v.shared.now().UnixMilli(), v.block.Retry.Count)
}

// retryRole returns the role of the mark of a block about retries.
func retryRole(l *laidBlock) themes.Role {
	if l != nil && l.wait != "" {
		return themes.Warning
	}
	return themes.Muted
}
