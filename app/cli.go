// Package app is the program: its command line, its composition and its full screen.
//
//	prompt ── key ──▶ views ── intent ──▶ app ── event.Command ──▶ agent.Runtime
//	screen ◀─ draw ── views ◀─ Changed ── state.Apply ◀─ pump ◀─ event.Envelope ─┘
//
//	code := app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
package app

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/tmux/pane"
)

// Version is the program's version; releases set it when they are built.
var Version = "0.1.0-dev"

// Exit codes (SPEC, decision 2).
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
)

// flags are what the command line says.
type flags struct {
	config  string
	model   string
	baseURL string
	noColor bool
	theme   string
	tmux    string
	approve action.Mode

	// where commands run
	ssh       string
	sshConfig string
	container string
	targets   []string // of the configuration; the first is where the session begins
	dir       string

	// resume
	last bool
	fork bool
	at   int // exchange; 0 is the last

	// exec
	exec   bool
	json   bool
	resume string
}

// modeFlag is the value of --approve.
type modeFlag action.Mode

func (m *modeFlag) String() string { return string(*m) }

// Type names the value in the help.
func (*modeFlag) Type() string { return "mode" }

// Set takes one of the modes.
func (m *modeFlag) Set(s string) error {
	if !slices.Contains(action.Modes, action.Mode(s)) {
		return fmt.Errorf("unknown mode (have: %s)", modes())
	}
	*m = modeFlag(s)
	return nil
}

// exit is an error that carries an exit code. An empty text prints nothing.
type exit struct {
	code int
	text string
	help bool // the help says how it is right
}

func (e exit) Error() string { return e.text }

func usage(format string, args ...any) error {
	return exit{exitUsage, fmt.Sprintf(format, args...), true}
}

// Main runs the program and returns its exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) > 0 && args[0] == "pane" {
		return pane.Main(args[1:]) // the supervisor of a pane: started by us, not by people
	}
	root := commands(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	e := exit{exitUsage, err.Error(), true} // what cobra complains about is usage
	errors.As(err, &e)
	if e.text != "" {
		_, _ = fmt.Fprintln(stderr, "buddy: "+plain(e.text))
	}
	if e.help {
		_, _ = fmt.Fprintln(stderr, "buddy: run buddy --help for what there is")
	}
	return e.code
}

func commands(stdin, stdout, stderr *os.File) *cobra.Command {
	f := &flags{approve: action.ModeAsk}
	root := &cobra.Command{
		Use:   "buddy",
		Short: "a terminal agent that works in real tmux panes and asks first",
		Long: "buddy talks to a language model in one pane and runs commands in real tmux panes\n" +
			"that you can watch, type into and attach to. It asks before it changes anything.\n\n" +
			"Without a command it opens the full screen. Without a model it opens a built-in demo.",
		Version:       Version,
		Args:          cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return fullScreen(f, "") },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetIn(stdin)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("buddy {{.Version}}\n")
	p := root.PersistentFlags()
	p.Var((*modeFlag)(&f.approve), "approve", "how to decide what needs a yes: "+modes())
	p.StringVar(&f.config, "config", "", "a configuration file to use instead of the usual ones")
	p.StringVar(&f.model, "model", "", "a profile of the configuration, or the name of a model; demo is built in")
	p.StringVar(&f.baseURL, "base-url", "", "the endpoint to talk to")
	p.StringVar(&f.theme, "theme", "", "the colours: auto, dark, light, high-contrast, solarized or a theme of your own")
	p.BoolVar(&f.noColor, "no-color", false, "no colours")
	p.StringVar(&f.tmux, "tmux", "", "name of the tmux session that commands run in")
	p.StringVar(&f.ssh, "ssh", "", "work on another machine: user@host, or a name of your ssh configuration")
	p.StringVar(&f.sshConfig, "ssh-config", "", "an ssh configuration file to use instead of the usual ones")
	p.StringVar(&f.container, "container", "", "work in a running container of docker or podman, by name or id")
	p.StringSliceVar(&f.targets, "target", nil, "begin on a target of the configuration; after a comma, others, such as local for this machine")
	p.StringVarP(&f.dir, "cwd", "C", "", "the folder to work in, where commands run")
	_ = root.RegisterFlagCompletionFunc("target", completeTarget(f)) // fails for a flag that is not there
	root.AddCommand(
		resumeCommand(f), sessionsCommand(f, stdin, stdout, stderr), execCommand(f, stdin, stdout, stderr),
		policyCommand(f, stdout), trustCommand(stdout),
	)
	return root
}

func resumeCommand(f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "resume [ID]",
		Short: "go on with a session of this folder",
		Long: "resume opens a session where it ended. An ID may be shortened to any beginning that is unique.\n" +
			"With --fork it opens a copy and leaves the session as it is, even if it is in use.",
		Example: "  buddy resume --last\n  buddy resume 7f3a\n  buddy resume 7f3a --fork --at 3",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.Join(args, "")
			if f.last == (id != "") {
				return usage("resume takes either a session id or --last")
			}
			if f.last {
				id = "last"
			}
			if f.at != 0 && !f.fork || f.at < 0 {
				return usage("--at takes the number of an exchange, from 1, and needs --fork")
			}
			store, id, err := meant(id)
			if err == nil && f.fork {
				id, _, err = store.Fork(id, f.at)
			}
			if err != nil {
				return failed(err)
			}
			return fullScreen(f, id)
		},
	}
	c.Flags().BoolVar(&f.last, "last", false, "the session that was used last")
	c.Flags().BoolVar(&f.fork, "fork", false, "go on with a copy")
	c.Flags().IntVar(&f.at, "at", 0, "copy up to this exchange (buddy sessions show lists them); 0 is the last")
	return c
}

func execCommand(f *flags, stdin, stdout, stderr *os.File) *cobra.Command {
	c := &cobra.Command{
		Use:   "exec PROMPT",
		Short: "answer one prompt: the answer on stdout, all else on stderr",
		Long: "exec answers one prompt without the full screen. The answer alone goes to stdout,\n" +
			"all else to stderr. A PROMPT of - is read from stdin.\n\n" +
			"It exits 0 with an answer, 1 on a failure or a limit, 2 on wrong usage, 130 when cancelled.",
		Example: "  buddy exec \"what does this repository do?\"\n  git diff | buddy exec - --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f.exec = true
			prompt, err := readPrompt(args[0], stdin)
			if err != nil {
				return err
			}
			return execute(f, prompt, stdout, stderr)
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print every event as a line of JSON instead of the answer")
	c.Flags().StringVar(&f.resume, "resume", "", "go on with a session: its ID, or last")
	return c
}
