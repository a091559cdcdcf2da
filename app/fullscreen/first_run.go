package fullscreen

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent/model/local"
	"buddy/app/compose"
	"buddy/app/ui"
	"buddy/config"
	"buddy/tmux"
)

// machine holds the findings about this machine.
type machine struct {
	servers []local.Server
	lacks   []string // what does not work here, in sentences
}

// lookAround looks for local model servers and tmux. It takes up to [local.Limit].
func lookAround(ctx context.Context) machine {
	m := machine{servers: compose.FindLocal(ctx)}
	if _, err := tmux.Installed(ctx); err != nil {
		m.lacks = []string{"No usable tmux found: commands run without panes."}
	}
	return m
}

// introduce shows the welcome text if no model is configured: at once, and again when the search for models and tmux on
// this machine has ended.
func (w *window) introduce(ctx context.Context) {
	problem := ""
	if len(w.setup.Config.Models) > 0 {
		problem = w.setup.Problem
	}
	show := func(m *machine) { ui.SetFirst(w.ui, firstRun(problem, m)) }
	show(nil)
	w.loop.Go(func() {
		m := lookAround(ctx)
		w.loop.Post(func() { show(&m) })
	})
}

// firstRun returns the content of the first screen: what is missing, and what was found on this machine. problem is the
// error in the settings. m is nil until the machine has been checked.
func firstRun(problem string, m *machine) ui.First {
	f := ui.First{Missing: problem}
	if m != nil {
		f.Local, f.Lines = serversText(m.servers), m.lacks
		f.Use, f.Offer = offer(m.servers)
	}
	switch {
	case problem != "":
	case m == nil:
		f.Missing = "No API key found. Looking for models on this machine …"
	case f.Local == "":
		f.Missing = "No API key or local model found."
	default:
		f.Missing = "No API key found."
	}
	return f
}

// offer returns what the first screen offers on Enter if exactly one model server was found. If the server has one
// model, use is the model and words offers to use it. If it has several, use is "" and words offers a choice. Otherwise
// both are "".
func offer(servers []local.Server) (use, words string) {
	if len(servers) != 1 {
		return "", ""
	}
	s := servers[0]
	p, _ := config.FindProvider(s.Name)
	switch {
	case len(s.Models) > 1:
		return "", fmt.Sprintf("choose one of the %d models of %s on this machine", len(s.Models), p.Title)
	case len(s.Models) == 1:
		if use = compose.ProfileOf(s, s.Models[0]); use != "" {
			return use, fmt.Sprintf("use %s of %s on this machine", s.Models[0].ID, p.Title)
		}
	}
	return "", ""
}

// serversText names the servers that were found.
func serversText(servers []local.Server) string {
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
	}
	return strings.Join(all, ", ")
}
