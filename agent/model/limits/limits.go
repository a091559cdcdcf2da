// Package limits holds the context windows, the longest answers and the prices of common models. The data is in
// models.toml and limits.toml, each number with its source.
//
//	window, ok := limits.Window("openai/gpt-4o:free") // 128000, true
//	price := limits.Price("https://api.openai.com/v1", "gpt-5.1")
//	cost := price.Cost(usage) // 0 if the price is unknown
package limits

import (
	_ "embed"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"buddy/agent/model"
)

// Default is the assumed window, in tokens, of an unknown model.
const Default = 8192

// generated is written by the script generate, from a package with a list of models. data is written by hand and holds
// what that package lacks.
var (
	//go:embed models.toml
	generated []byte
	//go:embed limits.toml
	data []byte
)

// kind selects how the name in a rule is compared with a model's name.
type kind string

const (
	exact    kind = "exact"
	prefix   kind = "prefix"
	contains kind = "contains"
)

type rule struct {
	Kind   kind
	Name   string
	Window int
	Output int `toml:"max_output"` // tokens; 0 = not documented
	Price  *price
	Source string
	Date   toml.LocalDate
}

// price holds one seller's price in dollars per million tokens. It does not apply to other sellers, nor to a model on
// the user's own machine, which costs nothing.
type price struct {
	Host       string
	Input      float64
	Cached     float64 // 0 = as Input
	CacheWrite float64 `toml:"cache_write"` // 0 = as Input
	Output     float64
}

// parse reads a catalogue and checks that every rule is complete.
func parse(text []byte) ([]rule, error) {
	var file struct{ Rule []rule }
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("catalogue of models: %w", err)
	}
	for i, r := range file.Rule {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("catalogue of models: rule %d: %w", i+1, err)
		}
	}
	return file.Rule, nil
}

func (r rule) check() error {
	switch {
	case r.Kind != exact && r.Kind != prefix && r.Kind != contains:
		return fmt.Errorf("unknown kind %q (have: %s, %s, %s)", r.Kind, exact, prefix, contains)
	case r.Name == "" || r.Name != strings.ToLower(strings.TrimSpace(r.Name)):
		return fmt.Errorf("name %q is blank or not in lower case", r.Name)
	case r.Window <= 0 || r.Source == "" || r.Date.Year == 0:
		return fmt.Errorf("%q lacks its window, source or date", r.Name)
	case r.Output < 0 || r.Output > r.Window:
		return fmt.Errorf("%q has an output limit of %d tokens and a window of %d", r.Name, r.Output, r.Window)
	case !r.Price.whole():
		return fmt.Errorf("the price of %q lacks its host, input or output", r.Name)
	}
	return nil
}

// whole reports whether a price is complete. A missing price, nil, counts as complete.
func (p *price) whole() bool {
	return p == nil || p.Host != "" && p.Input > 0 && p.Output > 0 && p.Cached >= 0 && p.CacheWrite >= 0
}

// catalogue is parsed on first use.
var catalogue = sync.OnceValue(func() []rule {
	var all []rule
	for _, file := range [][]byte{generated, data} {
		rules, err := parse(file)
		if err != nil {
			panic(err) // both files are part of the program
		}
		all = append(all, rules...)
	}
	return all
})

// Window returns the size of a model's context window in tokens, if the catalogue has the model. It compares the whole
// name, and the part after the last slash, ignoring case, surrounding space and a suffix after a colon.
func Window(name string) (tokens int, ok bool) {
	r := find(catalogue(), name)
	return r.Window, r.Window > 0
}

// Output returns the maximum tokens in one answer of a model.
func Output(name string) (tokens int, ok bool) {
	r := find(catalogue(), name)
	return r.Output, r.Output > 0
}

// Price returns the price of a model. It is known only if baseURL is an endpoint of the seller whose price is
// documented.
func Price(baseURL, name string) model.Price {
	return priceOf(find(catalogue(), name), baseURL)
}

func priceOf(r rule, baseURL string) model.Price {
	u, err := url.Parse(baseURL)
	if r.Price == nil || err != nil || !strings.EqualFold(u.Hostname(), r.Price.Host) {
		return model.Price{}
	}
	money := func(dollars float64) model.Money {
		if dollars == 0 {
			dollars = r.Price.Input
		}
		return model.Money(math.Round(dollars * float64(model.Dollar)))
	}
	return model.Price{Input: money(r.Price.Input), Cached: money(r.Price.Cached), CacheWrite: money(r.Price.CacheWrite), Output: money(r.Price.Output)}
}

// find returns the first rule whose name fits a model's name, or the zero rule.
func find(rules []rule, name string) rule {
	for _, r := range rules {
		if r.Kind.fits(r.Name, name) {
			return r
		}
	}
	return rule{}
}

// fits reports whether a rule's name fits the name of a model, or the part of that name after the last slash.
func (k kind) fits(rule, model string) bool {
	model = strings.ToLower(strings.TrimSpace(model))
	model, _, _ = strings.Cut(model, ":")
	short := strings.TrimSpace(model[strings.LastIndex(model, "/")+1:])
	return k.compare(rule, strings.TrimSpace(model)) || k.compare(rule, short)
}

func (k kind) compare(rule, name string) bool {
	switch {
	case name == "":
		return false
	case k == exact:
		return name == rule
	case k == prefix:
		return strings.HasPrefix(name, rule)
	default:
		return strings.Contains(name, rule)
	}
}
