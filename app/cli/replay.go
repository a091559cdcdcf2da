package cli

import (
	"github.com/spf13/cobra"

	"buddy/app/exit"
	"buddy/app/fullscreen"
	"buddy/app/ui"
	"buddy/sessions"
)

func (s *cli) replayCommand() *cobra.Command {
	speed, turn := 1.0, 0
	c := ofSession(&cobra.Command{
		Use:   "replay ID",
		Short: "watch a session again, as it went",
		Long: "replay shows a session on the full screen as it went, with waits of at most two seconds.\n" +
			"Nothing runs and nothing is sent or changed; a session that is in use can be watched, too.\n" +
			"Space pauses, + and - change the speed, q ends it; the keys that scroll and change\n" +
			"panes work as always. An ID may be shortened to any beginning that is unique; last is\n" +
			"the session used last.",
		Example: "  buddy replay last\n  buddy replay 7f3a --speed 4\n  buddy replay 7f3a --turn 12",
	}, func(store sessions.Store, id string, _ []string) error {
		if !(speed >= ui.SlowestReplay && speed <= ui.FastestReplay) { // false for NaN, too
			return exit.Usage("--speed must be a number from %g to %g", ui.SlowestReplay, ui.FastestReplay)
		}
		j, err := store.View(id)
		if err != nil {
			return err
		}
		defer func() { _ = j.Close() }()
		if err := hasTurn(j, turn); err != nil {
			return err
		}
		return fullscreen.Replay(s.options, j, speed, turn)
	})
	c.Flags().Float64Var(&speed, "speed", speed, "how many `times` as fast as it went")
	c.Flags().IntVar(&turn, "turn", 0, "start at the turn of this `number`; earlier turns show at once")
	return c
}
