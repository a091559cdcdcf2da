package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "rewind", Args: "[N [conversation|files|both] [--force]]", Brief: "go back to before a prompt", Early: true,
		Means: []string{"checkpoint", "back", "restore"},
		Help:  "go back to before the N-th last prompt: the conversation, the files that tools for files changed since, or both; without N, choose from a list; /redo takes it back",
	}, onRewind)
}

// onRewind goes back to before one of the last prompts, or without arguments lists them.
func onRewind(_ context.Context, s *Session, args []string) (show.Answer, error) {
	all := s.now().Prompts
	if textOf(args) == "" {
		return listPrompts(s, all)
	}
	back, what, force, err := rewindArgs(args)
	switch {
	case err != nil:
		return show.Answer{}, err
	case back > len(all):
		return show.Answer{}, fmt.Errorf("there are %s to go back to", texts.Plural(len(all), "prompt"))
	}
	s.Send(slash.RewindTo(all[len(all)-back], what, force))
	return show.Answer{}, nil
}

// rewindArgs reads how many prompts one goes back, with what, and whether also over what was changed since.
func rewindArgs(args []string) (back int, what string, force bool, err error) {
	what = slash.BackBoth
	for _, word := range args {
		switch word {
		case "":
		case "--force":
			force = true
		case slash.BackBoth, slash.BackConversation, slash.BackFiles:
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

// maxPrompts limits the prompts that a list shows.
const maxPrompts = 20

// listPrompts lists the prompts that one can go back to, the newest first, with those that go back with them.
func listPrompts(s *Session, all []state.Border) (show.Answer, error) {
	if len(all) == 0 {
		return show.Say(slash.NoPrompts), nil
	}
	if s.Since == nil {
		return show.Answer{}, errNoSession
	}
	changes, err := s.Since()
	return show.Answer{List: promptList(all, changes)}, err
}

func promptList(all []state.Border, changes []undo.Change) *show.List {
	list := show.List{
		Title: "Prompts", Columns: []string{"prompt", "asked", "changed since"}, Note: slash.Uncovered,
		Usage: "/rewind N goes back to before a prompt, /rewind N conversation or files to a part of it",
	}
	for i := range min(len(all), maxPrompts) {
		b := all[len(all)-1-i]
		text := texts.Clip(b.Words(), 100)
		for _, j := range b.Joined {
			text += " " + slash.JoinedSign + texts.Clip(j.Words(), 100)
		}
		list.Rows = append(list.Rows, show.Row{ID: strconv.Itoa(i + 1), Cells: []string{text, time.UnixMilli(b.Time).Format("15:04"), slash.ChangedText(changes, b.ID)}})
	}
	if more := len(all) - maxPrompts; more > 0 {
		list.Note = fmt.Sprintf("and %d older · %s", more, list.Note)
	}
	return &list
}
