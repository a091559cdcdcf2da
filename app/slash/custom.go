package slash

import (
	"slices"

	"buddy/agent/event"
	"buddy/views/markup"
)

// FindCustom returns the skill or custom command with a name.
func FindCustom(all []event.CustomCommand, name string) (event.CustomCommand, bool) {
	if i := slices.IndexFunc(all, func(c event.CustomCommand) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return event.CustomCommand{}, false
}

// Typed returns the skills and custom commands that the user can call. A custom command with the name of a built-in
// command can only be called by the model.
func Typed(all []event.CustomCommand) []event.CustomCommand {
	return slices.DeleteFunc(slices.Clone(all), func(c event.CustomCommand) bool {
		return slices.ContainsFunc(Commands, func(own Command) bool { return own.Name == c.Name })
	})
}

// maxHelp limits the shown part of a description, in characters.
const maxHelp = 90

// CustomHelp describes a skill or custom command on one line: its purpose, its arguments and its origin.
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
