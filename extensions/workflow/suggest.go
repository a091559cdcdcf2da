package workflow

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"buddy/extensions"
	"buddy/texts"
)

// Suggestion holds the words of a workflow, for comparison with prompts.
type Suggestion struct {
	Name  string
	name  []string // its words
	about []string // the longer words of the description, without duplicates
}

// Suggestions returns a suggestion for each workflow file, in order of precedence. It reads only the descriptions:
// parsing and checking all files would take twenty times as long, and few prompts match any. So a suggested file
// may have mistakes.
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

// blocks matches the start of the first long part of a file; the description is usually before it.
var blocks = texts.Regexp(`(?m)^(?:inputs|steps|outputs)\s*:`)

// descriptionIn returns the description in a workflow file, or "".
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

// Fitting returns the best suggestion for a prompt, or nil: the prompt must contain all words of its name, or four
// of the longer words of its description. The first of equally good ones wins.
func Fitting(all []Suggestion, prompt string) *Suggestion {
	words := make(map[string]bool)
	for _, w := range wordsOf(prompt) {
		words[w] = true
	}
	var best *Suggestion
	most := 0
	for i := range all {
		if n := all[i].fits(words); n > most {
			best, most = &all[i], n
		}
	}
	return best
}

// named is the weight of a word of the name; a word of the description counts 1.
const named = 10

// fits returns a score for a prompt's words, 0 if they do not match.
func (s *Suggestion) fits(words map[string]bool) int {
	points := named * len(s.name)
	for _, word := range s.name {
		if !words[word] {
			points = 0
		}
	}
	counted := 0
	for _, word := range s.about {
		if words[word] {
			counted++
		}
	}
	if points == 0 && counted < 4 {
		return 0
	}
	return points + counted
}

// wordsOf returns the words of a text in lower case, without a plural s.
func wordsOf(text string) []string {
	const most = 10_000 // bytes of a prompt that are examined
	all := strings.FieldsFunc(strings.ToLower(text[:min(len(text), most)]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range all {
		if len(w) > 3 {
			all[i] = strings.TrimSuffix(w, "s")
		}
	}
	return all
}
