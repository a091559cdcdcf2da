package commands

import (
	"context"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

func init() {
	add(slash.Command{
		Name: "diff", Brief: "show this session's file changes", Use: 8, Means: []string{"changes"},
		Help: "show all changes that the agent's file tools made in this session",
	}, func(_ context.Context, s *Session, _ []string) (show.Answer, error) {
		if s.Program == nil {
			return show.Answer{}, feature.ErrNoSession
		}
		diff, files, err := s.Program.Changes()
		if err != nil || files == 0 {
			return show.Say("No file changes in this session: the agent's file tools changed nothing, or the changes were undone."), err
		}
		return show.Answer{Text: &show.Text{Title: "in " + texts.Plural(files, "file"), Body: diff, Form: show.Diff}}, nil
	})
}
