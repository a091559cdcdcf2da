package commands

import (
	"context"
	"fmt"

	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "diff", Args: "[base]", Brief: "show this session's file changes", Use: 8, Means: []string{"changes"},
		Help: "show all changes that the agent's file tools made in this session; in a session with --worktree, base shows all changes since the commit that the worktree started from",
	}, func(ctx context.Context, s *Session, args []string) (show.Answer, error) {
		if s.Program == nil {
			return show.Answer{}, feature.ErrNoSession
		}
		if len(args) > 0 {
			return diffToBase(ctx, s, args)
		}
		diff, files, err := s.Program.Changes()
		if err != nil || files == 0 {
			return show.Say("No file changes in this session: the agent's file tools changed nothing, or the changes were undone."), err
		}
		return show.Answer{Text: &show.Text{Title: "in " + texts.Plural(files, "file"), Body: diff, Form: show.Diff}}, nil
	})
}

// diffToBase shows how the session's worktree differs from the commit that it started from.
func diffToBase(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	if len(args) > 1 || args[0] != "base" {
		return show.Answer{}, fmt.Errorf("unknown arguments %q (have: none, base)", textOf(args))
	}
	diff, files, err := compose.DiffToBase(ctx, s.Program)
	if err != nil || files == 0 {
		return show.Say("No changes since the commit that this worktree started from."), err
	}
	return show.Answer{Text: &show.Text{Title: "in " + texts.Plural(files, "file") + " since the worktree's base", Body: diff, Form: show.Diff}}, nil
}
