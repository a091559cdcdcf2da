package compose

import (
	"fmt"
	"strings"

	"buddy/agent/model"
)

// Offer is a model to choose from, or one that could be, and what is missing then.
type Offer struct {
	Name    string      `json:"name"`  // as --model and /model take it
	Model   string      `json:"model"` // the id sent to the endpoint
	From    string      `json:"from"`  // where buddy knows it from
	BaseURL string      `json:"base_url,omitempty"`
	Active  bool        `json:"active,omitempty"` // the one that a start takes
	Usable  bool        `json:"usable"`
	Why     string      `json:"why"`    // where the key is from, or what to do
	Window  int         `json:"window"` // tokens; 0 = unknown
	Effort  string      `json:"reasoning_effort,omitempty"`
	Blocks  bool        `json:"blocks,omitempty"` // calls are blocks of text
	Price   model.Price `json:"price,omitzero"`   // micro-dollars per million tokens; zero = unknown
	Local   bool        `json:"-"`                // a server on this machine has it
}

// Lack says what an offer needs to be used, without its name, which stands before it.
func (o Offer) Lack() string {
	why := strings.TrimPrefix(o.Why, fmt.Sprintf("model profile %q ", o.Name))
	if how, ok := strings.CutPrefix(why, "has no key: "); ok {
		return "needs a key: " + how
	}
	return "can't be used: " + why
}

// LackBrief is Lack in two words where a login helps; the name is next to it.
func (o Offer) LackBrief() string {
	if strings.HasPrefix(o.Lack(), "needs a key: ") {
		return "needs /login"
	}
	return o.Lack()
}

// ModelText returns the model, and that its calls are blocks.
func (o Offer) ModelText() string {
	if o.Blocks {
		return o.Model + " · in blocks"
	}
	return o.Model
}

// WindowText returns how much the model takes in, for people.
func (o Offer) WindowText() string {
	switch {
	case o.Window == 0:
		return "–"
	case o.Window >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(o.Window)/1e6)
	}
	return fmt.Sprintf("%dk", o.Window/1000)
}

// PriceText returns what a million tokens cost that go in and come out, for people.
func (o Offer) PriceText() string {
	if !o.Price.Known() {
		return "–"
	}
	return fmt.Sprintf("%s / %s", o.Price.Input, o.Price.Output)
}
