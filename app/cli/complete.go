package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/app/compose"
	"buddy/app/fullscreen"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/themes"
	"buddy/tmux/host"
	"buddy/views/markup"
)

// completeTime limits completions that run programs or connect to something.
const completeTime = 2 * time.Second

const (
	onlyThese = cobra.ShellCompDirectiveNoFileComp
	inOrder   = onlyThese | cobra.ShellCompDirectiveKeepOrder
)

// completeFlags registers completions for the flags of all commands.
func completeFlags(root *cobra.Command, f *compose.Options) {
	for name, of := range map[string]func() []cobra.Completion{
		"model": modelNames(f), "theme": func() []cobra.Completion {
			return append([]cobra.Completion{themes.Auto}, themes.Names(fullscreen.Colours(f).Dir)...)
		}, "approve": modeNames,
		"ssh":       func() []cobra.Completion { return host.SSHNames(f.SSHConfig) },
		"container": containers,
		"tmux":      none, "base-url": none,
	} {
		complete(root, name, onlyThese, of)
	}
	_ = root.RegisterFlagCompletionFunc("target", completeTarget(f))
	_ = root.MarkPersistentFlagFilename("config", "toml") // fails only for an unknown flag
	_ = root.MarkPersistentFlagDirname("cwd")
	_ = root.MarkPersistentFlagDirname("add-dir")
}

// complete registers the completions of a flag.
func complete(c *cobra.Command, flag string, d cobra.ShellCompDirective, of func() []cobra.Completion) {
	_ = c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return of(), d
	})
}

func none() []cobra.Completion { return nil }

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// modelNames returns the names of the configured profiles. A configuration with an error has none.
func modelNames(f *compose.Options) func() []cobra.Completion {
	return func() []cobra.Completion {
		c, _, _, err := compose.LoadConfig(&compose.Options{Config: f.Config})
		if err != nil {
			return nil
		}
		var all []cobra.Completion
		for _, m := range c.Models {
			all = append(all, cobra.CompletionWithDesc(m.Name, markup.Inline(m.Model)))
		}
		return append(all, cobra.CompletionWithDesc(config.Demo, "built in"))
	}
}

func modeNames() []cobra.Completion {
	var all []cobra.Completion
	for _, m := range action.Modes {
		all = append(all, string(m))
	}
	return all
}

func containers() []cobra.Completion {
	ctx, stop := context.WithTimeout(context.Background(), completeTime)
	defer stop()
	return host.Containers(ctx)
}

// completeSessions completes the first argument with the session ids of this folder, described by their titles.
func completeSessions(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, onlyThese
	}
	return sessionNames(), inOrder
}

// sessionNames returns the sessions of this folder, last used first.
func sessionNames() []cobra.Completion {
	store, err := compose.Sessions()
	var entries []sessions.Entry
	if err == nil {
		entries, err = store.List()
	}
	if err != nil || len(entries) == 0 {
		return nil
	}
	all := []cobra.Completion{cobra.CompletionWithDesc("last", "the last session used")}
	for _, e := range entries {
		all = append(all, cobra.CompletionWithDesc(e.ID, markup.Inline(cmp.Or(e.Problem, e.Title))))
	}
	return all
}

// completeTarget completes --target.
func completeTarget(f *compose.Options) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := []string{slash.ThisMachine}
		c, _, _, err := compose.LoadConfig(&compose.Options{Config: f.Config})
		if err != nil {
			return names, cobra.ShellCompDirectiveError
		}
		for _, t := range c.Targets {
			names = append(names, t.Name+"\t"+t.Doc)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
