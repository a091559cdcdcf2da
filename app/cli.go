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

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/app/slash"
	"buddy/tmux/pane"
	"buddy/views/markup"
)

// modeFlag is the value of --approve.
type modeFlag action.Mode

func (m *modeFlag) String() string { return string(*m) }

// Type names the value in the help.
func (*modeFlag) Type() string { return "mode" }

// Set takes one of the modes.
func (m *modeFlag) Set(s string) error {
	if !slices.Contains(action.Modes, action.Mode(s)) {
		return fmt.Errorf("unknown mode (have: %s)", slash.Modes())
	}
	*m = modeFlag(s)
	return nil
}

// Main runs the program and returns its exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) > 0 && args[0] == "pane" {
		return pane.Main(args[1:]) // the supervisor of a pane: started by us, not by people
	}
	f := &flags{approve: action.ModeAsk}
	var once onceFlags
	root := commands(f, &once, stdin, stdout, stderr)
	root.SetArgs(args)
	ran, err := root.ExecuteC()
	f.log.close(once.said(stderr))
	if err == nil {
		return exitDone
	}
	e := exit{exitUsage, err.Error(), true} // what cobra complains about is usage
	errors.As(err, &e)
	if e.text != "" {
		_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(e.text))
	}
	if e.help {
		_, _ = fmt.Fprintf(stderr, "buddy: run %s --help for what there is\n", ran.CommandPath())
	}
	return e.code
}

// Command returns the command line, for who makes documents of it.
func Command() *cobra.Command {
	return commands(&flags{approve: action.ModeAsk}, new(onceFlags), os.Stdin, os.Stdout, os.Stderr)
}

func commands(f *flags, once *onceFlags, stdin, stdout, stderr *os.File) *cobra.Command {
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
				if err := enter(f); err != nil {
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
	p.Var((*modeFlag)(&f.approve), "approve", "how to decide what needs a yes: "+slash.Modes()+"; all asks nothing, plan only reads")
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
		resumeCommand(f, stdin, stdout, stderr), sessionsCommand(f, stdin, stdout, stderr), execCommand(f, once, stdin, stdout, stderr),
		policyCommand(f, stdout), trustCommand(stdout), traceCommand(stdout, stderr), replayCommand(f), configCommand(f, stdin, stdout, stderr), modelsCommand(f, stdout, stderr),
		loginCommand(f, stdin, stdout, stderr), logoutCommand(f, stdout), doctorCommand(f, stdout, stderr), initCommand(f, stdin, stdout, stderr),
	)
	completeFlags(root, f)
	explainArgs(root)
	return root
}

// enter goes to the folder that -C names, unless it is one on another machine: the settings
// and sessions there are meant.
func enter(f *flags) error {
	if f.dir == "" || f.ssh != "" || f.container != "" || len(f.targets) > 0 && f.targets[0] != slash.ThisMachine {
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

// interactive talks with a person, on the full screen or line by line.
func interactive(f *flags, resume string, stdin, stdout, stderr *os.File) error {
	if lineMode(f, stdin, stdout) {
		return readLines(f, resume, stdin, stdout, stderr)
	}
	return fullScreen(f, resume)
}
