package commands

import (
	"context"

	"buddy/app/doctor"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "doctor", Brief: "check buddy's setup", Early: true, Means: []string{"bug", "diagnose"},
		Help: "check buddy's setup, including a one-word request to the model",
	}, func(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
		return show.Say(doctor.Text(doctor.ExamineSession(ctx, s.Setup.Config, s.now().Info.Profile))), nil
	})
}
