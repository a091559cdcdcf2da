package commands

import (
	"cmp"
	"context"
	"strings"

	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "plugin", Means: []string{"plugins", "marketplace", "install", "extensions"}, Brief: "list this session's plugins", Early: true,
		Help: "list this session's plugins, their sources and your trust in them; in a shell, buddy plugin adds plugins from git repositories and marketplaces, updates and removes them",
	}, listPlugins)
}

func listPlugins(_ context.Context, s *Session, args []string) (show.Answer, error) {
	if len(args) > 0 && args[0] != "list" {
		return show.Say("To change plugins, run this in a shell: buddy plugin " + strings.Join(args, " ")), nil
	}
	all, err := s.Setup.Project().PluginList()
	list := show.List{
		Title: "Plugins", Columns: []string{"name", "version", "trust", "from"},
		Empty: "No plugins. buddy plugin add URL adds one from a git repository.",
	}
	for _, p := range all {
		id := p.Name
		if len(p.Lines) == 0 { // its name may be that of another plugin
			id = show.IDOf(p.Dir)
		}
		var deeds []show.Deed
		if p.Waits {
			deeds = []show.Deed{{Label: "review and trust it", Run: []string{"trust"}, Closes: true}}
		}
		list.Rows = append(list.Rows, show.Row{
			Deeds: deeds, ID: id, Cells: []string{p.Name, cmp.Or(p.Version, "-"), p.State, p.From()}, Line: p.About,
			More: append([]string{p.About}, p.Lines...),
		})
	}
	return show.Answer{List: &list}, err
}
