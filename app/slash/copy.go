package slash

import (
	"errors"
	"fmt"
	"strings"

	"buddy/app/state"
	"buddy/views/markup"
)

// MaxCopy bounds what is copied, in bytes: it goes through the terminal.
const MaxCopy = 1 << 20

// Copied says how much is copied, or why nothing is.
func Copied(text string) (string, error) {
	switch n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; {
	case text == "":
		return "", errors.New("nothing to copy here")
	case len(text) > MaxCopy:
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

// ToCopy is what /copy means.
func ToCopy(s *state.State, args string) (string, error) {
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
