package compose

import (
	"cmp"
	"context"
	"slices"

	"buddy/agent/model/local"
	"buddy/config"
)

// OffersOf lists all models, usable models first, and among them the user's own first. With ask it queries the servers
// on this machine, for at most [local.Limit].
func OffersOf(ctx context.Context, c config.Config, index config.Index, ask bool) []Offer {
	active := config.Demo
	if c.Active != nil {
		active = c.Active.Name
	}
	var all []Offer
	for _, p := range c.Models {
		if c.Active != nil && p.Name == active {
			p = *c.Active // with the options of the command line
		}
		all = append(all, offerOf(p, index[config.Path("models", p.Name)], p.Name == active, ask))
	}
	for _, p := range config.Providers() {
		if _, own := c.Profile(p.Name); !own {
			all = append(all, Describe(p.Profile(""), p.Title, p.Name == active))
		}
	}
	if ask {
		all = append(all, localOffers(ctx, c, active)...)
	}
	all = append(all, Offer{Name: config.Demo, Model: config.Demo, From: "built in", Active: active == config.Demo, Usable: true, Why: "built-in demo (no AI)"})
	if !slices.ContainsFunc(all, func(o Offer) bool { return o.Active }) {
		all = slices.Insert(all, 0, offerOf(*c.Active, index["agent.model"], true, ask))
	}
	usable := slices.DeleteFunc(slices.Clone(all), func(o Offer) bool { return !o.Usable })
	return append(usable, slices.DeleteFunc(all, func(o Offer) bool { return o.Usable })...)
}

// offerOf is Describe for one of the user's profiles. With ask, it queries the local server of the active profile.
func offerOf(p config.Profile, from string, active, ask bool) Offer {
	why := ""
	if active && ask {
		p, why = measured(p)
	}
	o := Describe(p, from, active)
	o.Blocks = o.Blocks || why != "" && p.Calls != config.Native
	return o
}

// localOffers returns the models of the servers on this machine.
func localOffers(ctx context.Context, c config.Config, active string) []Offer {
	var all []Offer
	for _, s := range FindLocal(ctx) {
		provider, _ := config.FindProvider(s.Name)
		for _, m := range s.Models {
			p, ok := c.Lookup(s.Name + "/" + m.ID)
			if !ok {
				continue // no name to show or to send
			}
			p.BaseURL, p.ContextLimit = s.BaseURL, cmp.Or(p.ContextLimit, m.Window)
			o := Describe(p, provider.Title+" on this machine", p.Name == active)
			o.Local, o.Blocks = true, o.Blocks || p.Calls != config.Native && m.Parameters > 0 && m.Parameters < fewParameters
			all = append(all, o)
		}
	}
	return all
}

// FindLocal queries the servers on this machine.
func FindLocal(ctx context.Context) []local.Server {
	var places []local.Place
	for _, p := range config.LocalServers() {
		places = append(places, local.Place{Name: p.Name, BaseURL: p.BaseURL})
	}
	return local.Find(ctx, places)
}

// Describe returns the offer of a profile without querying its endpoint.
func Describe(p config.Profile, from string, active bool) Offer {
	o := Offer{
		Name: p.Name, Model: p.Model, From: from, BaseURL: p.BaseURL, Active: active,
		Window: contextWindow(p), Effort: p.Effort, Blocks: p.Calls == config.Blocks, Price: PriceOf(p), Why: p.Problem(),
	}
	if o.Usable = o.Why == ""; o.Usable {
		switch key, source, err := p.Key(); {
		case err != nil || key == "":
			o.Why = "no key needed"
		case p.UsesLogin():
			o.Why = "logged in to " + p.Login.Issuer
		default:
			o.Why = "key from " + source
		}
	}
	return o
}
