package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/agent/model"
)

// maxDollars exceeds every plausible amount.
const maxDollars = 1_000_000

// inDollars formats an amount as in the file.
func inDollars(m model.Money) string { return decimal(float64(m) / float64(model.Dollar)) }

// dollars parses a non-negative amount.
func dollars(e entry) (model.Money, error) {
	if e.kind != unstable.Integer && e.kind != unstable.Float {
		return 0, fmt.Errorf("must be an amount in dollars, not %s", kindName(e.kind))
	}
	text := e.text
	if e.kind == unstable.Integer {
		n, err := number(e)
		if err != nil {
			return 0, err
		}
		text = strconv.Itoa(n)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > maxDollars {
		return 0, fmt.Errorf("%s is out of range (allowed: 0 to %d)", text, maxDollars)
	}
	d := model.Money(math.Round(v * float64(model.Dollar)))
	if d == 0 && v > 0 {
		return 0, errors.New(text + " is less than a millionth of a dollar")
	}
	return d, nil
}

// storeFraction sets a number that may be unset.
func storeFraction(e entry, fld *field, to **float64) error {
	if e.kind != unstable.Integer && e.kind != unstable.Float {
		return fmt.Errorf("must be a number, not %s", kindName(e.kind))
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(e.text, "_", ""), 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > float64(fld.most) {
		return fmt.Errorf("%s is out of range (allowed: 0 to %d)", e.text, fld.most)
	}
	*to = &v
	return nil
}

// isFraction reports whether a destination is a number that may be unset, so that 0 is a value.
func isFraction(at any) bool {
	_, ok := at.(**float64)
	return ok
}

// checkPrices returns an error if a price is missing.
func checkPrices(p model.Price) error {
	switch {
	case !p.Known():
	case p.Input == 0:
		return errors.New("price_input is missing, although other prices are set")
	case p.Output == 0:
		return errors.New("price_output is missing, although other prices are set")
	}
	return nil
}
