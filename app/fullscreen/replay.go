package fullscreen

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/screen"
	"buddy/app/ui"
	"buddy/sessions"
)

// Replay plays a session until the user leaves it. It shows the events before the turn at once; 0 plays from the start.
func Replay(f *compose.Options, j *sessions.Journal, speed float64, turn int) error {
	c, index, _, err := compose.LoadConfig(f)
	if err != nil {
		return err
	}
	looks, err := LooksOf(f, c, index)
	if err != nil {
		return err
	}
	keys, err := compose.BoundKeys(c.Keys, index)
	if err != nil {
		return err
	}
	s, err := screen.Open()
	if err != nil {
		return exit.Failure(err)
	}
	defer s.Fini()
	s.SetMouse(c.UI.Mouse)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer cancel()
	events := func(show func(event.Envelope) bool) error { return j.Range(0, show) }
	home, _ := os.UserHomeDir() // "" if unknown
	err = ui.Replay(ctx, s, looks, keys, events, home, speed, turn)
	s.Fini()
	if err != nil {
		return exit.Failure(fmt.Errorf("terminal: %w", err))
	}
	return nil
}
