package slash

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/texts"
	"buddy/tools"
)

// NewLoop returns the command that repeats a prompt. Its limits are those of a loop without limits of its own, so that
// a forgotten loop ends: 24 hours and $5.
func NewLoop(every time.Duration, prompt event.Submit) event.StartLoop {
	return event.StartLoop{Prompt: prompt, Every: every, Limit: event.GoalUse{Cost: 5 * model.Dollar, TimeMS: (24 * time.Hour).Milliseconds()}}
}

var loopOptions = NewTextOptions("runs", "turns", "cost", "time")

// Loop reads the arguments of /loop: an interval and a prompt with options, or "stop"; nil for "".
func Loop(args string) (event.Command, error) {
	switch strings.ToLower(args) {
	case "":
		return nil, nil
	case "stop", "off":
		return event.StopLoop{}, nil
	}
	interval, rest := args, ""
	if i := strings.IndexFunc(args, unicode.IsSpace); i >= 0 {
		interval, rest = args[:i], strings.TrimSpace(args[i:])
	}
	every, err := tools.ParseDuration(interval)
	if err != nil {
		return nil, fmt.Errorf("the interval comes first, as in /loop 10m PROMPT: %w", err)
	}
	l := NewLoop(every, event.Submit{})
	l.Prompt.Text, err = loopOptions.Read(rest, func(name, value string) (err error) {
		known, err := SetLimit(&l.Limit, name, value)
		switch {
		case name == "runs":
			l.Runs, err = count(name, value, "runs")
		case !known:
			err = fmt.Errorf("--%s is not known (have: --runs, --turns, --cost, --time; if the prompt itself contains --, put the prompt in quotes)", name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	l.Prompt.Shell = strings.HasPrefix(l.Prompt.Text, "!")
	if name, _, ok := Split(l.Prompt.Text); ok {
		if _, own := Find(name); own {
			return nil, errors.New("/" + texts.Clip(name, 40) + " can't be repeated (have: a prompt, a custom command, !COMMAND)")
		}
	}
	return l, l.Check()
}
