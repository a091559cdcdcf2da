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
	if text == "" {
		u.hint("", "nothing to copy here")
		return
	}
	if len(text) > maxCopy {
		u.hint("", fmt.Sprintf("not copied: %d KB are more than a clipboard takes from a terminal (1 MB)", len(text)>>10))
		return
	}
	u.deps.copy(text)
	n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	lines := fmt.Sprintf("copied %d lines", n)
	if n == 1 {
		lines = "copied 1 line"
	}
	u.hint("", lines)
}

// copyAnswer copies the last answer, or the last code in it.
func copyAnswer(u *ui, args string) error {
	if args != "" && args != "code" {
		return fmt.Errorf("%q is not known (have: code, or nothing for the whole answer)", args)
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
