package tmux

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// CheckOutside refuses to run inside one of our own panes, where a program would share its
// terminal with the commands that it runs (E06). getenv looks up the environment, usually
// os.Getenv; outside tmux nothing is started.
func CheckOutside(ctx context.Context, getenv func(string) string) error {
	socket, _, _ := strings.Cut(getenv("TMUX"), ",")
	id := getenv("TMUX_PANE")
	if socket == "" || id == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	cmd := exec.CommandContext(ctx, "tmux", "-S", socket, "display-message", "-p", "-t", id, "#{@buddy_managed} #{@buddy_owner} #{@buddy_role} #{session_name}")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil // not to be asked: then it is not ours either
	}
	f := strings.SplitN(strings.TrimSuffix(string(out), "\n"), " ", 4)
	if len(f) < 4 || f[0] != "1" || f[1] != owner || f[2] == "" {
		return nil
	}
	return fmt.Errorf("this is pane %s of the session %s, in which commands run: use another terminal", id, f[3])
}
