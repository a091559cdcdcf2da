package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"buddy/agent/model/local"
	"buddy/app/slash"
	"buddy/config"
)

// modelsCommand is buddy models.
func modelsCommand(f *flags, stdout, stderr *os.File) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "models",
		Short: "which models can be used, and what the others lack",
		Long: "models lists the profiles of your settings, the providers that buddy knows, and what servers on\n" +
			"this machine offer: under which name, with which window, at which price for a million tokens of\n" +
			"input and output, and where the key is from or what to do about it. * marks the one that a start takes.",
		Example: "  buddy models\n  buddy models --json | jq '.[] | select(.usable).name'",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, index, _, err := loadConfig(f)
			if err != nil {
				return err
			}
			offers := offersOf(context.Background(), c, index)
			if asJSON {
				enc := json.NewEncoder(stdout)
				enc.SetIndent("", "\t")
				return failed(enc.Encode(offers))
			}
			printOffers(stdout, offers)
			if c.Active == nil && c.Problem != "" {
				_, _ = fmt.Fprintln(stderr, "buddy: "+plain(c.Problem))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a list for programs")
	return c
}

// loadConfig reads the settings that the command line means.
func loadConfig(f *flags) (config.Config, config.Index, []string, error) {
	c, index, notices, err := config.Load(config.Options{Config: f.config, Model: f.model, BaseURL: f.baseURL, Trust: trustStore()})
	if err != nil {
		return c, index, notices, exit{code: exitUsage, text: err.Error()}
	}
	return c, index, notices, nil
}

// offersOf lists what there is: what can be used first, and of that the person's own. It asks
// the servers on this machine, which takes up to [local.Limit].
func offersOf(ctx context.Context, c config.Config, index config.Index) []slash.Offer {
	active := config.Demo
	if c.Active != nil {
		active = c.Active.Name
	}
	var all []slash.Offer
	for _, p := range c.Models {
		if c.Active != nil && p.Name == active {
			p = *c.Active // with what the command line says
		}
		all = append(all, describe(p, index[config.Path("models", p.Name)], p.Name == active))
	}
	for _, p := range config.Providers() {
		if _, own := c.Profile(p.Name); !own {
			all = append(all, describe(p.Profile(""), p.Title, p.Name == active))
		}
	}
	all = append(all, localOffers(ctx, c, active)...)
	all = append(all, slash.Offer{Name: config.Demo, Model: config.Demo, From: "built in", Active: active == config.Demo, Usable: true, Why: "no language model: it shows what buddy does"})
	if !slices.ContainsFunc(all, func(o slash.Offer) bool { return o.Active }) {
		all = slices.Insert(all, 0, describe(*c.Active, index["agent.model"], true))
	}
	usable := slices.DeleteFunc(slices.Clone(all), func(o slash.Offer) bool { return !o.Usable })
	return append(usable, slices.DeleteFunc(all, func(o slash.Offer) bool { return o.Usable })...)
}

// localOffers are the models of the servers on this machine.
func localOffers(ctx context.Context, c config.Config, active string) []slash.Offer {
	var all []slash.Offer
	for _, s := range findLocal(ctx) {
		provider, _ := config.FindProvider(s.Name)
		for _, m := range s.Models {
			p, ok := c.Lookup(s.Name + "/" + m.ID)
			if !ok {
				continue // no name to show or to send
			}
			p.ContextLimit = cmp.Or(p.ContextLimit, m.Window)
			all = append(all, describe(p, provider.Title+" on this machine", p.Name == active))
		}
	}
	return all
}

// findLocal asks the servers on this machine.
func findLocal(ctx context.Context) []local.Server {
	var places []local.Place
	for _, p := range config.LocalServers() {
		places = append(places, local.Place{Name: p.Name, BaseURL: p.BaseURL})
	}
	return local.Find(ctx, places)
}

// describe says what is known of a profile without asking its endpoint.
func describe(p config.Profile, from string, active bool) slash.Offer {
	o := slash.Offer{
		Name: p.Name, Model: p.Model, From: from, BaseURL: p.BaseURL, Active: active,
		Window: contextWindow(p), Effort: p.Effort, Price: priceOf(p), Why: p.Problem(),
	}
	if o.Usable = o.Why == ""; o.Usable {
		switch key, source, err := p.Key(); {
		case err != nil || key == "":
			o.Why = "no key needed"
		case p.UsesLogin():
			o.Why = "logged in at " + p.Login.Issuer
		default:
			o.Why = "key from " + source
		}
	}
	return o
}

// printOffers writes a table.
func printOffers(w io.Writer, offers []slash.Offer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "  NAME\tMODEL\tWINDOW\tIN / OUT\tFROM\t")
	for _, o := range offers {
		mark := "  "
		if o.Active {
			mark = "* "
		}
		why := o.Why
		if !o.Usable {
			why = o.Lack()
		}
		_, _ = fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\n", mark, plain(o.Name), plain(o.Model), o.WindowText(), o.PriceText(), plain(o.From), plain(why))
	}
	_ = t.Flush()
}
