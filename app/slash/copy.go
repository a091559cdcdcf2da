package slash

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"buddy/app/state"
	"buddy/texts"
	"buddy/views/markup"
)

// MaxCopy limits copied text, in bytes, because it goes through the terminal.
const MaxCopy = 1 << 20

// Copied returns the message that a text was copied, or an error if the text can't be copied.
func Copied(text string) (string, error) {
	switch n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; {
	case text == "":
		return "", errors.New("nothing to copy here")
	case len(text) > MaxCopy:
		return "", fmt.Errorf("not copied: %d KB is more than a terminal can copy to the clipboard (1 MB)", len(text)>>10)
	default:
		return "Copied " + texts.Plural(n, "line"), nil
	}
}

// conversationText returns the prompts, quoted, and the answers. It returns an error if they are more than can be
// copied.
func conversationText(newest iter.Seq[*state.Block]) (string, error) {
	var all []string
	size := -2
	for b := range newest {
		text := string(b.Text)
		switch b.Kind {
		case state.UserBlock:
			text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
		case state.AssistantBlock:
		default:
			continue
		}
		if size += len(text) + 2; size > MaxCopy {
			return "", errors.New("not copied: the conversation is longer than a terminal can copy to the clipboard (1 MB)")
		}
		all = append(all, text)
	}
	slices.Reverse(all)
	return strings.Join(all, "\n\n"), nil
}

// ToCopy returns the text that /copy with these arguments copies from the blocks of a conversation.
func ToCopy(newest iter.Seq[*state.Block], args string) (string, error) {
	switch args {
	case "", "code":
	case "all":
		return conversationText(newest)
	default:
		return "", fmt.Errorf("unknown argument %q (have: code, all; without one, /copy copies the whole answer)", args)
	}
	for b := range newest {
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
