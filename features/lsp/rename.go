package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/tools/file"
)

// rename returns the new texts of the files that a rename changes. Nothing is written yet.
func (t *codeTool) rename(ctx context.Context, args codeArgs) ([]file.NewText, error) {
	act, err := file.PlanRead(t.files, t.Name(), args.Path, args.Why)
	if err != nil {
		return nil, err
	}
	if act.Op != "" { // a change never guesses the file
		return nil, fmt.Errorf("%q does not exist; did you mean %q?", args.Path, t.all.show(act.Path))
	}
	if _, why := t.inWorkspace(act.Path); why != "" {
		return nil, fmt.Errorf("%q: %s: nothing was written", args.Path, why)
	}
	q, err := t.questionAt(ctx, act.Path, args)
	if err != nil {
		return nil, err
	}
	q.params.NewName = args.NewName
	raw, err := q.server.query(ctx, "textDocument/rename", q.params)
	if err != nil {
		return nil, err
	}
	var edit workspaceEdit
	if !isNull(raw) {
		if err := json.Unmarshal(raw, &edit); err != nil {
			return nil, fmt.Errorf("%s sent an invalid answer: %s", q.server.def.Name, oneLine(err.Error()))
		}
	}
	all, err := t.newTexts(q.server, edit)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the rename by %s was refused, nothing was written: %w", q.server.def.Name, err)
	case len(all) == 0:
		return nil, fmt.Errorf("%s changes nothing: line %d may not have a symbol that it can rename", q.server.def.Name, args.Line)
	}
	return all, nil
}

// newTexts returns the new texts of all files of an edit, sorted by path. It refuses the whole edit if a part of it is
// not an edit of the present text of a file of the workspace.
func (t *codeTool) newTexts(s *server, e workspaceEdit) ([]file.NewText, error) {
	changes := e.DocumentChanges
	if len(changes) == 0 {
		for uri, edits := range e.Changes {
			c := documentChange{Edits: edits}
			c.Document.URI = uri
			changes = append(changes, c)
		}
	}
	edits := make(map[string][]textEdit)
	for _, c := range changes {
		if c.Kind != "" {
			return nil, fmt.Errorf("it would %s a file, not only edit texts", oneLine(c.Kind))
		}
		path := pathOf(c.Document.URI)
		if path == "" {
			return nil, fmt.Errorf("it would edit %s, which is not a file", oneLine(c.Document.URI))
		}
		real, why := t.inWorkspace(path)
		if why != "" {
			return nil, fmt.Errorf("%s: %s", t.all.show(path), why)
		}
		_, version, _ := s.present().opened(real) // 0: not open
		if v := c.Document.Version; v != nil && *v != version {
			return nil, fmt.Errorf("%s: the edit is for version %d of the text, the present version is %d; try again", t.all.show(real), *v, version)
		}
		edits[real] = append(edits[real], c.Edits...)
	}
	var all []file.NewText
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		one := file.NewText{Path: path}
		var ok bool
		if one.Old, _, ok = s.present().opened(path); !ok {
			if one.Old, ok = readText(path); !ok {
				return nil, fmt.Errorf("%s is not a text that a language server reads", t.all.show(path))
			}
		}
		var err error
		if one.New, err = edited(one.Old, edits[path]); err != nil {
			return nil, fmt.Errorf("%s: an edit %w", t.all.show(path), err)
		}
		if one.New != one.Old {
			all = append(all, one)
		}
	}
	return all, nil
}

// edited returns a text after edits. The error continues a sentence about an edit.
func edited(text string, edits []textEdit) (string, error) {
	type part struct {
		from, to int
		text     string
	}
	if strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), "\r") {
		return "", errors.New("is in a text with carriage returns inside of lines, whose lines servers count differently")
	}
	starts := lineStarts(text)
	parts := make([]part, 0, len(edits))
	for _, e := range edits {
		if e.Range == nil || e.NewText == nil {
			return "", errors.New("has no range or no text")
		}
		from, err := offsetOf(text, starts, e.Range.Start)
		if err != nil {
			return "", err
		}
		to, err := offsetOf(text, starts, e.Range.End)
		if err != nil {
			return "", err
		}
		parts = append(parts, part{from, to, *e.NewText})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	read := 0
	for _, p := range parts {
		if p.from < read || p.to < p.from {
			return "", errors.New("overlaps another one")
		}
		b.WriteString(text[read:p.from] + p.text)
		read = p.to
	}
	return b.String() + text[read:], nil
}

// lineStarts returns the offsets of the lines of a text.
func lineStarts(text string) []int {
	starts := []int{0}
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, "\n") {
			starts = append(starts, starts[len(starts)-1]+len(line))
		}
	}
	return starts
}

var errPosition = errors.New("has a position outside of the text")

// offsetOf returns the offset of a position in a text, whose lines begin at starts.
func offsetOf(text string, starts []int, p position) (int, error) {
	if p.Line < 0 || p.Line >= len(starts) || p.Character < 0 {
		return 0, errPosition
	}
	at := starts[p.Line]
	line, _, _ := strings.Cut(text[at:], "\n")
	line = strings.TrimSuffix(line, "\r")
	left := p.Character
	for i, r := range line {
		if left == 0 {
			return at + i, nil
		}
		if left -= units(string(r)); left < 0 {
			return 0, errPosition
		}
	}
	if left > 0 {
		return 0, errPosition
	}
	return at + len(line), nil
}
