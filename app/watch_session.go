package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"buddy/agent/event"
	"buddy/app/screen"
	"buddy/app/ui"
	"buddy/sessions"
	"buddy/themes"
)

// watchSession shows a session until the person leaves it.
func watchSession(f *flags, j *sessions.Journal, speed float64) error {
	c, index, _, err := loadConfig(f)
	if err != nil {
		return err
	}
	name, theme, err := firstTheme(f, c, index)
	if err != nil {
		return err
	}
	keys, err := boundKeys(c.Keys, index)
	if err != nil {
		return err
	}
	s, err := screen.Open()
	if err != nil {
		return failed(err)
	}
	defer s.Fini()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	events := func(show func(event.Envelope) bool) error { return j.Range(0, show) }
	home, _ := os.UserHomeDir() // "" is unknown
	err = ui.Replay(ctx, s, ui.Looks{Theme: theme, Colours: coloursOf(f), Auto: name == themes.Auto}, keys, events, home, speed)
	s.Fini()
	if err != nil {
		return failed(fmt.Errorf("terminal: %w", err))
	}
	return nil
}
