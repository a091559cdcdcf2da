package commands

import (
	"context"

	"buddy/app/account"
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
	add(slash.Command{
		Name: "logout", Args: "[NAME]", Help: "forget a key or a login", Early: true,
	}, func(ctx context.Context, s *Session, args []string) (show.Answer, error) {
		name := ""
		if len(args) > 0 {
			name = args[0]
		}
		a, err := account.Access(ctx, s.Setup.Config, false).Find(name)
		if err != nil {
			return show.Answer{}, err
		}
		text, err := a.Forget(ctx)
		return show.Say(text), err
	})
}
