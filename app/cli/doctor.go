package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"buddy/app/doctor"
	"buddy/app/exit"
)

func (s *cli) doctorCommand() *cobra.Command {
	offline := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check buddy's setup and say how to fix problems",
		Long: "doctor checks the settings, the terminal, tmux, the clipboard, the proxies, the folders that buddy\n" +
			"writes to and the target of --ssh or --container, and asks the model for one word. It exits with 1\n" +
			"if something is broken.",
		Example: "  buddy doctor\n  buddy doctor --ssh root@web-02 --offline",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := context.WithTimeout(context.Background(), 2*doctor.AnswerTime)
			defer stop()
			all := doctor.Examine(ctx, s.options, !offline, s.err)
			var err error
			if s.json {
				err = s.indented(all, "\t")
			} else {
				_, err = io.WriteString(s.out, doctor.Text(all))
			}
			if err != nil {
				return exit.Failure(err)
			}
			for _, one := range all {
				if one.State == doctor.Broken {
					return exit.Error{Code: exit.Failed}
				}
			}
			return nil
		},
	}
	s.jsonFlag(c, "print a JSON list")
	c.Flags().BoolVar(&offline, "offline", false, "don't contact the model")
	return c
}
