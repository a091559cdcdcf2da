package workflow

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"buddy/extensions"
	"buddy/texts"
)

// Suggestion holds what prompts are compared with to suggest a workflow.
type Suggestion struct {
	Name  string
	name  []string // its words
	about []string // the longer words of the description, each once
}

// Suggestions returns the suggestion of each workflow file, those that take precedence first. They only take the
// description from a file: to read and check all of them costs twenty times as much, and few prompts fit any. So a
// suggestion may be of a file with mistakes.
func Suggestions(items []extensions.Item) []Suggestion {
	items, _ = extensions.Resolve(slices.Clone(items), func(string) bool { return false })
	suggestions := make([]Suggestion, len(items))
	for i, it := range items {
		about := slices.DeleteFunc(wordsOf(descriptionIn(it.Source)), func(word string) bool { return len(word) < 4 })
		slices.Sort(about)
		suggestions[i] = Suggestion{it.Name, wordsOf(it.Name), slices.Compact(about)}
	}
	return suggestions
}

// blocks finds where the first of the long parts of a file begins; what describes it usually stands before them.
var blocks = texts.Regexp(`(?m)^(?:inputs|steps|outputs)\s*:`)

// descriptionIn returns the description in a workflow file, "" if it has none that can be read.
func descriptionIn(source string) string {
	var file struct{ Description string }
	if at := blocks().FindStringIndex(source); at != nil && yaml.Unmarshal([]byte(source[:at[0]]), &file) == nil && file.Description != "" {
		return file.Description
	}
	if yaml.Unmarshal([]byte(source), &file) != nil {
		return ""
	}
	return file.Description
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

// named weighs the name against a word of the description.
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
