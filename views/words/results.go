package words

import (
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/views/markup"
)

// maxOutcome limits the columns of an outcome.
const maxOutcome = 24

// Outcome returns the outcome of a successful call in a few words, if possible: the numbers of changed lines, or
// summary, the call's own description of its result.
func (c Call) Outcome(summary string) string {
	if act := c.reached().Action; (act.Kind == action.FileWrite || act.Kind == action.FileDelete) && act.Preview != "" {
		return diffCount(act)
	}
	return markup.Shorten(texts.OneLine(summary), maxOutcome)
}

// Looked summarizes calls that look at files: Read 3 files, searched twice.
func Looked(files, searches, folders int) string {
	var all []string
	if files > 0 {
		all = append(all, "read "+texts.Plural(files, "file"))
	}
	if searches > 0 {
		all = append(all, "searched "+times(searches))
	}
	if folders > 0 {
		all = append(all, "listed "+texts.Plural(folders, "folder"))
	}
	return texts.Capital(strings.Join(all, ", "))
}

// times returns a count in words: once, twice, 3 times.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return texts.Plural(n, "time")
}

// diffCount counts the added and deleted lines of a change: +3 −1.
func diffCount(act action.Action) string {
	text := act.Preview
	if len(act.Paths) == 0 {
		text = markup.PreviewDiff(act.Path, text)
	}
	d := markup.NewDiff(text, markup.DiffView{Most: 1})
	return fmt.Sprintf("+%d −%d", d.Added, d.Deleted)
}
