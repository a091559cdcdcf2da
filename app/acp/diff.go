package acp

import (
	"path/filepath"
	"strings"

	"buddy/agent/action"
	"buddy/views/markup"
	"buddy/views/words"
)

// diffs returns the changes of an action on files: one content for each hunk, with the lines before and after the change
// and the unchanged lines around it.
func diffs(act action.Action, cwd string) []callContent {
	if act.Kind != action.FileWrite && act.Kind != action.FileDelete || len(act.Preview) > maxDiff {
		return nil
	}
	r := diffReader{cwd: cwd, single: len(act.Paths) < 2}
	if r.single {
		r.path = act.Path
	}
	for line := range strings.Lines(words.DiffOf(act)) {
		r.line(line)
	}
	r.end()
	return r.all
}

// diffReader reads the diffs of a preview.
type diffReader struct {
	cwd, path string
	single    bool // path is the only file
	inside    bool // in a hunk
	created   bool
	old, now  strings.Builder
	all       []callContent
}

func (r *diffReader) line(line string) {
	name, isFile := strings.CutPrefix(line, markup.FileMark)
	switch {
	case isFile:
		r.end()
		if at := strings.LastIndex(name, "  "); at >= 0 && !r.single {
			r.path = name[:at]
		}
		r.created = false
	case strings.HasPrefix(line, "@@"):
		r.end()
		r.inside = true
	case !r.inside:
		r.created = r.created || strings.HasPrefix(line, "--- /dev/null")
	case line[0] == '+':
		r.now.WriteString(line[1:])
	case line[0] == '-':
		r.old.WriteString(line[1:])
	case line[0] == ' ':
		r.old.WriteString(line[1:])
		r.now.WriteString(line[1:])
	}
}

// end ends a hunk.
func (r *diffReader) end() {
	if r.inside && r.path != "" {
		path := r.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.cwd, path)
		}
		old, now := clean(r.old.String()), clean(r.now.String())
		c := callContent{Type: "diff", Path: path, OldText: &old, NewText: &now}
		if r.created {
			c.OldText = nil
		}
		r.all = append(r.all, c)
	}
	r.inside = false
	r.old.Reset()
	r.now.Reset()
}
