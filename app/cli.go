// Package app is the program: its command line and its composition, behind the full screen
// (package ui), line by line, or for one prompt.
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
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tmux/pane"
)

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
	plain   bool
	theme   string
	tmux    string
	approve action.Mode

	// where commands run
	ssh       string
	sshConfig string
	container string
	targets   []string // of the configuration; the first is where the session begins
	dir       string
	also      []string // more folders to work in

	debug bool
	log   *debugLog // nil without --debug

	// resume
	last bool
	fork bool
	at   int // exchange; 0 is the last

	// exec
	exec   bool
	resume string
	once   onceFlags
}

// modeFlag is the value of --approve.
type modeFlag action.Mode

func (m *modeFlag) String() string { return string(*m) }

// Type names the value in the help.
func (*modeFlag) Type() string { return "mode" }

// Set takes one of the modes.
func (m *modeFlag) Set(s string) error {
	if !slices.Contains(action.Modes, action.Mode(s)) {
		return fmt.Errorf("unknown mode (have: %s)", texts.Names(action.Modes))
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
	f := &flags{approve: action.ModeAsk}
	root := commands(f, stdin, stdout, stderr)
	root.SetArgs(args)
	ran, err := root.ExecuteC()
	f.log.close(f.once.said(stderr))
	if err == nil {
		return exitDone
	}
	e := exit{exitUsage, err.Error(), true} // what cobra complains about is usage
	errors.As(err, &e)
	if e.text != "" {
		_, _ = fmt.Fprintln(stderr, "buddy: "+plain(e.text))
	}
	if e.help {
		_, _ = fmt.Fprintf(stderr, "buddy: run %s --help for what there is\n", ran.CommandPath())
	}
	return e.code
}

// Command returns the command line, for who makes documents of it.
func Command() *cobra.Command {
	return commands(&flags{approve: action.ModeAsk}, os.Stdin, os.Stdout, os.Stderr)
}

func commands(f *flags, stdin, stdout, stderr *os.File) *cobra.Command {
	root := &cobra.Command{
		Use:   "buddy",
		Short: "a terminal agent that works in real tmux panes and asks first",
		Long: "buddy talks to a language model in one pane and runs commands in real tmux panes\n" +
			"that you can watch, type into and attach to. It asks before it changes anything.\n\n" +
			"Without a command it opens the full screen. Without a model it opens a built-in demo.\n\n" +
			"It exits 0 when all went well, 1 on a failure, 2 on wrong usage or a mistake in the configuration, and\n" +
			"130 when cancelled. Where prompts come from a pipe the last one decides. A closed terminal (129)\n" +
			"and SIGTERM (143) cancel nothing: commands go on in their panes, and resume goes on with the session.",
		Example: "  buddy\n  buddy --model fast -C ~/src/shop\n  buddy --ssh root@web-02\n  buddy exec \"why does the build fail?\"\n" +
			"  source <(buddy completion bash)",
		Version:       versionText(),
		Args:          cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) (err error) {
			if c.HasParent() && c.Name() != "exec" { // these two go there with their target
				if err := f.enter(); err != nil {
					return err
				}
			}
			if f.debug {
				f.log, err = openDebug()
			}
			return failed(err)
		},
		RunE: func(*cobra.Command, []string) error { return interactive(f, "", stdin, stdout, stderr) },
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetIn(stdin)
	root.CompletionOptions.SetDefaultShellCompDirective(onlyThese)
	root.SetVersionTemplate("buddy {{.Version}}\n")
	p := root.PersistentFlags()
	p.Var((*modeFlag)(&f.approve), "approve", "how to decide what needs a yes: "+texts.Names(action.Modes)+"; all asks nothing, plan only reads")
	p.StringVar(&f.config, "config", "", "a configuration `file` to use instead of the usual ones")
	p.StringVar(&f.model, "model", "", "a `name` that buddy models lists, NAME/MODEL, or the id of a model; demo is built in")
	p.StringVar(&f.baseURL, "base-url", "", "the `URL` of the endpoint to talk to")
	p.StringVar(&f.theme, "theme", "", "the colours by `name`: auto, dark, light, high-contrast, solarized or a theme of your own")
	p.BoolVar(&f.noColor, "no-color", false, "no colours")
	p.BoolVar(&f.plain, "plain", false, "no full screen: a prompt that is read line by line, as without a terminal")
	p.StringVar(&f.tmux, "tmux", "", "`name` of the tmux session that commands run in")
	p.BoolVar(&f.debug, "debug", false, "log requests, retries and tmux commands to a file, named at the end; no texts, no keys")
	p.StringVar(&f.ssh, "ssh", "", "work on another machine: `user@host`, or a name of your ssh configuration")
	p.StringVar(&f.sshConfig, "ssh-config", "", "an ssh configuration `file` to use instead of the usual ones")
	p.StringVar(&f.container, "container", "", "work in a running `container` of docker or podman, by name or id")
	p.StringSliceVar(&f.targets, "target", nil, "begin on a `target` of the configuration; after a comma, others, such as local for this machine")
	p.StringVarP(&f.dir, "cwd", "C", "", "the `folder` to work in, where commands run")
	p.StringArrayVar(&f.also, "add-dir", nil, "one more `folder` to work in: its files are read without asking (may be repeated)")
	root.AddCommand(
		resumeCommand(f, stdin, stdout, stderr), sessionsCommand(f, stdin, stdout, stderr), execCommand(f, stdin, stdout, stderr),
		policyCommand(f, stdout), trustCommand(stdout), traceCommand(stdout, stderr), replayCommand(f), configCommand(f, stdin, stdout, stderr), modelsCommand(f, stdout, stderr),
		loginCommand(f, stdin, stdout, stderr), logoutCommand(f, stdout), doctorCommand(f, stdout, stderr), initCommand(f, stdin, stdout, stderr),
	)
	completeFlags(root, f)
	explainArgs(root)
	return root
}

// enter goes to the folder that -C names, unless it is one on another machine: the settings
// and sessions there are meant.
func (f *flags) enter() error {
	if f.dir == "" || f.ssh != "" || f.container != "" || len(f.targets) > 0 && f.targets[0] != onThisMachine {
		return nil
	}
	dir, err := filepath.Abs(f.dir) // whoever goes there again means the same one
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		return usage("%v", err)
	}
	f.dir = dir
	return nil
}

func resumeCommand(f *flags, stdin, stdout, stderr *os.File) *cobra.Command {
	c := &cobra.Command{
		Use:   "resume [ID]",
		Short: "go on with a session of this folder",
		Long: "resume opens a session where it ended. An ID may be shortened to any beginning that is unique.\n" +
			"With --fork it opens a copy and leaves the session as it is, even if it is in use.",
		Example: "  buddy resume --last\n  buddy resume 7f3a\n  buddy resume 7f3a --fork --at 3",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: completeSessions,
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
			from := id
			if err == nil && f.fork {
				id, _, err = store.Fork(from, f.at)
			}
			if err != nil {
				return failed(trustFirst(from, err))
			}
			return interactive(f, id, stdin, stdout, stderr)
		},
	}
	c.Flags().BoolVar(&f.last, "last", false, "the session that was used last")
	c.Flags().BoolVar(&f.fork, "fork", false, "go on with a copy")
	c.Flags().IntVar(&f.at, "at", 0, "copy up to this `exchange` (buddy sessions show lists them); 0 is the last")
	return c
}
