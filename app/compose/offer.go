package compose

import (
	"fmt"
	"strings"

	"buddy/agent/model"
)

// Offer is a model to choose, or one that still lacks something, such as a key.
type Offer struct {
	Name    string      `json:"name"`  // as --model and /model accept it
	Model   string      `json:"model"` // the id sent to the endpoint
	From    string      `json:"from"`  // the source of the profile
	BaseURL string      `json:"base_url,omitempty"`
	Active  bool        `json:"active,omitempty"` // the model that a start would use
	Usable  bool        `json:"usable"`
	Why     string      `json:"why"`    // the source of the key, or what to do
	Window  int         `json:"window"` // tokens; 0 = unknown
	Effort  string      `json:"reasoning_effort,omitempty"`
	Blocks  bool        `json:"blocks,omitempty"` // whether tool calls are text blocks
	Price   model.Price `json:"price,omitzero"`   // micro-dollars per million tokens; zero = unknown
	Local   bool        `json:"-"`                // whether a server on this machine has it
}

// Lack explains what is missing before the offer can be used, without the offer's name.
func (o Offer) Lack() string {
	why := strings.TrimPrefix(o.Why, fmt.Sprintf("model profile %q ", o.Name))
	if how, ok := strings.CutPrefix(why, "has no key: "); ok {
		return "needs a key: " + how
	}
	return "can't be used: " + why
}

// LackBrief is Lack, shortened where a login helps.
func (o Offer) LackBrief() string {
	if strings.HasPrefix(o.Lack(), "needs a key: ") {
		return "needs /login"
	}
	return o.Lack()
}

// ModelText returns the model, and whether its tool calls are text blocks.
func (o Offer) ModelText() string {
	if o.Blocks {
		return o.Model + " · in blocks"
	}
	return o.Model
}

// WindowText returns the context window, formatted for display.
func (o Offer) WindowText() string {
	switch {
	case o.Window == 0:
		return "–"
	case o.Window >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(o.Window)/1e6)
	}
	return fmt.Sprintf("%dk", o.Window/1000)
}

// PriceText returns the prices of a million input and output tokens, formatted for display.
func (o Offer) PriceText() string {
	if !o.Price.Known() {
		return "–"
	}
	return fmt.Sprintf("%s / %s", o.Price.Input, o.Price.Output)
}
