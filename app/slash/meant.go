package slash

import (
	"buddy/agent/event"
	"buddy/app/fuzzy"
)

// DidYouMean returns the question whether a command was meant by a name that is none, or "" if no name is near enough.
// custom are the commands of the session beside buddy's own.
func DidYouMean(custom []event.CustomCommand, wrong string) string {
	names := make([]string, 0, len(Commands))
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	for _, c := range Typed(custom) {
		names = append(names, c.Name)
	}
	return fuzzy.DidYouMean("/", wrong, append(names, AliasNames()...))
}
