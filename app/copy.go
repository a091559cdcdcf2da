package app

import (
	"errors"
	"fmt"
	"strings"

	"buddy/app/state"
	"buddy/views/markup"
)

// maxCopy bounds what is copied, in bytes: it goes through the terminal.
const maxCopy = 1 << 20

// copy puts text on the clipboard and says so.
func (u *ui) copy(text string) {
	lines, err := copied(text)
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.deps.copy(text)
	u.hint("", lines)
}

// copied says how much is copied, or why nothing is.
func copied(text string) (string, error) {
	switch n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; {
	case text == "":
		return "", errors.New("nothing to copy here")
	case len(text) > maxCopy:
		return "", fmt.Errorf("not copied: %d KB are more than a clipboard takes from a terminal (1 MB)", len(text)>>10)
	default:
		return "copied " + state.Count(n, "line"), nil
	}
}

// talk is what was said, prompts quoted.
func talk(s *state.State) string {
	var all []string
	for _, b := range s.Blocks {
		switch b.Kind {
		case state.UserBlock:
			all = append(all, "> "+strings.ReplaceAll(string(b.Text), "\n", "\n> "))
		case state.AssistantBlock:
			all = append(all, string(b.Text))
		}
	}
	return strings.Join(all, "\n\n")
}

// copyAnswer copies the last answer, the last code in it, or all that was said.
func copyAnswer(u *ui, args string) error {
	text, err := toCopy(&u.state, args)
	if err == nil {
		u.copy(text)
	}
	return err
}

// toCopy is what /copy means.
func toCopy(s *state.State, args string) (string, error) {
	switch args {
	case "", "code":
	case "all":
		return talk(s), nil
	default:
		return "", fmt.Errorf("%q is not known (have: code, all, or nothing for the whole answer)", args)
	}
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		b := s.Blocks[i]
		if b.Kind != state.AssistantBlock {
			continue
		}
		if args == "" {
			return string(b.Text), nil
		}
		blocks := markup.CodeBlocks(b.Text)
		if len(blocks) == 0 {
			return "", errors.New("the last answer has no code block")
		}
		return blocks[len(blocks)-1], nil
	}
	return "", errors.New("there is no answer yet")
}
