package slash

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// TextOptions reads a text that is followed by options: "make it good --check make test --turns 3".
type TextOptions struct{ start *regexp.Regexp }

// NewTextOptions returns a reader of the options with these names.
func NewTextOptions(names ...string) TextOptions {
	return TextOptions{regexp.MustCompile(`(?:^|\s)--(` + strings.Join(names, "|") + `)(?:[\s=]|$)`)}
}

// Read returns the text, and calls set with each option. A quoted text may contain the names of options.
func (o TextOptions) Read(args string, set func(name, value string) error) (string, error) {
	text, rest := o.split(args)
	for rest != "" {
		var name, value string
		name, value, rest = o.next(rest)
		if err := set(name, value); err != nil {
			return "", err
		}
	}
	return text, nil
}

func (o TextOptions) split(args string) (text, options string) {
	if text, rest, ok := unquote(args); ok && (rest == "" || strings.HasPrefix(rest, "--")) {
		return text, rest
	}
	at := o.start.FindStringIndex(args)
	if at == nil {
		return args, ""
	}
	return strings.TrimSpace(args[:at[0]]), strings.TrimSpace(args[at[0]:])
}

// next returns the first option and the remaining ones. A value without quotes ends at the next option.
func (o TextOptions) next(options string) (name, value, rest string) {
	name = options[2:]
	end := strings.IndexAny(name, " \t\n=")
	if end < 0 {
		return name, "", ""
	}
	name, rest = name[:end], strings.TrimSpace(name[end+1:])
	if value, after, ok := unquote(rest); ok && (after == "" || strings.HasPrefix(after, "--")) {
		return name, value, after
	}
	at := o.start.FindStringIndex(rest)
	if at == nil {
		return name, rest, ""
	}
	return name, strings.TrimSpace(rest[:at[0]]), strings.TrimSpace(rest[at[0]:])
}

// unquote returns the text in the quotes at the start of s, and the rest. ok is false without quotes.
func unquote(s string) (inside, rest string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", "", false
	}
	inside, rest, ok = strings.Cut(s[1:], s[:1])
	return strings.TrimSpace(inside), strings.TrimSpace(rest), ok
}

// SetLimit applies one of the options --turns, --cost and --time to a limit; known is false for any other name.
func SetLimit(limit *event.GoalUse, name, value string) (known bool, err error) {
	switch name {
	case "turns":
		limit.Turns, err = count(name, value, "turns")
	case "cost":
		limit.Cost, err = parseCost(value)
	case "time":
		d, wrong := tools.ParseDuration(value)
		if limit.TimeMS = d.Milliseconds(); wrong != nil {
			err = fmt.Errorf("--time: %w", wrong)
		}
	default:
		return false, nil
	}
	return true, err
}

// count parses the value of an option that counts things.
func count(name, value, what string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("--%s %s: must be a number of %s, 1 or more", name, value, what)
	}
	return n, nil
}

// parseCost parses an amount in dollars.
func parseCost(value string) (model.Money, error) {
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
	if err != nil || !(dollars >= 0.000001 && dollars <= maxCost) { // also rejects NaN
		return 0, fmt.Errorf("--cost %s: must be an amount in dollars, such as 0.50", value)
	}
	return model.Money(math.Round(dollars * float64(model.Dollar))), nil
}

// maxCost limits amounts, because higher ones are typing errors.
const maxCost = 1_000_000
