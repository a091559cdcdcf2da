package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"buddy/tmux"
)

// clipboardTime is how long a clipboard may take.
const clipboardTime = 3 * time.Second

// copy gives text to the clipboard in every way that there is: through the terminal
// (OSC 52, which works over ssh too), to the tmux around this program, and with a tool of
// the desktop that this program runs on.
func (w *window) copy(text string) {
	w.screen.SetClipboard([]byte(text))
	inTmux, tool := os.Getenv("TMUX") != "", clipboardTool(os.Getenv, exec.LookPath)
	if !inTmux && tool == nil {
		return
	}
	w.loop.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), clipboardTime)
		defer cancel()
		var err error
		if inTmux {
			if e := tmux.LoadBuffer(ctx, text); e != nil {
				err = fmt.Errorf("into tmux's buffer: %w", e)
			}
		}
		if tool != nil {
			err = errors.Join(err, feed(ctx, tool, text))
		}
		if err != nil {
			said := strings.ReplaceAll(err.Error(), "\n", "; ")
			w.loop.Post(func() { w.ui.Tell("copied, but not " + said) })
		}
	})
}

// clipboardTool is the command that puts its input on the desktop's clipboard; nil if there
// is none.
func clipboardTool(getenv func(string) string, look func(string) (string, error)) []string {
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

// feed runs a command that reads text. What it leaves behind to serve the clipboard has
// none of our files open, so that nobody waits for it.
func feed(ctx context.Context, command []string, text string) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = strings.NewReader(text)
	if err := c.Run(); err != nil {
		return fmt.Errorf("with %s: %w", command[0], err)
	}
	return nil
}
