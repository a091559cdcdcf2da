package slash

import (
	"fmt"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/state"
	"buddy/texts"
)

// NoPrompts is said when there is nothing to go back to.
const NoPrompts = "there is no prompt to go back to yet"

// Uncovered says what does not go back.
const Uncovered = "what commands changed is not put back"

// JoinedSign stands before a prompt that joined the exchange of another and goes back with it.
const JoinedSign = "↳ "

// What goes back, as people name it.
const (
	BackBoth         = "both"
	BackConversation = "conversation"
	BackFiles        = "files"
)

// RewindTo returns the command that goes back to before a prompt.
func RewindTo(b state.Border, what string, force bool) event.Rewind {
	return event.Rewind{ToSeq: b.Seq, Conversation: what != BackFiles, Files: what != BackConversation, Force: force}
}

// ChangedText returns how many files would go back with a prompt: "2 files +3 −1".
func ChangedText(changes []undo.Change, prompt int) string {
	c, ok := changedSince(changes, prompt)
	if !ok {
		return "no file"
	}
	return fmt.Sprintf("%s +%d −%d", texts.Plural(c.Files, "file"), c.Added, c.Removed)
}

// changedSince returns what has changed since a prompt; ok is false when no file has.
func changedSince(changes []undo.Change, prompt int) (c undo.Change, ok bool) {
	for _, c := range changes {
		if c.Prompt >= prompt {
			return c, c.Files > 0
		}
	}
	return c, false
}

// redo takes the newest undo or rewind back.
func redo(args string) (event.Command, error) {
	if args != "" && args != "--force" {
		return nil, fmt.Errorf("%q is not known (have: --force)", args)
	}
	return event.Redo{Force: args != ""}, nil
}
