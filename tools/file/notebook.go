package file

import (
	"fmt"
	"path/filepath"
	"strings"

	"buddy/texts"
	"buddy/tools/notebook"
	"buddy/tools/patch"
)

// emptyNotebook has no cells.
const emptyNotebook = `{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}` + "\n"

// isNotebook reports whether a file has the name ending of a notebook.
func isNotebook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".ipynb") }

// notebookOf returns the notebook in the file at path, nil if the file is no notebook or can only be shown as JSON.
func notebookOf(path, text string) *notebook.Notebook {
	if !isNotebook(path) {
		return nil
	}
	if n, ok := notebook.Read(text); ok {
		return n
	}
	return nil
}

// notebookText returns the cells of a notebook as text.
func notebookText(n *notebook.Notebook) text {
	note := fmt.Sprintf("%s of a notebook, outputs shortened; edits are made in this text, in which \"=== cell, code ===\" begins a new cell", texts.Plural(n.Cells(), "cell"))
	return text{from: strings.NewReader(n.Text()), lines: countLines(n.Text()), note: note}
}

// edit makes one replacement in the file at path and returns how many places it changed. In a notebook it changes the
// sources as displayed or, if these don't match, the JSON.
func (d document) edit(path string, e edit) (document, int, error) {
	if n := notebookOf(path, d.text); n != nil {
		sources := n.Sources()
		parts, err := replacements(sources, e.OldString, e.NewString, e.ReplaceAll)
		if err == nil {
			shown, _ := document{text: n.Text(), data: []byte(n.Text())}.splice(parts, false) // n.Text() is valid UTF-8
			d, err = d.cells(n, shown.text)
			return d, len(parts), err
		}
		if strings.Contains(sources, e.OldString) || !strings.Contains(d.text, e.OldString) {
			return d, 0, err
		}
	}
	parts, err := replacements(d.text, e.OldString, e.NewString, e.ReplaceAll)
	if err != nil {
		return d, 0, err
	}
	d, err = d.splice(parts, false)
	return d, len(parts), err
}

// written returns the document at path with its content replaced by text, which may be the cells of a notebook.
func (d document) written(path, text string) (document, error) {
	if isNotebook(path) && strings.HasPrefix(text, "=== cell") {
		base := d
		if d.text == "" {
			base = open([]byte(emptyNotebook))
		}
		if n := notebookOf(path, base.text); n != nil {
			return base.cells(n, text)
		}
	}
	return d.replaced(text)
}

// cells returns the document of a notebook with other cells.
func (d document) cells(n *notebook.Notebook, shown string) (document, error) {
	json, err := n.Become(shown)
	if err != nil {
		return d, err
	}
	return d.become(json, false)
}

// patched applies the hunks of a patch to the file at path. In a notebook they apply to the displayed cells or, if they
// don't fit there, to the JSON.
func (d document) patched(path string, f patch.File) (document, error) {
	n := notebookOf(path, d.text)
	if n != nil && f.New != "" {
		if shown, err := f.Apply(n.Text()); err == nil {
			return d.cells(n, shown)
		}
	}
	after, err := f.Apply(d.text)
	if err != nil || f.New == "" {
		return d, err
	}
	return d.become(after, false)
}
