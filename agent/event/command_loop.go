package event

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// MinInterval is the shortest interval of a loop.
const MinInterval = 10 * time.Second

// Check returns why no loop can be started, or nil.
func (c StartLoop) Check() error {
	switch {
	case c.Every < MinInterval:
		return fmt.Errorf("the interval %s is too short (at least %s)", c.Every, MinInterval)
	case c.Limit.TimeMS > 0 && c.Every.Milliseconds() > c.Limit.TimeMS:
		return fmt.Errorf("the interval %s is longer than the loop's time limit (%s)", c.Interval(), c.Limit.Time())
	case c.Runs < 0 || c.Limit.Turns < 0 || c.Limit.Cost < 0 || c.Limit.TimeMS < 0:
		return errors.New("a limit is negative")
	case strings.TrimSpace(strings.TrimPrefix(c.Prompt.Text, "!")) == "":
		return errors.New("it has no prompt")
	}
	return nil
}

// Interval formats the interval: 10m, 90s.
func (c StartLoop) Interval() string { return GoalUse{TimeMS: c.Every.Milliseconds()}.Time() }
