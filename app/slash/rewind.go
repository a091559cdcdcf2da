package slash

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// OnRewind goes back to before one of the last prompts, or without arguments lists them.
func (c Catalog) OnRewind(s Frontend, args string) error {
	all := s.Prompts()
	if args == "" {
		Inform(s, "/rewind", func() (string, error) { return rewindList(all, c.Since, time.Now()) }, s.Say)
		return nil
	}
	back, what, force, err := rewindArgs(args)
	if err != nil {
		return err
	}
	if back > len(all) {
		return fmt.Errorf("there are %s to go back to", texts.Plural(len(all), "prompt"))
	}
	s.Command(RewindTo(all[len(all)-back], what, force))
	return nil
}

// rewindArgs reads how many prompts one goes back, with what, and whether also over what was changed since.
func rewindArgs(args string) (back int, what string, force bool, err error) {
	what = BackBoth
	for word := range strings.FieldsSeq(args) {
		switch word {
		case "--force":
			force = true
		case BackBoth, BackConversation, BackFiles:
			what = word
		default:
			if back, err = strconv.Atoi(word); err != nil || back < 1 {
				return 0, "", false, fmt.Errorf("%q is not known (have: how many prompts back, conversation, files, both and --force)", word)
			}
		}
	}
	if back == 0 {
		return 0, "", false, errors.New("say how many prompts back; /rewind alone lists them")
	}
	return back, what, force, nil
}

// rewindList describes the prompts that one can go back to, the newest first.
func rewindList(all []state.Border, since func() ([]undo.Change, error), now time.Time) (string, error) {
	if len(all) == 0 {
		return NoPrompts, nil
	}
	changes, err := since()
	if err != nil {
		return "", err
	}
	lines := []string{"go back to before a prompt with /rewind N, or /rewind N conversation or files:"}
	const most = 20
	for i := range min(len(all), most) {
		b := all[len(all)-1-i]
		lines = append(lines, fmt.Sprintf("%4d  %-5s  %-20s  %s", i+1, time.UnixMilli(b.Time).In(now.Location()).Format("15:04"), ChangedText(changes, b.ID), texts.Clip(b.Words(), 100)))
		for _, j := range b.Joined {
			lines = append(lines, fmt.Sprintf("      %-5s  %-20s  %s", "", "goes with it", JoinedSign+texts.Clip(j.Words(), 100)))
		}
	}
	if more := len(all) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("      and %d older", more))
	}
	return strings.Join(append(lines, Uncovered), "\n"), nil
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
