package commands

import (
	"context"
	"strings"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/extensions/style"
)

func init() {
	add(slash.Command{
		Name: "style", Args: "[NAME]", Brief: "choose how answers are written", Early: true, CLI: "buddy style --json", Means: []string{"output-style", "tone", "verbose"},
		Help: "choose how answers are written, starting with the next session; without a name, list the styles",
	}, onStyles)
}

// onStyles lists the styles, or saves one to the person's settings.
func onStyles(_ context.Context, s *Session, args []string) (show.Answer, error) {
	if len(args) > 0 {
		text, err := s.Setup.SetStyle(strings.ToLower(textOf(args)))
		return show.Say(text), err
	}
	all, problems, err := s.Setup.Styles()
	list := show.List{
		Title: "Answer styles", Columns: []string{"name", "from", "description"},
		Usage: "/style NAME saves a style in your settings; it applies after /clear and in new sessions.",
	}
	now := s.Setup.Config.Agent.Style
	for _, one := range all {
		list.Rows = append(list.Rows, show.Row{
			ID: one.Name, Cells: []string{one.Name, string(one.Origin), one.Description}, Mark: one.Name == now || now == "" && one.Name == style.Default,
			Deeds: []show.Deed{{Label: "use it", Run: []string{"style", one.Name}, Closes: true}},
		})
	}
	for _, p := range problems {
		list.Note = strings.TrimPrefix(list.Note+" · "+p.String(), " · ")
	}
	return show.Answer{List: &list}, err
}
