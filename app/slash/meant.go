package slash

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/app/fuzzy"
)

// DidYouMean returns a "did you mean" question with the command that the user probably meant by an unknown name,
// because it is known by that word or has a similar name. It returns "" if there is no such command. custom lists the
// session's skills and custom commands.
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
