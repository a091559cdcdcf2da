package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"buddy/texts/searchpath"
)

// LoadBuffer copies text to the paste buffer of the user's own tmux server, in which this program runs, and to the
// clipboard of the terminal around it. It fails if $TMUX, which names that server, is not set.
func LoadBuffer(ctx context.Context, text string) error {
	if os.Getenv("TMUX") == "" { // without it tmux would use any running server
		return errors.New("tmux load-buffer: this program does not run in tmux ($TMUX is not set)")
	}
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	cmd := searchpath.Command(ctx, "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tmux load-buffer of %d bytes: %w: %s", len(text), err, strings.TrimSpace(string(out)))
	}
	return nil
}
