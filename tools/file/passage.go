package file

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// Limits of a passage in an error.
const (
	maxPassage = 1500 // bytes; of a longer passage only lines that differ are shown
	maxLines   = 5    // of lines that differ
)

// passageLike returns a phrase that completes "the text does not contain want": a passage that looks the same, its
// exact spelling, and how it differs. It returns "" if there is no such passage.
func passageLike(text, want string) string {
	for _, ignored := range []trait{everyTrait &^ (cased | blanks), everyTrait &^ cased} {
		in, sought := foldText(text, ignored), fold(want, ignored)
		if strings.TrimSpace(sought) == "" {
			return ""
		}
		at := occurrences(string(in.text), sought)
		if len(at) == 0 {
			continue
		}
		start, there := in.passage(text, at[0], at[0]+len(sought), want)
		if there == strings.ReplaceAll(want, "\r\n", "\n") || !utf8.ValidString(there) {
			return "" // only line ends differ, or it can't be written in JSON
		}
		more := ""
		if len(at) > 1 {
			more = fmt.Sprintf(" (and %s more)", atMost(len(at)-1, maxOccurrences-1))
		}
		return fmt.Sprintf(": the text at line %d%s looks the same but %s; %s",
			strings.Count(text[:start], "\n")+1, more, differences(there, want), exactly(there, want))
	}
	return ""
}

// passage returns the part of text between the offsets from and to of the folded text, and its offset. It includes
// spaces at its ends if want does.
func (f *folded) passage(text string, from, to int, want string) (start int, there string) {
	start, end := int(f.at[from]), int(f.at[to])
	if strings.TrimLeft(want, " \t") != want {
		start = len(strings.TrimRight(text[:start], " \t"))
	}
	there = text[start:end]
	if strings.TrimRight(want, " \t\r") == want {
		there = strings.TrimRight(there, " \t\r")
	}
	return start, strings.ReplaceAll(there, "\r\n", "\n")
}

// exactly returns the exact spelling of a passage as a JSON string. For a long passage it returns only the lines that
// differ from want.
func exactly(there, want string) string {
	if len(there) <= maxPassage {
		return "as a string of JSON it is " + spelled(there)
	}
	var shown []string
	wanted := strings.Split(want, "\n")
	for i, line := range strings.Split(there, "\n") {
		if i < len(wanted) && strings.TrimSuffix(wanted[i], "\r") != line && len(shown) < maxLines {
			shown = append(shown, fmt.Sprintf("line %d of it is %s", i+1, spelled(texts.ClipBytes(line, maxPassage/maxLines))))
		}
	}
	return "as strings of JSON " + strings.Join(shown, ", ")
}
