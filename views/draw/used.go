package draw

import (
	"buddy/app/state"
	"buddy/texts"
)

// Used formats the number of tokens and their cost, as far as known; "" if neither is known. If words is set, it adds
// the unit of the first number.
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
