package input

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"buddy/texts/searchpath"
	"buddy/tmux"
)

// clipboardTime limits how long copying to a clipboard may take.
const clipboardTime = 3 * time.Second

// Copy copies text to a surrounding tmux and with a desktop tool. ways names the ways that exist; the error, on one
// line, names the ways that failed.
func Copy(text string) (ways []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
	defer cancel()
	var failed []string
	if os.Getenv("TMUX") != "" {
		if err := tmux.LoadBuffer(ctx, text); err != nil {
			failed = append(failed, fmt.Sprintf("into tmux's buffer: %v", err))
		} else {
			ways = append(ways, "tmux's buffer")
		}
	}
	if tool := ClipboardTool(os.Getenv, searchpath.Look); tool != nil {
		if err := feed(ctx, tool, text); err != nil {
			failed = append(failed, err.Error())
		} else {
			ways = append(ways, tool[0])
		}
	}
	if len(failed) > 0 {
		err = errors.New(strings.Join(failed, "; "))
	}
	return ways, err
}

// ClipboardTool returns the command that copies its input to the desktop's clipboard; nil if there is none.
func ClipboardTool(getenv func(string) string, look func(string) (string, error)) []string {
	var tools [][]string
	if runtime.GOOS == "darwin" {
		tools = append(tools, []string{"pbcopy"})
	}
	if getenv("WAYLAND_DISPLAY") != "" {
		tools = append(tools, []string{"wl-copy"})
	}
	if getenv("DISPLAY") != "" {
		tools = append(tools, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
	}
	for _, t := range tools {
		if _, err := look(t[0]); err == nil {
			return t
		}
	}
	return nil
}

// feed runs a command with text as its input. The command may leave a process behind that serves the clipboard. That
// process inherits no open files, so that no reader waits for it to close them.
func feed(ctx context.Context, command []string, text string) error {
	c := searchpath.Command(ctx, command[0], command[1:]...)
	c.Stdin = strings.NewReader(text)
	if err := c.Run(); err != nil {
		return fmt.Errorf("with %s: %w", command[0], err)
	}
	return nil
}
