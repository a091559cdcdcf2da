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
		Short: "replay a session on the screen",
		Long: "replay plays a session back on the full screen, with pauses of at most two seconds.\n" +
			"Nothing runs, and nothing is sent or changed. You can also replay a session that is in use.\n" +
			"Space pauses, + and - change the speed, q quits; keys that scroll and change panes\n" +
			"work as usual. You can shorten an ID to its first characters, as long as they are\n" +
			"unique; last is the session used last.",
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
	c.Flags().Float64Var(&speed, "speed", speed, "speed: how many `times` the original speed")
	c.Flags().IntVar(&turn, "turn", 0, "start at this turn `number`; earlier turns appear at once")
	return c
}
