package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/local"
	"buddy/config"
)

// offer is a model to choose from, or one that could be, and what is missing then.
type offer struct {
	Name    string      `json:"name"`  // as --model and /model take it
	Model   string      `json:"model"` // the id sent to the endpoint
	From    string      `json:"from"`  // where buddy knows it from
	BaseURL string      `json:"base_url,omitempty"`
	Active  bool        `json:"active,omitempty"` // the one that a start takes
	Usable  bool        `json:"usable"`
	Why     string      `json:"why"`    // where the key is from, or what to do
	Window  int         `json:"window"` // tokens; 0 = unknown
	Effort  string      `json:"reasoning_effort,omitempty"`
	Price   model.Price `json:"price,omitzero"` // micro-dollars per million tokens; zero = unknown
}

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
func offersOf(ctx context.Context, c config.Config, index config.Index) []offer {
	active := config.Demo
	if c.Active != nil {
		active = c.Active.Name
	}
	var all []offer
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
	all = append(all, offer{Name: config.Demo, Model: config.Demo, From: "built in", Active: active == config.Demo, Usable: true, Why: "no language model: it shows what buddy does"})
	if !slices.ContainsFunc(all, func(o offer) bool { return o.Active }) {
		all = slices.Insert(all, 0, describe(*c.Active, index["agent.model"], true))
	}
	usable := slices.DeleteFunc(slices.Clone(all), func(o offer) bool { return !o.Usable })
	return append(usable, slices.DeleteFunc(all, func(o offer) bool { return o.Usable })...)
}

// localOffers are the models of the servers on this machine.
func localOffers(ctx context.Context, c config.Config, active string) []offer {
	var all []offer
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
func describe(p config.Profile, from string, active bool) offer {
	o := offer{
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
func printOffers(w io.Writer, offers []offer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "  NAME\tMODEL\tWINDOW\tIN / OUT\tFROM\t")
	for _, o := range offers {
		mark := "  "
		if o.Active {
			mark = "* "
		}
		why := o.Why
		if !o.Usable {
			why = o.lack()
		}
		_, _ = fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\n", mark, plain(o.Name), plain(o.Model), o.window(), o.prices(), plain(o.From), plain(why))
	}
	_ = t.Flush()
}

// lack says what an offer needs to be used, without its name, which stands before it.
func (o offer) lack() string {
	why := strings.TrimPrefix(o.Why, fmt.Sprintf("model profile %q ", o.Name))
	if how, ok := strings.CutPrefix(why, "has no key: "); ok {
		return "needs a key: " + how
	}
	return "can't be used: " + why
}

func (o offer) window() string {
	switch {
	case o.Window == 0:
		return "–"
	case o.Window >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(o.Window)/1e6)
	}
	return fmt.Sprintf("%dk", o.Window/1000)
}

func (o offer) prices() string {
	if !o.Price.Known() {
		return "–"
	}
	return fmt.Sprintf("%s / %s", o.Price.Input, o.Price.Output)
}

// offersText is the list for plain mode.
func offersText(offers []offer, current string) string {
	text := "models:"
	for i, o := range offers {
		mark := " "
		if o.Name == current {
			mark = "*"
		}
		text += fmt.Sprintf("\n%s%2d  %s", mark, i+1, o.Name)
		switch {
		case !o.Usable:
			text += " · " + o.lack()
			continue
		case o.Model != o.Name && !strings.HasSuffix(o.Name, "/"+o.Model):
			text += " · " + o.Model
		}
		if o.Window > 0 {
			text += " · " + o.window()
		}
		if o.Price.Known() {
			text += " · " + o.prices()
		}
	}
	return text + "\n/model NAME or NUMBER changes to one of them; NAME/MODEL is another model of a name"
}

// switchModel takes the name of a model or its number in the list (I10).
func switchModel(u *ui, args string) error {
	n, err := strconv.Atoi(args)
	switch {
	case args == "":
		u.pickModel()
	case err != nil || n < 1:
		u.deps.send(event.SwitchModel{Profile: args})
	default:
		look := u.deps.catalog.offers
		inform(u.seat(), "/model", func() (string, error) { return nameOf(look(), n) },
			func(name string) { u.deps.send(event.SwitchModel{Profile: name}) })
	}
	return nil
}

// nameOf is the name of number n in the list.
func nameOf(offers []offer, n int) (string, error) {
	if n > len(offers) {
		return "", fmt.Errorf("there are %d models", len(offers))
	}
	return offers[n-1].Name, nil
}
