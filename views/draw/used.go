package draw

import (
	"buddy/app/state"
	"buddy/texts"
)

// Used formats the number of tokens and their cost, as far as known; "" for nothing. With words it names what the first
// number counts.
func Used(u state.Used, words bool) string {
	n := u.Usage.Prompt + u.Usage.Completion
	if n == 0 && u.Cost == 0 {
		return ""
	}
	text := texts.Count(n)
	if words {
		text += " tokens"
	}
	if u.Cost > 0 {
		if words {
			text += " ·"
		}
		text += " " + u.Cost.String()
	}
	return text
}
