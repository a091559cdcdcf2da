package event

import (
	"fmt"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/texts"
)

// GoalUse counts the resources that a goal or a loop has used, or limits them; 0 means no limit.
type GoalUse struct {
	Turns  int         `json:"turns,omitempty"`
	Cost   model.Money `json:"cost,omitempty"`    // as far as prices are known
	TimeMS int64       `json:"time_ms,omitempty"` // while a task worked on it
}

// String formats a limit: "100 turns, $5.00, 2h0m0s".
func (u GoalUse) String() string {
	var parts []string
	if u.Turns > 0 {
		parts = append(parts, fmt.Sprintf("%d turns", u.Turns))
	}
	if u.Cost > 0 {
		parts = append(parts, u.Cost.String())
	}
	if u.TimeMS > 0 {
		parts = append(parts, u.Time())
	}
	return strings.Join(parts, ", ")
}

// Reached names the limit that the use has reached, or returns "".
func (u GoalUse) Reached(limit GoalUse) string {
	switch {
	case limit.Turns > 0 && u.Turns >= limit.Turns:
		return fmt.Sprintf("it reached its limit of turns (%d)", limit.Turns)
	case limit.Cost > 0 && u.Cost >= limit.Cost:
		return fmt.Sprintf("it reached its cost limit (%s)", limit.Cost)
	case limit.TimeMS > 0 && u.TimeMS >= limit.TimeMS:
		return fmt.Sprintf("it reached its time limit (%s)", limit.Time())
	}
	return ""
}

// Time formats the time: 2h, 10m, 90s.
func (u GoalUse) Time() string {
	text := (time.Duration(u.TimeMS) * time.Millisecond).Round(time.Second).String()
	for _, none := range []string{"m0s", "h0m"} {
		if short, ok := strings.CutSuffix(text, none); ok {
			text = short + none[:1]
		}
	}
	return text
}

// GoalSet marks that the person set a goal for the main task; it replaces the previous goal.
type GoalSet struct {
	ID      int     `json:"id"` // within the session, from 1
	Goal    string  `json:"goal"`
	Check   string  `json:"check,omitempty"`   // a command that must exit with 0
	Outside bool    `json:"outside,omitempty"` // Check runs outside the sandbox in auto mode, too
	Verdict bool    `json:"verdict,omitempty"` // a read-only subagent must confirm the goal
	Limit   GoalUse `json:"limit"`
}

// Line returns the goal, how it is checked, and its limit.
func (g GoalSet) Line() string {
	text := "goal: " + texts.OneLine(g.Goal)
	if g.Check != "" {
		text += " · met when it exits with 0: " + texts.OneLine(g.Check)
	}
	if g.Verdict {
		text += " · met when the agent judge says so"
	}
	if limit := g.Limit.String(); limit != "" {
		text += " · at most " + limit
	}
	return text
}

// GoalChecked holds the result of the check after an answer.
type GoalChecked struct {
	ID  int    `json:"id"`
	Met bool   `json:"met"`
	Why string `json:"why"` // one line
}

// Line returns whether the goal is met, and why.
func (g GoalChecked) Line() string {
	if g.Met {
		return "goal met: " + g.Why
	}
	return "goal not met yet: " + g.Why
}

// GoalState is the state of a goal.
type GoalState string

// The states of a goal. Met and off are final.
const (
	GoalActive GoalState = "active" // the main task keeps working
	GoalPaused GoalState = "paused"
	GoalMet    GoalState = "met"
	GoalOff    GoalState = "off"
)

// GoalChanged reports after each turn what a goal has used, and reports changes of its state or limits.
type GoalChanged struct {
	ID     int       `json:"id"`
	State  GoalState `json:"state"`
	Reason string    `json:"reason,omitempty"` // reason of a state change, one line
	Used   GoalUse   `json:"used"`
	Limit  GoalUse   `json:"limit"`
}

// Text returns a change of state or limits as one line. It returns "" if only the used resources changed, and if the
// goal was met, because a GoalChecked reports that.
func (g GoalChanged) Text() string {
	switch {
	case g.State == GoalPaused:
		return "goal paused: " + g.Reason + " · /goal resume continues it, /goal off ends it"
	case g.State == GoalOff:
		return "goal ended: " + g.Reason
	case g.State == GoalActive && g.Reason != "":
		return "goal: " + g.Reason
	}
	return ""
}
