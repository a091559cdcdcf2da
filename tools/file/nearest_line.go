package file

import (
	"errors"
	"fmt"
	"strings"

	"buddy/texts"
)

// notFound returns an error with the lines of text that are most similar to want, so that the model can correct want
// without reading the whole file again.
func notFound(text, want string) error {
	return errors.New("old_string was not found" + nearestTo(text, want, "old_string"))
}

// nearestTo returns a phrase that completes "the text does not contain want": the passage that looks like want, else
// the most similar lines. whose is the name of the argument that contains want.
func nearestTo(text, want, whose string) string {
	if passage := passageLike(text, want); passage != "" {
		return passage
	}
	wanted := lines(want)
	first := 0
	for first < len(wanted)-1 && strings.TrimSpace(wanted[first]) == "" {
		first++
	}
	have := lines(text)
	best, score := nearest(have, strings.TrimSpace(wanted[first]))
	if score < 0.5 {
		return ", nor a line like its first; read the file again"
	}
	// The nearest line may equal the first wanted line, so also show the first line that differs: the model has to
	// correct that one.
	for i := first; i < len(wanted); i++ {
		at := best + i - first
		if at >= len(have) {
			return fmt.Sprintf(": it matches from line %d on, but the file ends before it", best+1)
		}
		last := i == len(wanted)-1
		if have[at] == wanted[i] || last && strings.HasPrefix(have[at], wanted[i]) || i == 0 && strings.HasSuffix(have[at], wanted[i]) {
			continue
		}
		how := ""
		if squeeze(have[at]) == squeeze(wanted[i]) {
			how = ", which differs only in white space"
		}
		return fmt.Sprintf(": the nearest text differs at line %d, %q%s; %s has %q there", at+1, texts.ClipBytes(have[at], 200), how, whose, texts.ClipBytes(wanted[i], 200))
	}
	return fmt.Sprintf(": the text near line %d differs in its line ends", best+1)
}

// lines splits s into lines without their ends. The result has at least one line.
func lines(s string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// nearest returns the line most similar to want, and the similarity from 0 to 1: the share of the two lines that their
// common start and end make up.
func nearest(have []string, want string) (int, float64) {
	best, score := 0, 0.0
	for i, line := range have {
		line = strings.TrimSpace(line)
		longest := max(len(line), len(want))
		if longest == 0 || float64(min(len(line), len(want))) <= score*float64(longest) {
			continue // can't be more similar
		}
		begin, end := texts.Common(line, want)
		if s := float64(begin+end) / float64(longest); s > score {
			best, score = i, s
		}
	}
	return best, score
}
