package commands

import (
	"context"

	"buddy/agent"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "status", Means: []string{"info", "session"}, Brief: "show model, permissions and usage", Use: 7,
		Help: "show the model, permissions and this session's usage; a dialog with tabs for /context and /config",
	}, report("Status", agent.Status))
	add(slash.Command{
		Name: "context", Means: []string{"tokens", "window"}, Brief: "show how full the context is",
		Help: "show how full the model's context is, its parts, the largest items and the cost",
	}, report("Context", agent.ContextUse))
}

// tabs lists the documents that share a dialog with tabs.
var tabs = []show.Deed{
	{Label: "Status", Run: []string{"status"}}, {Label: "Context", Run: []string{"context"}}, {Label: "Config", Run: []string{"config"}},
}

// report returns the handler of a command that shows a report of the runtime.
func report(title string, of func(*agent.Runtime) []agent.Section) handler {
	return func(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
		sections, err := ask(ctx, s, of)
		d := show.Document{Title: title, Tabs: tabs}
		for _, section := range sections {
			part := show.Section{Title: section.Title}
			for _, f := range section.Facts {
				part.Values = append(part.Values, show.Value{Label: f.Label, Text: f.Text})
			}
			d.Sections = append(d.Sections, part)
		}
		return show.Answer{Document: &d}, err
	}
}
