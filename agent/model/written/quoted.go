package written

import (
	"encoding/json"
	"html"
	"slices"
	"strings"
	"unicode"

	"buddy/agent/model"
)

// isQuoted reports whether one of the calls occurs in what the model has read: prompts, results, reminders and system
// messages. A call from a file or a web page must not run just because the model quotes it.
func isQuoted(calls []model.ToolCall, msgs []model.Message) bool {
	for _, m := range msgs {
		if m.Role == model.Assistant {
			continue
		}
		text := letters(html.UnescapeString(m.Content))
		for _, c := range calls {
			if occurs(c, text) {
				return true
			}
		}
	}
	return false
}

// leads are the texts that directly precede a tool's name in the various notations for calls, reduced to letters.
var leads = []string{"name", "function", "functions", "toolcallbegin", "toolsep"}

// reasons are arguments without an effect. They are not compared, because a model may add them to a call that it
// quotes.
var reasons = []string{"why", "description", "justification", "explanation", "reason", "rationale"}

const (
	// around limits, together with twice the length of the arguments, how far a tool's name and its arguments may be
	// apart, in letters. Other arguments may be in between.
	around = 400
	// telling is the number of letters that a single matching argument needs to be no coincidence.
	telling = 8
)

// occurs reports whether a text, reduced to letters, contains a call: the tool's name as calls contain it, and near it
// all arguments or a long one, in any order, notation and spacing.
func occurs(c model.ToolCall, text string) bool {
	values := leaves(c.Arguments)
	reach := around
	for _, v := range values {
		reach += 2 * len(v)
	}
	for _, lead := range leads {
		name := lead + letters(c.Name)
		for at := 0; ; at++ {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i
			near := text[max(0, at-reach):min(len(text), at+len(name)+reach)]
			has := func(v string) bool { return strings.Contains(near, v) }
			if !slices.ContainsFunc(values, func(v string) bool { return !has(v) }) ||
				slices.ContainsFunc(values, func(v string) bool { return len(v) >= telling && has(v) }) {
				return true
			}
		}
	}
	return false
}

// leaves returns the letters of all strings and numbers in the arguments of a call, except those in the arguments that
// reasons lists.
func leaves(arguments string) (all []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, letters(v))
		case json.Number:
			all = append(all, letters(v.String()))
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				if !slices.Contains(reasons, k) {
					walk(e)
				}
			}
		}
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // they are valid JSON: the parser has read them
	walk(v)
	return all
}

// letters returns only the letters and digits of a text, in lower case. It decodes escapes and drops the syntax of
// JSON, code and web pages.
func letters(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i := 0; i < len(r); i++ {
		if r[i] == '\\' {
			for i < len(r) && r[i] == '\\' {
				i++
			}
			if i < len(r) && r[i] == 'u' {
				if code, ok := hex(r[i+1:]); ok {
					r[i+4] = code
					i += 4
				}
			} else if i < len(r) && strings.ContainsRune("nrtbf", r[i]) {
				continue
			}
			if i == len(r) {
				break
			}
		}
		if unicode.IsLetter(r[i]) || unicode.IsDigit(r[i]) {
			b.WriteRune(unicode.ToLower(r[i]))
		}
	}
	return b.String()
}

// hex reads the four digits of a Unicode escape.
func hex(r []rune) (code rune, ok bool) {
	if len(r) < 4 {
		return 0, false
	}
	for _, d := range r[:4] {
		i := strings.IndexRune("0123456789abcdef", unicode.ToLower(d))
		if i < 0 {
			return 0, false
		}
		code = code<<4 | rune(i)
	}
	return code, true
}
