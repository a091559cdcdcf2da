package workflow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/texts"
)

// Given parses inputs that a person typed as name=value. The error names the first invalid one.
func Given(words []string) (map[string]string, error) {
	all := make(map[string]string, len(words))
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not an input: write name=value", texts.Clip(word, 80))
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%s is given twice", texts.Clip(name, 80))
		}
		all[name] = value
	}
	return all, nil
}

// Words splits a line at spaces. Text between quotes ' or " is part of a word; nothing else is special.
func Words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	var quote rune
	began := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, began = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if began {
				all = append(all, word.String())
			}
			word.Reset()
			began = false
		default:
			word.WriteRune(r)
			began = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if began {
		all = append(all, word.String())
	}
	return all, nil
}

// Line formats inputs for Words and Given.
func Line(given map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		switch {
		case !strings.ContainsAny(value, " \t\n'\""):
		case !strings.Contains(value, "'"):
			value = "'" + value + "'"
		default:
			value = `"` + strings.ReplaceAll(value, `"`, `"'"'"`) + `"`
		}
		all = append(all, name+"="+value)
	}
	return strings.Join(all, " ")
}
