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
	Name    string
	phrases [][]string // stems of each phrase; alternatives of a word are separated by |
	about   []string   // the longer words of the description, without duplicates
}

// Suggestions returns a suggestion for each workflow file, in order of precedence. It reads only descriptions and
// phrases: parsing and checking all files would take twenty times as long, and few prompts match any. So a suggested
// file may have mistakes.
func Suggestions(items []extensions.Item) []Suggestion {
	items, _ = extensions.Resolve(slices.Clone(items), func(string) bool { return false })
	suggestions := make([]Suggestion, len(items))
	for i, it := range items {
		head := headOf(it.Source)
		about := slices.DeleteFunc(stems(head.Description), func(word string) bool { return len(word) < 4 })
		slices.Sort(about)
		suggestions[i] = NewSuggestion(it.Name, append(head.Phrases, strings.NewReplacer("_", " ", "-", " ", ":", " ").Replace(it.Name))...)
		suggestions[i].about = slices.Compact(about)
	}
	return suggestions
}

// NewSuggestion returns a suggestion for prompts that contain all words of one of the phrases. A word may list
// alternatives: "update|bump dependency".
func NewSuggestion(name string, phrases ...string) Suggestion {
	s := Suggestion{Name: name}
	for _, phrase := range phrases {
		words := strings.Fields(strings.ToLower(phrase))
		for i, word := range words {
			all := strings.Split(word, "|")
			for j, one := range all {
				all[j] = stem(one)
			}
			words[i] = strings.Join(all, "|")
		}
		s.phrases = append(s.phrases, words)
	}
	return s
}

// head holds the settings of a workflow file that suggestions need.
type head struct {
	Description string
	Phrases     []string
}

// blocks matches the first long block of a file. The description is usually above it, so that the rest need not be
// parsed.
var blocks = texts.Regexp(`(?m)^(?:inputs|steps|outputs)\s*:`)

// headOf returns the head of a workflow file, empty if it can't be read.
func headOf(source string) (h head) {
	if at := blocks().FindStringIndex(source); at != nil && yaml.Unmarshal([]byte(source[:at[0]]), &h) == nil && h.Description != "" {
		return h
	}
	h = head{}
	if yaml.Unmarshal([]byte(source), &h) != nil {
		return head{}
	}
	return h
}

const (
	// MaxFitting limits the suggestions for one prompt.
	MaxFitting = 2
	maxExamine = 10_000 // bytes of a prompt that are examined
	maxApart   = 10     // words from the first to the last word of a phrase
	fewWords   = 4      // of a description
	phraseWord = 100    // weight of a word of a phrase; a word of the description counts 1
)

// Fitting returns the suggestions for a prompt, the best first. It takes a workflow if one sentence of the prompt
// contains all words of a phrase or of the name, close to each other, or if the prompt contains four of the longer
// words of the description. Sentences that ask for an explanation, talk about code, or say what not to do don't count.
// A second suggestion matches as many words as the first.
func Fitting(all []Suggestion, prompt string) []Suggestion {
	sentences := sentencesOf(prompt)
	var best []Suggestion
	most := 1
	for _, s := range all {
		switch n := s.weight(sentences); {
		case n > most && n/phraseWord > most/phraseWord, n > most && n < phraseWord:
			best, most = []Suggestion{s}, n
		case n >= phraseWord && n/phraseWord == most/phraseWord:
			if best = append(best, s); n > most {
				best[0], best[len(best)-1], most = s, best[0], n
			}
		}
	}
	return best[:min(len(best), MaxFitting)]
}

// weight returns how well a suggestion fits, 0 if it doesn't.
func (s *Suggestion) weight(sentences [][]string) int {
	points, words := 0, make(map[string]bool)
	for _, sentence := range sentences {
		for _, word := range sentence {
			words[word] = true
		}
		for _, phrase := range s.phrases {
			if n := span(sentence, phrase); n > 0 { // words that are closer together fit better
				points = max(points, phraseWord*len(phrase)+maxApart-n)
			}
		}
	}
	counted := 0
	for _, word := range s.about {
		if words[word] {
			counted++
		}
	}
	if points == 0 && counted >= fewWords {
		points = min(counted, phraseWord-1)
	}
	return points
}

// span returns the length, in words, of the shortest part of a sentence that contains all words of a phrase, in any
// order. It returns 0 if no part of at most maxApart words does.
func span(sentence, phrase []string) int {
	least := 0
	for from := range sentence {
		last := 0
		for _, word := range phrase {
			at := slices.IndexFunc(sentence[from:min(from+maxApart, len(sentence))], func(w string) bool { return contains(word, w) })
			if at < 0 {
				last = -1
				break
			}
			last = max(last, at)
		}
		if last >= 0 && len(phrase) > 0 && (least == 0 || last+1 < least) {
			least = last + 1
		}
	}
	return least
}

// contains reports whether a word is one of the alternatives in list.
func contains(list, word string) bool {
	for one := range strings.SplitSeq(list, "|") {
		if one == word {
			return true
		}
	}
	return false
}

// sentenceEnd matches the end of a sentence, which a period within a file name is not.
var sentenceEnd = texts.Regexp(`[!?;\n]+|\.(?:\s|$)`)

// beside matches sentences that ask for no work like that of a workflow: they say what not to do, ask for an
// explanation, or are about code and texts to write.
var beside = texts.Regexp(`\b(?:not|never|without|explain|function|method|class|variable|regex|struct|parser|logging|message|button|column|implement|refer to)\b` +
	`|^\s*(?:what (?:is|are) the difference|what (?:does|do|is an?)\b|how (?:does|do)\b|can you tell me what)`)

// sentencesOf returns the stems of a prompt's sentences that may ask for a workflow.
func sentencesOf(prompt string) (all [][]string) {
	text := strings.ToLower(prompt[:min(len(prompt), maxExamine)])
	text = strings.NewReplacer("n't", " not", "n’t", " not", "`", " ").Replace(text)
	for _, sentence := range sentenceEnd().Split(text, -1) {
		if !beside().MatchString(sentence) {
			all = append(all, stems(sentence))
		}
	}
	return all
}

// stems returns the stems of the words of a text. A path or file name is one word, followed by its ending with the
// period.
func stems(text string) (all []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '/' && r != '_'
	}) {
		w = strings.Trim(w, "./_")
		at := strings.LastIndexByte(w, '.')
		switch {
		case at > 0 || strings.Contains(w, "/"):
			if all = append(all, w); at > 0 {
				all = append(all, w[at:])
			}
		default:
			for _, part := range strings.Split(w, "_") {
				if part != "" {
					all = append(all, stem(part))
				}
			}
		}
	}
	return all
}

// endings are cut off to compare words, the longer ones first.
var endings = []string{"ies", "ing", "ed", "es", "e", "s", "y"}

// stem returns a word in lower case without a common ending and a double letter before it: updated and updates become
// updat.
func stem(word string) string {
	const least = 3
	if strings.HasPrefix(word, ".") {
		return word
	}
	for _, end := range endings {
		if rest, ok := strings.CutSuffix(word, end); ok && len(rest) >= least {
			word = rest
			break
		}
	}
	if n := len(word); n > least && word[n-1] == word[n-2] {
		word = word[:n-1]
	}
	return word
}
