package draw

import (
	"buddy/app/state"
	"buddy/texts"
)

// Used says how many tokens were used and what they cost, as far as that is known; "" for nothing.
// With words it says what the first number counts.
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
