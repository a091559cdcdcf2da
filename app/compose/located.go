package compose

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"buddy/agent/model/local"
	"buddy/config"
	"buddy/tmux/host"
)

// located completes a profile by asking its server, if the server runs on this machine. Server becomes the name of the
// server's program. If the profile only names the program, BaseURL becomes the address where the program answers.
func located(profile config.Profile) config.Profile {
	name, _, _ := strings.Cut(profile.Name, "/")
	var places []local.Place
	for _, s := range config.LocalServers() {
		if profile.Bundled() && s.Name == name {
			places = append(places, local.Place{Name: s.Name, BaseURL: s.BaseURL})
		}
	}
	if len(places) == 0 {
		u, err := url.Parse(profile.BaseURL)
		if err != nil || onLoopback(u) == "" {
			return profile
		}
		places = []local.Place{{BaseURL: onLoopback(u)}}
	}
	has := func(s local.Server) bool {
		return slices.ContainsFunc(s.Models, func(m local.Model) bool { return m.ID == profile.Model })
	}
	found := local.Find(context.Background(), places)
	slices.SortStableFunc(found, func(a, b local.Server) int { // a server may also answer for a model that it does not list
		switch {
		case has(a) == has(b):
			return 0
		case has(a):
			return -1
		}
		return 1
	})
	if len(found) == 0 {
		return profile
	}
	if found[0].Name != "" {
		profile.BaseURL = found[0].BaseURL
	}
	if len(found[0].Models) > 0 {
		profile.Server = found[0].Models[0].Owner
	}
	return profile
}

// ProfileOf returns the profile name of a local server's model for settings and the command line, "" if it can't be
// named.
func ProfileOf(s local.Server, m local.Model) string {
	name := s.Name + "/" + m.ID
	if _, ok := (&config.Config{}).Lookup(name); !ok {
		return ""
	}
	return name
}

// NoModel explains why there is no model. If none is configured and a local server has one, the text contains the
// command line that uses it.
func NoModel(f *Options, c config.Config) string {
	if c.Active != nil || len(c.Models) > 0 {
		return c.Problem
	}
	for _, s := range FindLocal(context.Background()) {
		for _, m := range s.Models {
			name := ProfileOf(s, m)
			if name == "" {
				continue
			}
			line := slices.Insert(slices.Clone(f.Line), 0, "--model", name)
			if len(f.Line) > 0 && f.Line[0] == "exec" {
				line[0], line[1], line[2] = "exec", "--model", name
			}
			program, _ := config.FindProvider(s.Name)
			return fmt.Sprintf("no model is configured, but %s on this machine has %s. To use it, run:\n%s", program.Title, m.ID, host.Line(slices.Insert(line, 0, "buddy")...))
		}
	}
	return c.Problem
}
