package ui

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
func (u *UI) copy(text string) {
	if text == "" {
		u.hint("", "nothing to copy here")
		return
	}
	if len(text) > maxCopy {
		u.hint("", fmt.Sprintf("not copied: %d KB are more than a clipboard takes from a terminal (1 MB)", len(text)>>10))
		return
	}
	u.deps.Copy(text)
	n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	lines := fmt.Sprintf("copied %d lines", n)
	if n == 1 {
		lines = "copied 1 line"
	}
	u.hint("", lines)
}

// talk is what was said, prompts quoted.
func (u *UI) talk() string {
	var all []string
	for _, b := range u.state.Blocks {
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
func copyAnswer(u *UI, args string) error {
	switch args {
	case "", "code":
	case "all":
		u.copy(u.talk())
		return nil
	default:
		return fmt.Errorf("%q is not known (have: code, all, or nothing for the whole answer)", args)
	}
	for i := len(u.state.Blocks) - 1; i >= 0; i-- {
		b := u.state.Blocks[i]
		if b.Kind != state.AssistantBlock {
			continue
		}
		text := string(b.Text)
		if args == "code" {
			blocks := markup.CodeBlocks(b.Text)
			if len(blocks) == 0 {
				return errors.New("the last answer has no code block")
			}
			text = blocks[len(blocks)-1]
		}
		u.copy(text)
		return nil
	}
	return errors.New("there is no answer yet")
}
