package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/markup"
)

func init() {
	add(slash.Command{
		Name: "undo", Means: []string{"revert"}, Use: 9, Args: "[N] [--force]", Brief: "undo the last file changes", Early: true,
		Help: "undo the file changes of the last prompt, subagents' included, or of the last N prompts that changed files; /checkpoints lists what it covers",
	}, onUndo)
}

// onUndo undoes the changes of the given number of prompts. Without a number it undoes those of the last prompt that
// changed files, and asks first if other prompts came after that prompt.
func onUndo(_ context.Context, s *Session, args []string) (show.Answer, error) {
	set, err := undoArgs(args)
	if err != nil {
		return show.Answer{}, err
	}
	if set.Steps == 0 && s.Since != nil {
		all := s.now().Prompts
		changes, err := s.Since() // if unknown, the session decides
		if b, ok := lastChanged(all, changes); err == nil && ok && changes[len(changes)-1].Later > 0 {
			return askUndo(b, changes, set.Force), nil
		}
	}
	s.Send(set)
	return show.Answer{}, nil
}

// undoArgs returns the number of prompts to undo, and whether to overwrite later changes.
func undoArgs(args []string) (set event.Undo, err error) {
	for _, word := range args {
		switch n, bad := strconv.Atoi(word); {
		case word == "":
		case word == "--force":
			set.Force = true
		case bad != nil || n < 1:
			return set, fmt.Errorf("unknown argument %q (have: a number of prompts, and --force)", word)
		default:
			set.Steps = n
		}
	}
	return set, nil
}

// lastChanged returns the prompt that changed files last, if it is known.
func lastChanged(all []state.Border, changes []undo.Change) (b state.Border, ok bool) {
	i := slices.IndexFunc(all, func(b state.Border) bool { return len(changes) > 0 && b.ID == changes[len(changes)-1].Prompt })
	if i < 0 {
		return b, false
	}
	return all[i], true
}

// askUndo asks whether to undo a prompt's changes although other prompts came after it.
func askUndo(b state.Border, changes []undo.Change, force bool) show.Answer {
	run := []string{"undo", "1"}
	if force {
		run = append(run, "--force")
	}
	return show.Answer{Question: &show.Question{
		Title:   "Undo?",
		Lines:   []string{fmt.Sprintf("The last prompt that changed files is “%[2]s”. You sent %[1]s after it.", texts.Plural(changes[len(changes)-1].Later, "prompt"), markup.Shorten(b.Words(), 40))},
		Choices: []show.Deed{{Label: "undo its changes: " + changedText(changes, b.ID), Run: run}},
	}}
}
