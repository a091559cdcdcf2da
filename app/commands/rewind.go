package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/features/feature"
	"buddy/texts"
	"buddy/views/markup"
)

func init() {
	add(slash.Command{
		Name: "rewind", Args: "[N [conversation|files|both] [--force]]", Brief: "rewind to before a prompt", Early: true,
		Means: []string{"checkpoint", "back", "restore"},
		Help:  "rewind to before the N-th last prompt: the conversation, the files the agent edited since, or both; without N, choose from a list; /redo undoes it",
	}, onRewind)
}

// The arguments of /rewind that name the parts to rewind.
const (
	backBoth         = "both"
	backConversation = "conversation"
	backFiles        = "files"
)

// compared is the argument for a list that also shows the changes since each prompt, which take longer to find.
const compared = "compared"

// onRewind rewinds to before one of the last prompts; without arguments it lists them.
func onRewind(_ context.Context, s *Session, args []string) (show.Answer, error) {
	if s.Now == nil {
		return show.Answer{}, errNoScreen
	}
	all := s.Now.Prompts
	switch word := textOf(args); {
	case len(all) == 0 && (word == "" || word == compared):
		return show.Answer{}, errors.New("there is no prompt to rewind to yet")
	case word == "":
		list := promptList(all, func(int) string { return "…" })
		list.Rest = []string{"rewind", compared}
		return show.Answer{List: list}, nil
	case word == compared:
		return show.Answer{List: comparedPrompts(s, all)}, nil
	}
	to, what, force, err := rewindArgs(all, args)
	if err == nil {
		s.Send(event.Rewind{ToSeq: to.Seq, Conversation: what != backFiles, Files: what != backConversation, Force: force})
	}
	return show.Answer{}, err
}

// rewindArgs returns the first prompt to rewind, the parts to rewind, and whether to overwrite later changes.
func rewindArgs(all []state.Border, args []string) (to state.Border, what string, force bool, err error) {
	what = backBoth
	for _, word := range args {
		switch seq, isSeq := strings.CutPrefix(word, "@"); {
		case word == "":
		case word == "--force":
			force = true
		case word == backBoth || word == backConversation || word == backFiles:
			what = word
		case isSeq: // from a list, which may be older than the last prompt
			i := slices.IndexFunc(all, func(b state.Border) bool { return strconv.FormatUint(b.Seq, 10) == seq })
			if i < 0 {
				return to, "", false, errors.New("that prompt no longer exists; /rewind lists the prompts")
			}
			to = all[i]
		default:
			back, err := strconv.Atoi(word)
			switch {
			case err != nil || back < 1:
				return to, "", false, fmt.Errorf("unknown argument %q (have: a number of prompts, conversation, files, both and --force)", word)
			case back > len(all):
				return to, "", false, fmt.Errorf("you can rewind at most %s", texts.Plural(len(all), "prompt"))
			}
			to = all[len(all)-back]
		}
	}
	if to.Seq == 0 {
		return to, "", false, errors.New("/rewind needs the number of prompts to go back; without arguments, /rewind lists the prompts")
	}
	return to, what, force, nil
}

// uncovered tells the user which changes a rewind does not undo.
const uncovered = "Not restored: ignored files, other folders, git's branches."

// comparedPrompts lists prompts, each with the changes since then, "?" if they are unknown.
func comparedPrompts(s *Session, all []state.Border) *show.List {
	changes, err := []undo.Change(nil), feature.ErrNoSession
	if s.Since != nil {
		changes, err = s.Since()
	}
	if err != nil {
		list := promptList(all, func(int) string { return "?" })
		list.Note = "File changes are unknown: " + err.Error()
		return list
	}
	return promptList(all, func(prompt int) string { return changedText(changes, prompt) })
}

// promptList lists the prompts to rewind to, the newest first, each with the prompts that are rewound with it.
func promptList(all []state.Border, changed func(prompt int) string) *show.List {
	list := show.List{
		Title: "Rewind to before", Columns: []string{"prompt", "asked", "file changes since"}, Note: uncovered, Most: 20,
		Usage: "/rewind N rewinds conversation and files. /rewind N conversation and /rewind N files rewind only one of them.",
	}
	for i, b := range slices.Backward(all) {
		list.Rows = append(list.Rows, promptRow(b, i, len(all)-i, changed(b.ID)))
	}
	return &list
}

// promptRow returns the list row of the prompt with index i. back is its number, counted from 1 for the last prompt.
func promptRow(b state.Border, i, back int, changed string) show.Row {
	text := texts.Clip(b.Words(), 100)
	r := show.Row{ID: strconv.Itoa(back), Title: "Rewind to before “" + markup.Shorten(b.Words(), 40) + "”"}
	for _, j := range b.Joined {
		text += " ↳ " + texts.Clip(j.Words(), 100)
		r.More = append(r.More, "“"+markup.Shorten(j.Words(), 40)+"” was sent while this prompt ran. It is rewound too.")
	}
	r.More = append(r.More, uncovered)
	r.Cells = []string{text, texts.Age(time.Since(time.UnixMilli(b.Time))), changed}
	do := func(label string, run ...string) {
		r.Deeds = append(r.Deeds, show.Deed{Label: label, Run: run, Closes: run[0] != "diff"})
	}
	at := "@" + strconv.FormatUint(b.Seq, 10)
	do("conversation and files ("+changed+")", "rewind", at, backBoth)
	do("conversation", "rewind", at, backConversation)
	do("files ("+changed+")", "rewind", at, backFiles)
	const fork = "fork: continue from there in a copy; this session stays as it is"
	if i == 0 { // nothing comes before it
		do(fork, "session", "new")
	} else {
		do(fork, "session", "fork", strconv.Itoa(i))
	}
	do("show all changes of this session", "diff")
	return r
}

// changedText counts the files that a rewind to before a prompt would restore: "2 files +3 −1".
func changedText(changes []undo.Change, prompt int) string {
	for _, c := range changes {
		if c.Prompt >= prompt && c.Files > 0 {
			return fmt.Sprintf("%s +%d −%d", texts.Plural(c.Files, "file"), c.Added, c.Removed)
		}
		if c.Prompt >= prompt {
			break
		}
	}
	return "no file changes"
}
