package slash

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/fuzzy"
)

// DidYouMean returns a "did you mean" question with the command that people look for by an unknown name, or that has a
// similar name; "" if there is none. custom lists the session's own commands.
func DidYouMean(custom []event.CustomCommand, wrong string) string {
	word := strings.ToLower(wrong)
	for _, c := range Commands {
		if slices.Contains(c.Means, word) {
			return fmt.Sprintf(" (did you mean /%s?)", c.Name)
		}
	}
	names := make([]string, 0, len(Commands))
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	for _, c := range Typed(custom) {
		names = append(names, c.Name)
	}
	return fuzzy.DidYouMean("/", wrong, append(names, AliasNames()...))
}
