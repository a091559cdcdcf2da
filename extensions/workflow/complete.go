package workflow

import (
	"slices"
	"strings"
)

// Word is a possible word of the line that starts a workflow, with its meaning.
type Word struct{ Word, Help string }

// Complete returns the possible words after the typed ones: names of workflows, then name= for the inputs without a
// value, required ones first. The help comes from files.
func Complete(all []Workflow, typed []string) (words []Word) {
	if len(typed) == 0 {
		for _, w := range all {
			words = append(words, Word{w.Name, w.Description})
		}
		return words
	}
	i := slices.IndexFunc(all, func(w Workflow) bool { return w.Name == typed[0] })
	if i < 0 {
		return nil
	}
	inputs := slices.Clone(all[i].Inputs)
	slices.SortStableFunc(inputs, func(a, b Input) int {
		switch {
		case a.Required() == b.Required():
			return 0
		case a.Required():
			return -1
		}
		return 1
	})
	for _, in := range inputs {
		if !slices.ContainsFunc(typed[1:], func(s string) bool { return strings.HasPrefix(s, in.Name+"=") }) {
			words = append(words, Word{in.Name + "=", string(in.Type) + ", " + in.about()})
		}
	}
	return words
}
