package commands

import (
	"context"

	"buddy/app/doctor"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "doctor", Brief: "check what buddy needs", Early: true, Means: []string{"bug", "diagnose"},
		Help: "check what buddy needs; asks the model for one word",
	}, func(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
		return show.Say(doctor.Text(doctor.ExamineSession(ctx, s.Setup.Config, s.now().Info.Profile))), nil
	})
}
