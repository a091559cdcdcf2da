package commands

import (
	"context"
	"fmt"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/texts"
)

func init() {
	add(slash.Command{Name: "quit", Means: []string{"leave", "close"}, Help: "leave buddy", Early: true, Instant: true}, onQuit)
	add(slash.Command{
		Name: "detach", Means: []string{"leave"}, Brief: "detach; the session keeps running", Early: true, Instant: true,
		Help:       "detach from this session and keep it running; buddy attach returns to it",
		ScreenOnly: "a session in plain mode ends with its terminal; buddy exec --detach starts one that keeps running",
	}, func(context.Context, *Session, []string) (show.Answer, error) {
		return show.Answer{Leave: &show.Leave{Quit: true, Detach: true}}, nil
	})
}

// onQuit leaves the session. If tasks run that the screen can leave running, it asks what to do with them; with --kill
// they are stopped.
func onQuit(_ context.Context, s *Session, args []string) (show.Answer, error) {
	kill := textOf(args) == "--kill"
	if kill || s.Now == nil || len(s.Now.Left) == 0 {
		return show.Answer{Leave: &show.Leave{Quit: true, Kill: kill}}, nil
	}
	n := len(s.Now.Left)
	is := "is"
	if n > 1 {
		is = "are"
	}
	return show.Answer{Question: &show.Question{
		Title: fmt.Sprintf("Quit? %s %s still running", texts.Plural(n, "task"), is), Lines: s.Now.Left, Scope: string(keymap.Leaving),
		Choices: []show.Deed{
			{Label: "Detach (everything keeps running)", Key: string(keymap.LeaveDetach), Run: []string{"detach"}},
			{Label: "Stop it and quit", Key: string(keymap.LeaveKilling), Run: []string{"quit", "--kill"}},
			{Label: "Stay", Key: string(keymap.LeaveStay)},
		},
	}}, nil
}
