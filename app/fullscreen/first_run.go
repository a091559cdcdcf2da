package fullscreen

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/model/local"
	"buddy/app/compose"
	"buddy/config"
	"buddy/tmux"
	"buddy/views/markup"
)

// machine holds what a first look at this machine finds.
type machine struct {
	servers []local.Server
	tmux    string // its version, or why there is none
}

// lookAround asks this machine what there is to work with. It takes up to [local.Limit].
func lookAround(ctx context.Context) machine {
	version, err := tmux.Installed(ctx)
	if err != nil {
		version = "no usable tmux, so commands run without panes"
	}
	return machine{compose.FindLocal(ctx), version}
}

// introduce shows the welcome of a screen that has no model: what is known at once, then
// what is found on this machine.
func (w *window) introduce(ctx context.Context) {
	problem := ""
	if len(w.setup.Config.Models) > 0 {
		problem = w.setup.Problem
	}
	show := func(m *machine) { w.welcome(firstWelcome(problem, m)) }
	show(nil)
	w.loop.Go(func() {
		m := lookAround(ctx)
		w.loop.Post(func() { show(&m) })
	})
}

// firstWelcome is three lines: what buddy is, what there is on this machine, and what to do
// next. problem is what is wrong with the settings; nil means that nobody has looked yet.
func firstWelcome(problem string, m *machine) []string {
	found := "Here: " + problem
	if problem == "" {
		found = "Here: no provider's key"
	}
	next := "Next: /login openai (anthropic, gemini …), or try the demo: tour"
	if m == nil {
		found += " · looking for model servers …"
	} else {
		name, servers := serversText(m.servers)
		found += " · " + servers + " · " + m.tmux
		if name != "" {
			next = "Next: /model " + name + ", or /login openai, or try the demo: tour"
		}
	}
	return []string{
		"buddy runs commands in tmux panes you can watch, and asks before changes.",
		markup.Plain(found), markup.Plain(next),
	}
}

// serversText names the servers that were found, and the first model that one has.
func serversText(servers []local.Server) (first, text string) {
	var all []string
	for _, s := range servers {
		p, _ := config.FindProvider(s.Name)
		switch n := len(s.Models); n {
		case 0:
			all = append(all, p.Title+" without a model")
		case 1:
			all = append(all, p.Title+" with "+s.Models[0].ID)
		default:
			all = append(all, fmt.Sprintf("%s with %d models", p.Title, n))
		}
		if first == "" && len(s.Models) > 0 {
			first = s.Name + "/" + s.Models[0].ID
		}
	}
	if len(all) == 0 {
		return "", "no model server"
	}
	return first, strings.Join(all, ", ")
}
