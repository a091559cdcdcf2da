package goal

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// parse parses the arguments of /goal: a goal with its options, or a change of the present goal; nil for "".
func parse(args string) (event.Command, error) {
	switch strings.ToLower(args) {
	case "":
		return nil, nil
	case "pause":
		return event.ChangeGoal{To: event.GoalPaused}, nil
	case "resume":
		return event.ChangeGoal{To: event.GoalActive}, nil
	case "off":
		return event.ChangeGoal{To: event.GoalOff}, nil
	}
	text, rest := textOf(args)
	set := event.SetGoal{Goal: text}
	for rest != "" {
		var name, value string
		name, value, rest = nextOption(rest)
		if err := setOption(&set, name, value); err != nil {
			return nil, err
		}
	}
	if set.Goal == "" {
		return nil, errors.New("say what the goal is, before its options")
	}
	return set, nil
}

// optionStart matches the start of an option, which ends the goal's text.
var optionStart = regexp.MustCompile(`(?:^|\s)--(check|check-outside|verdict|turns|cost|time)(?:[\s=]|$)`)

// textOf splits the text of a goal from its options. A quoted text may contain option names.
func textOf(args string) (text, options string) {
	if text, rest, ok := unquote(args); ok && (rest == "" || strings.HasPrefix(rest, "--")) {
		return text, rest
	}
	at := optionStart.FindStringIndex(args)
	if at == nil {
		return args, ""
	}
	return strings.TrimSpace(args[:at[0]]), strings.TrimSpace(args[at[0]:])
}

// nextOption returns the first option and the remaining ones. A value without quotes ends at the next option.
func nextOption(options string) (name, value, rest string) {
	name = options[2:]
	end := strings.IndexAny(name, " \t\n=")
	if end < 0 {
		return name, "", ""
	}
	name, rest = name[:end], strings.TrimSpace(name[end+1:])
	if value, after, ok := unquote(rest); ok && (after == "" || strings.HasPrefix(after, "--")) {
		return name, value, after
	}
	at := optionStart.FindStringIndex(rest)
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

// setOption applies one option.
func setOption(set *event.SetGoal, name, value string) error {
	switch name {
	case "check":
		if set.Check = value; value == "" {
			return errors.New("--check needs a command, such as --check make test")
		}
	case "check-outside":
		if set.Outside = true; value != "" {
			return fmt.Errorf("--check-outside takes no value, such as %q", value)
		}
	case "verdict":
		if set.Verdict = true; value != "" {
			return fmt.Errorf("--verdict takes no value, such as %q", value)
		}
	case "turns":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("--turns %s: must be a number of turns, 1 or more", value)
		}
		set.Limit.Turns = n
	case "cost":
		cost, err := parseCost(value)
		set.Limit.Cost = cost
		return err
	case "time":
		d, err := tools.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("--time: %w", err)
		}
		set.Limit.TimeMS = d.Milliseconds()
	default:
		return fmt.Errorf("--%s is not known (have: --check, --check-outside, --verdict, --turns, --cost, --time; if the goal itself contains --, put the goal in quotes)", name)
	}
	return nil
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
