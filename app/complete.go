package app

import (
	"strings"

	"github.com/spf13/cobra"
)

// completeSessions completes the id of a session of this folder, with its title.
func completeSessions(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const only = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, only
	}
	store, err := here()
	if err != nil {
		return nil, only
	}
	entries, err := store.List()
	if err != nil || len(entries) == 0 {
		return nil, only
	}
	all := []cobra.Completion{cobra.CompletionWithDesc("last", "the session used last")}
	for _, e := range entries {
		all = append(all, cobra.CompletionWithDesc(e.ID, strings.TrimSpace(plain(e.Title))))
	}
	return all, only
}
