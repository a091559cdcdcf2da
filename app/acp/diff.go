package acp

import (
	"path/filepath"

	"buddy/agent/action"
	"buddy/views/markup"
	"buddy/views/words"
)

// diffs returns the changes of an action on files: one content for each hunk, with the lines before and after the change
// and the unchanged lines around it.
func diffs(act action.Action, cwd string) (all []callContent) {
	if act.Kind != action.FileWrite && act.Kind != action.FileDelete || len(act.Preview) > maxDiff {
		return nil
	}
	for _, change := range markup.Changes(words.DiffOf(act)) {
		path := change.File
		if len(act.Paths) < 2 {
			path = act.Path
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		old, now := clean(change.Old), clean(change.Now)
		c := callContent{Type: "diff", Path: path, OldText: &old, NewText: &now}
		if change.New {
			c.OldText = nil
		}
		all = append(all, c)
	}
	return all
}
