package slash

import (
	"slices"

	"buddy/agent/event"
	"buddy/views/markup"
)

// FindCustom returns the skill or custom command that a name calls.
func FindCustom(all []event.CustomCommand, name string) (event.CustomCommand, bool) {
	if i := slices.IndexFunc(all, func(c event.CustomCommand) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return event.CustomCommand{}, false
}

// Typed returns the skills and custom commands that a person calls by their name: one that has the name of
// a command of buddy's own is the model's only.
func Typed(all []event.CustomCommand) []event.CustomCommand {
	return slices.DeleteFunc(slices.Clone(all), func(c event.CustomCommand) bool {
		return slices.ContainsFunc(Commands, func(own Command) bool { return own.Name == c.Name })
	})
}

// maxHelp limits what is shown of a description, in characters.
const maxHelp = 90

// CustomHelp says on one line what a skill or a custom command does, what it takes, and whose it
// is.
func CustomHelp(c event.CustomCommand) string {
	text := "(" + c.Origin + ")"
	if c.Args != "" {
		text = markup.Shorten(c.Args, maxHelp/2) + " " + text
	}
	if c.Help != "" {
		text = markup.Shorten(c.Help, maxHelp) + " · " + text
	}
	return markup.Inline(text)
}
