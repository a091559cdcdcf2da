// Package cli parses the command line and runs the program's commands.
//
//	code := cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"buddy/agent/action"
	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/debuglog"
	"buddy/app/exit"
	"buddy/app/fullscreen"
	"buddy/app/headless"
	"buddy/app/repl"
	"buddy/app/slash"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/texts"
	"buddy/views/markup"
)

// modeFlag is the value of --approve.
type modeFlag action.Mode

func (m *modeFlag) String() string { return string(*m) }

// Type names the value in the help.
func (*modeFlag) Type() string { return "mode" }

// Set accepts one of the modes.
func (m *modeFlag) Set(s string) error {
	if !slices.Contains(action.Modes, action.Mode(s)) {
		return fmt.Errorf("unknown mode (have: %s)", texts.Names(action.Modes))
	}
	*m = modeFlag(s)
	return nil
}

// sessionFlag is the value of --tmux.
type sessionFlag string

func (n *sessionFlag) String() string { return string(*n) }

// Type names the value in the help.
func (*sessionFlag) Type() string { return "name" }

// Set accepts a name that is not blank.
func (n *sessionFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("--tmux needs a name; without --tmux, buddy names the tmux session after its own session")
	}
	*n = sessionFlag(s)
	return nil
}

// cli holds what all commands share.
type cli struct {
	options      *compose.Options
	once         headless.Options
	debug, plain bool
	in, out, err *os.File  // results go to out, everything else to err
	results      io.Writer // out, or a buffer before it
	json         bool
}

func newCLI(stdin, stdout, stderr *os.File) *cli {
	return &cli{options: &compose.Options{}, in: stdin, out: stdout, err: stderr, results: stdout}
}

// buffered calls print and writes its output in large pieces, because a system call for each of ten thousand lines
// takes longer than finding the lines.
func buffered(s *cli, print func() error) error {
	buffer := bufio.NewWriterSize(s.out, 64<<10)
	s.results = buffer
	defer func() { s.results = s.out }()
	if err := print(); err != nil {
		return err // after a failed write, nothing more can be written
	}
	return buffer.Flush()
}

// print prints a line of a result to stdout, with untrusted text made safe by [markup.Answer].
func (s *cli) print(format string, args ...any) error {
	_, err := fmt.Fprintln(s.results, markup.Answer(fmt.Sprintf(format, args...)))
	return exit.Failure(err)
}

// hint prints a message to stderr.
func (s *cli) hint(format string, args ...any) {
	_, _ = fmt.Fprintln(s.err, "buddy: "+markup.Plain(fmt.Sprintf(format, args...)))
}

// encode prints a value as one line of JSON.
func (s *cli) encode(v any) error { return s.indented(v, "") }

// indented prints a value as JSON, with an indent before all lines but the first.
func (s *cli) indented(v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	if err == nil {
		_, err = s.results.Write(texts.PrintableJSON(b.Bytes()))
	}
	return exit.Failure(err)
}

// runCommand runs a slash command without a session, and prints its answer.
func runCommand(ctx context.Context, s *cli, words ...string) error {
	session := &commands.Session{Options: s.options}
	if c, _ := slash.Find(words[0]); c.Early {
		setup, err := compose.NewSetup(s.options, slash.ThisMachine, "")
		if err != nil {
			return err
		}
		session.Setup = &setup
	}
	a, err := commands.Run(ctx, session, words...)
	switch {
	case err != nil:
		return exit.Failure(err)
	case s.json:
		return s.indented(a.Value(), "\t")
	}
	return s.print("%s", a)
}

// addTable adds the slash commands that are also commands of the command line.
func addTable(s *cli, root *cobra.Command) {
	for _, row := range slash.Commands {
		if row.CLI == "" {
			continue
		}
		c := &cobra.Command{
			Use: strings.TrimSpace(row.Name + " " + row.Args), Short: row.Help, Example: "  " + row.CLI,
			RunE: func(c *cobra.Command, args []string) error {
				return runCommand(c.Context(), s, append([]string{row.Name}, args...)...)
			},
		}
		s.jsonFlag(c, "print machine-readable output")
		root.AddCommand(c)
	}
}

func (s *cli) jsonFlag(c *cobra.Command, help string) {
	c.Flags().BoolVar(&s.json, "json", false, help)
}

// group makes a command that only has subcommands.
func group(c *cobra.Command, all ...*cobra.Command) *cobra.Command {
	c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(all...)
	return c
}

// Main runs a command and returns its exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	s := newCLI(stdin, stdout, stderr)
	s.options.Line = args
	root := s.root()
	root.SetArgs(printed(root, namedWorktree(root, args)))
	ran, err := root, failIfClosed(stdout)
	if err == nil {
		ran, err = root.ExecuteC()
	}
	s.options.Log.Close(s.once.Said(stderr))
	if err == nil {
		return exit.Done
	}
	e := exit.Error{Code: exit.BadUsage, Text: err.Error(), Help: true} // cobra's errors are usage errors
	if _, ok := errors.AsType[*fs.PathError](err); ok {                 // except for unwritable output
		e = exit.Error{Code: exit.Failed, Text: err.Error()}
	}
	errors.As(err, &e)
	if e.Text != "" {
		_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(e.Text))
	}
	if e.Help {
		_, _ = fmt.Fprintf(stderr, "buddy: %s --help lists the commands and options\n", ran.CommandPath())
	}
	return e.Code
}

// Command returns the command line, for programs that document it.
func Command() *cobra.Command { return newCLI(os.Stdin, os.Stdout, os.Stderr).root() }

func (s *cli) root() *cobra.Command {
	f := s.options
	begin := beginning{cli: s}
	root := &cobra.Command{
		Use:   "buddy [PROMPT]",
		Short: "a terminal agent that works in real tmux panes and asks first",
		Long: "buddy talks to a language model in one pane and runs commands in real tmux panes\n" +
			"that you can watch, type into and attach to. It asks before it changes anything.\n\n" +
			"Without a command, it opens the full screen. Without a model, it opens a built-in demo.\n\n" +
			"A PROMPT of several words in quotes is sent when the screen opens. A single word is read as a\n" +
			"command, never as a PROMPT. Everything after -- is a PROMPT.\n\n" +
			"Exit codes: 0 for success, 1 for a failure, 2 for wrong usage or an error in the configuration, 130\n" +
			"when cancelled. If several prompts come from a pipe, the last one decides. A closed terminal (129)\n" +
			"and SIGTERM (143) cancel nothing. After these, and after SIGINT (130) or SIGQUIT (131), a\n" +
			"full-screen session keeps running, and buddy attach returns to it. Without the full screen, commands\n" +
			"keep running in their panes, and buddy resume continues the session.",
		Example: "  buddy\n  buddy \"why does the build fail?\"\n  buddy -c\n  buddy --model fast -C ~/src/shop\n  buddy --ssh root@web-02\n  buddy attach\n  buddy exec \"why does the build fail?\"\n" +
			"  source <(buddy completion bash)",
		Version:       version.Text(),
		Args:          cobra.ArbitraryArgs, // see beginning
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) (err error) {
			if c.HasParent() && c.Name() != "exec" && c.Name() != "review" { // these two call enter later
				if err := enter(f); err != nil {
					return err
				}
			}
			if s.debug {
				f.Log, err = debuglog.Open()
			}
			return exit.Failure(err)
		},
		RunE: begin.run,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetIn(s.in)
	root.CompletionOptions.SetDefaultShellCompDirective(onlyThese)
	root.SetFlagErrorFunc(wrongFlag)
	begin.flags(root.Flags())
	sharedFlags(s, root.PersistentFlags())
	root.AddCommand(
		s.attachCommand(), dashboardCommand(s), s.lsCommand(), s.logsCommand(), s.approveCommand(), s.stopCommand(), s.resumeCommand(), s.sessionsCommand(), s.execCommand(), reviewCommand(s), s.policyCommand(), s.trustCommand(), (&mcpCLI{s}).command(), (&workflowCLI{s}).command(), (&memoryCLI{s}).command(), (&pluginCLI{s}).command(), s.traceCommand(), s.replayCommand(),
		acpCommand(s), usageCommand(s), s.configCommand(), s.modelsCommand(), s.loginCommand(), s.logoutCommand(), s.doctorCommand(), s.initCommand(), worktreesCommand(s), runsCommand(s),
	)
	addTable(s, root)
	completeFlags(root, f)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		group(c)
	}
	explainArgs(root)
	explainHelp(root)
	return root
}

func sharedFlags(s *cli, p *pflag.FlagSet) {
	f := s.options
	p.Var((*modeFlag)(&f.Approve), "approve", "the permission `mode`: "+texts.Names(action.Modes)+"; auto runs commands in a sandbox, all never asks, plan only reads (default: from the settings, or ask)")
	p.StringVar(&f.Config, "config", "", "use this settings `file` instead of the usual ones")
	p.StringVar(&f.Model, "model", "", "a `name` from buddy models, NAME/MODEL, or a model's id; demo is built in")
	p.StringVar(&f.BaseURL, "base-url", "", "the `URL` of the model's endpoint")
	p.StringVar(&f.Theme, "theme", "", "the colour theme's `name`: auto, dark, light, high-contrast, solarized or your own theme")
	p.BoolVar(&f.NoColor, "no-color", false, "no colours")
	p.BoolVar(&s.plain, "plain", false, "plain mode: a prompt line instead of the full screen; always used without a terminal")
	p.Var((*sessionFlag)(&f.Tmux), "tmux", "`name` of the tmux session for commands (default: buddy- and the start of the session's id)")
	p.BoolVar(&s.debug, "debug", false, "log requests, retries and tmux commands, without texts and keys, to a file whose name is printed at exit")
	p.StringVar(&f.SSH, "ssh", "", "work on another machine: `user@host`, or a host from your ssh configuration")
	p.StringVar(&f.SSHConfig, "ssh-config", "", "use this ssh configuration `file` instead of the usual ones")
	p.StringVar(&f.Container, "container", "", "work in a running docker or podman `container`, by name or id")
	p.StringSliceVar(&f.Targets, "target", nil, "start on this `target` from your settings; separate several with commas; local is this machine")
	p.StringVarP(&f.Dir, "cwd", "C", "", "the `folder` to work in, where commands run")
	p.StringArrayVar(&f.Also, "add-dir", nil, "another `folder` whose files may be read without asking (repeatable)")
}

// enter changes to the folder of -C, so that the settings and sessions of that folder apply. It does nothing if the
// folder is on another target.
func enter(f *compose.Options) error {
	if f.Dir == "" || f.SSH != "" || f.Container != "" || len(f.Targets) > 0 && f.Targets[0] != slash.ThisMachine {
		return nil
	}
	dir, err := filepath.Abs(f.Dir) // absolute, so that entering it again has no effect
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		return exit.Usage("%v", err)
	}
	f.Dir = dir
	return nil
}

// lineByLine reports whether to use plain mode instead of the full screen.
func lineByLine(s *cli) bool { return s.plain || repl.Wanted(s.in, s.out) }

// interactive runs sessions with the user, on the full screen or in plain mode.
func (s *cli) interactive(first slash.Next) error {
	if err := compose.ByPerson(); err != nil {
		return err
	}
	socket.Private()
	if lineByLine(s) {
		return repl.Run(s.options, first, s.in, s.out, s.err)
	}
	return fullscreen.Run(s.options, first)
}
