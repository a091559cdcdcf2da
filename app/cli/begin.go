package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/views/markup"
)

// beginning holds the flags that buddy accepts when it is called without a command.
type beginning struct {
	*cli
	resumeLast, print bool
	resume            string // the session to resume; the constant chosen opens the list
}

// chosen is the value of --resume if no session is named, so that the user chooses from a list. No session has this id
// or title.
const chosen = " "

func (b *beginning) flags(f *pflag.FlagSet) {
	f.BoolVarP(&b.resumeLast, "continue", "c", false, "continue the session that a person used last in this folder")
	f.StringVarP(&b.resume, "resume", "r", "", "continue a `session`: the start of its id, or words of its title; without one, choose from a list")
	f.Lookup("resume").NoOptDefVal = chosen // so -r ID leaves the ID among the arguments
	worktreeFlag(b.cli, f)
	f.BoolVarP(&b.print, "print", "p", false, "print the answer to the PROMPT, like buddy exec; accepts the flags of exec")
}

// printed replaces the option -p with the command exec, so that -p can be combined with exec's flags.
func printed(root *cobra.Command, args []string) []string {
	i := slices.IndexFunc(args, func(a string) bool { return a == "-p" || a == "--print" || a == "--" })
	if i < 0 || args[i] == "--" {
		return args
	}
	if c, _, err := root.Find(args); err != nil || c != root {
		return args // the command reports the unknown flag
	}
	return slices.Concat([]string{"exec"}, args[:i], args[i+1:])
}

// combined returns an error if the command line combines flags that exclude each other.
func (b *beginning) combined() error {
	switch {
	case b.print:
		return exit.Usage("write -p separately: buddy -p -c PROMPT")
	case b.options.Worktree != "" && (b.resumeLast || b.resume != ""):
		return exit.Usage("--worktree starts a session; it can't be combined with --continue or --resume, which return to the session's own folder")
	case b.resumeLast && b.resume != "":
		return exit.Usage("--continue and --resume can't be combined")
	}
	return nil
}

func (b *beginning) run(c *cobra.Command, args []string) error {
	if err := b.combined(); err != nil {
		return err
	}
	if b.resume == chosen && len(args) > 0 && c.ArgsLenAtDash() != 0 {
		b.resume, args = args[0], args[1:]
	}
	first, err := b.prompt(c, args)
	if err == nil && (b.resumeLast || b.resume != "") {
		err = enter(b.options) // the folder of the session
	}
	if err == nil && b.resumeLast {
		b.resume, err = lastOfPerson(b.cli)
	}
	if err != nil {
		return err
	}
	return inWorktree(b.cli, first, func() error { return open(b.cli, b.resume, first) })
}

// lastOfPerson returns the session for --continue: the session in this folder that the user worked in last. Sessions of
// buddy exec don't count.
func lastOfPerson(s *cli) (string, error) {
	store, err := compose.Sessions()
	if err != nil {
		return "", exit.Failure(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", exit.Failure(err)
	}
	last, passed, err := sessions.LastOfPerson(store, cwd)
	if err == nil {
		hintDamaged(s, passed)
	}
	return last.ID, exit.Failure(err)
}

// open resumes a session, opens the session list for chosen, or starts a new session for "". It sends the prompt, if
// any, to the session.
func open(s *cli, session, prompt string) error {
	next := slash.Next{Prompt: prompt}
	switch {
	case session == chosen && lineByLine(s):
		return exit.Usage("without the full screen, --resume needs a session: its id, words of its title, or last (buddy sessions list shows them)")
	case session == chosen && prompt != "":
		return exit.Usage("--resume with a PROMPT needs a session: its id, words of its title, or last (buddy sessions list shows them)")
	case session == chosen:
		next.Browse = true
	case session != "":
		var err error
		if _, next.Resume, err = meant(session); err != nil {
			return exit.Failure(compose.TrustFirst(session, err))
		}
	}
	return s.interactive(next)
}

// prompt returns the prompt in the arguments, "" for none. A word that may be a misspelled command is an error.
func (b *beginning) prompt(c *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	text := strings.Join(args, " ")
	switch meant := c.ArgsLenAtDash() >= 0; {
	case strings.TrimSpace(text) == "":
		return "", exit.Usage("the prompt is empty")
	case !meant && !strings.ContainsAny(args[0], " \t\n") && (len(args) == 1 || nearest(c, args[0]) != ""):
		return "", exit.Usage("unknown command %q%s; to send it as a prompt: buddy -- %s", markup.Shorten(args[0], 40), nearest(c, args[0]), markup.Shorten(text, 60))
	case !meant && len(args) > 1:
		return "", exit.Usage("put a prompt of several words in quotes: buddy %q", markup.Shorten(text, 60))
	case !term.IsTerminal(int(b.in.Fd())):
		return "", exit.Usage("a PROMPT opens the screen, but stdin is not a terminal; use buddy -p PROMPT, which also reads piped input")
	}
	return text, nil
}
