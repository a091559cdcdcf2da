package goal

import (
	"errors"
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/app/slash"
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
	var set event.SetGoal
	text, err := options.Read(args, func(name, value string) error { return setOption(&set, name, value) })
	if err != nil {
		return nil, err
	}
	set.Goal = text
	if set.Goal == "" {
		return nil, errors.New("say what the goal is, before its options")
	}
	return set, nil
}

var options = slash.NewTextOptions("check", "check-outside", "verdict", "turns", "cost", "time")

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
	default:
		if known, err := slash.SetLimit(&set.Limit, name, value); known {
			return err
		}
		return fmt.Errorf("--%s is not known (have: --check, --check-outside, --verdict, --turns, --cost, --time; if the goal itself contains --, put the goal in quotes)", name)
	}
	return nil
}
