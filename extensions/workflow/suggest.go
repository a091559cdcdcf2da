package workflow

import (
	"strings"
	"unicode"
)

// Fitting returns the workflow that the words of a prompt fit, nil for none: the prompt has all words
// of its name, or four of the longer ones of its description. The first that fits best is taken.
func Fitting(all []Workflow, prompt string) *Workflow {
	said := make(map[string]bool)
	for _, w := range wordsOf(prompt) {
		said[w] = true
	}
	var best *Workflow
	most := 0
	for i := range all {
		if n := fitting(&all[i], said); n > most {
			best, most = &all[i], n
		}
	}
	return best
}

// named is how much the name counts, against a word of the description.
const named = 10

// fitting counts how well a workflow fits words, 0 if it does not.
func fitting(w *Workflow, said map[string]bool) int {
	name := wordsOf(w.Name)
	points := named * len(name)
	for _, word := range name {
		if !said[word] {
			points = 0
		}
	}
	counted := make(map[string]bool)
	for _, word := range wordsOf(w.Description) {
		if len(word) >= 4 && said[word] {
			counted[word] = true
		}
	}
	if points == 0 && len(counted) < 4 {
		return 0
	}
	return points + len(counted)
}

// wordsOf returns the words of a text in small letters, without the s of many.
func wordsOf(text string) []string {
	const most = 10_000 // bytes of a prompt that are looked at
	all := strings.FieldsFunc(strings.ToLower(text[:min(len(text), most)]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range all {
		if len(w) > 3 {
			all[i] = strings.TrimSuffix(w, "s")
		}
	}
	return all
}
