package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/app/screen"
	"buddy/app/ui"
	"buddy/config"
	"buddy/sessions"
	"buddy/themes"
)

func replayCommand(f *flags) *cobra.Command {
	speed := 1.0
	c := &cobra.Command{
		Use:   "replay ID",
		Short: "watch a session again, as it went",
		Long: "replay shows a session on the full screen as it went, with waits of at most two seconds.\n" +
			"Nothing runs and nothing is sent or changed; a session that is in use can be watched, too.\n" +
			"Space pauses, + and - change the speed, q ends it; the keys that scroll and change\n" +
			"panes work as always. An ID may be shortened to any beginning that is unique; last is\n" +
			"the session used last.",
		Example:           "  buddy replay last\n  buddy replay 7f3a --speed 4",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSessions,
		RunE: ofSession(func(store sessions.Store, id string, _ []string) error {
			if !(speed >= ui.SlowestReplay && speed <= ui.FastestReplay) { // false for NaN, too
				return usage("--speed must be a number from %g to %g", ui.SlowestReplay, ui.FastestReplay)
			}
			j, err := store.View(id)
			if err != nil {
				return err
			}
			defer func() { _ = j.Close() }()
			return watch(f, j, speed)
		}),
	}
	c.Flags().Float64Var(&speed, "speed", speed, "how many `times` as fast as it went")
	return c
}

// watch shows a session until the person leaves it.
func watch(f *flags, j *sessions.Journal, speed float64) error {
	p := &program{}
	var err error
	if p.config, p.index, _, err = config.Load(config.Options{Config: f.config, Model: f.model, Trust: trustStore()}); err != nil {
		return exit{code: exitUsage, text: err.Error()}
	}
	name, theme, err := firstTheme(f, p)
	if err != nil {
		return err
	}
	keys, err := boundKeys(p.config.Keys, p.index)
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
