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
		Name: "diff", Brief: "all changes of files in this session", Use: 8, Means: []string{"changes"},
		Help: "all that the agent's tools for files changed in this session",
	}, func(_ context.Context, s *Session, _ []string) (show.Answer, error) {
		if s.Program == nil {
			return show.Answer{}, feature.ErrNoSession
		}
		diff, files, err := s.Program.Changes()
		if err != nil || files == 0 {
			return show.Say("the agent's tools for files changed nothing in this session, or it was put back"), err
		}
		return show.Answer{Text: &show.Text{Title: "in " + texts.Plural(files, "file"), Body: diff, Form: show.Diff}}, nil
	})
}
