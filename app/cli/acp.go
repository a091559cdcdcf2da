package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"buddy/app/acp"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/socket"
)

func acpCommand(s *cli) *cobra.Command {
	check, login := false, false
	c := &cobra.Command{
		Use:   "acp",
		Short: "run sessions for an editor (Agent Client Protocol)",
		Long: "acp lets an editor such as Zed run sessions: it speaks the Agent Client Protocol on stdin and\n" +
			"stdout. The editor starts it; docs/editors.md has the settings for each editor. Each session\n" +
			"also opens on the full screen: buddy attach while it runs, buddy resume later.",
		Example: "  buddy acp --check\n  buddy acp --model fast",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if login {
				return s.loginCommand().RunE(c, nil)
			}
			if err := compose.ByPerson(); err != nil {
				return err
			}
			socket.Private()
			if check {
				return exit.Failure(acp.Check(s.options, s.out))
			}
			return serveEditor(s)
		},
	}
	worktreeFlag(s, c.Flags())
	c.Flags().BoolVar(&check, "check", false, "test the protocol with the built-in demo, and print what works")
	c.Flags().BoolVar(&login, "login", false, "add a provider's API key, as buddy login does; editors use this")
	c.MarkFlagsMutuallyExclusive("check", "login")
	return c
}

// serveEditor serves an editor on stdin and stdout. Everything else that is printed on stdout appears on stderr,
// because it would break the protocol.
func serveEditor(s *cli) error {
	fd, err := unix.FcntlInt(s.out.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = dupOver(int(s.err.Fd()), int(s.out.Fd()))
	}
	if err != nil {
		return exit.Failure(fmt.Errorf("stdout: %w", err))
	}
	out := os.NewFile(uintptr(fd), "stdout")
	defer out.Close() //nolint:errcheck // the editor has gone
	acp.Serve(s.in, out, s.options)
	return nil
}
