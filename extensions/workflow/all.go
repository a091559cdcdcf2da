package workflow

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/inject"
	"buddy/extensions"
	"buddy/texts"
)

// Broken is a file that can't be run, with its mistakes.
type Broken struct {
	extensions.Item
	Mistakes []Mistake
}

// All reads files in order of precedence and resolves the names of the workflows. A file with mistakes is left out: it
// is in broken with all its mistakes, and a problem names the first one.
func All(items []extensions.Item, tools Tools) (all []Workflow, broken []Broken, problems []extensions.Problem) {
	read := make(map[string]Workflow) // by file
	var named []extensions.Item
	for _, it := range items {
		w, mistakes := Read(it, tools)
		if len(mistakes) > 0 {
			broken = append(broken, Broken{it, mistakes})
			why := mistakes[0].Key + ": " + mistakes[0].Reason
			if n := len(mistakes) - 1; n > 0 {
				why += fmt.Sprintf(" (and %d more)", n)
			}
			problems = append(problems, extensions.Problem{Kind: it.Kind, File: it.File, Line: mistakes[0].Line, Reason: why})
			continue
		}
		named, read[it.File] = append(named, it), w
	}
	named, clashes := extensions.Resolve(named, func(string) bool { return false })
	for _, it := range named {
		w := read[it.File]
		w.Item = it
		all = append(all, w)
	}
	return all, broken, append(problems, clashes...)
}

// Read reads and checks one file like All.
func Read(it extensions.Item, tools Tools) (Workflow, []Mistake) {
	w, mistakes := Parse([]byte(it.Source))
	mistakes = append(mistakes, w.Check(tools)...)
	slices.SortStableFunc(mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	bare := it.Name[strings.LastIndexByte(it.Name, ':')+1:]
	if len(mistakes) == 0 && w.Name != bare {
		mistakes = append(mistakes, Mistake{1, "name", fmt.Sprintf("is %s, and the file is called %s.yaml", w.Name, bare)})
	}
	if found := inject.Scan(w.Description); it.Origin != extensions.BuiltIn && inject.Worst(found) >= inject.High {
		mistakes = append(mistakes, Mistake{1, "description", fmt.Sprintf("%s: %q", found[0].Reason, texts.Clip(found[0].Excerpt, 80))})
	}
	w.Item = it
	return w, mistakes
}

// Find returns the workflow with a name. The error explains why there is none, with the first mistake of its file.
func Find(all []Workflow, broken []Broken, name string) (Workflow, error) {
	var names []string
	for _, w := range all {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	for _, b := range broken {
		if b.Name == name {
			return Workflow{}, fmt.Errorf("workflow %s: %s: %s", name, b.File, b.Mistakes[0])
		}
	}
	hint := ""
	for _, n := range names {
		if texts.Distance(n, name) <= 2 {
			hint = "; did you mean " + n + "?"
		}
	}
	return Workflow{}, fmt.Errorf("there is no workflow %q%s (buddy workflow list names all)", texts.Clip(name, 80), hint)
}
