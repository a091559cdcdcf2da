package workflow

import (
	"slices"
	"strings"
	"unicode"
)

// Suggestion holds what prompts are compared with to suggest a workflow, so that the whole workflow need not be kept.
type Suggestion struct {
	Name  string
	Usage string   // how it is started
	name  []string // its words
	about []string // the longer words of the description, each once
}

// Suggestions returns the suggestion of each workflow, in their order.
func Suggestions(all []Workflow) []Suggestion {
	suggestions := make([]Suggestion, len(all))
	for i := range all {
		w := &all[i]
		about := slices.DeleteFunc(wordsOf(w.Description), func(word string) bool { return len(word) < 4 })
		slices.Sort(about)
		suggestions[i] = Suggestion{w.Name, w.Usage(), wordsOf(w.Name), slices.Compact(about)}
	}
	return suggestions
}

// Fitting returns the suggestion that the words of a prompt fit, nil for none: the prompt has all words
// of its name, or four of the longer ones of its description. The first that fits best is taken.
func Fitting(all []Suggestion, prompt string) *Suggestion {
	said := make(map[string]bool)
	for _, w := range wordsOf(prompt) {
		said[w] = true
	}
	var best *Suggestion
	most := 0
	for i := range all {
		if n := all[i].fits(said); n > most {
			best, most = &all[i], n
		}
	}
	return best
}

// named is how much the name counts, against a word of the description.
const named = 10

// fits counts how well a workflow fits words, 0 if it does not.
func (s *Suggestion) fits(said map[string]bool) int {
	points := named * len(s.name)
	for _, word := range s.name {
		if !said[word] {
			points = 0
		}
	}
	counted := 0
	for _, word := range s.about {
		if said[word] {
			counted++
		}
	}
	if points == 0 && counted < 4 {
		return 0
	}
	return points + counted
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
