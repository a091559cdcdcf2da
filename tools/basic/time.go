// Package basic holds the tools that access nothing outside buddy, such as time, todo and ask_user.
//
//	registry := tools.NewRegistry(basic.NewTime(time.Now), basic.NewTodo(), basic.NewAskUser())
package basic

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed time.md
var timeText string

type timeArgs struct {
	Why string `json:"why,omitempty" schema:"-"`
}

type clock struct {
	now func() time.Time
	tools.Typed[timeArgs]
}

// NewTime returns the tool time, which gets the time from the given clock.
func NewTime(now func() time.Time) tools.Tool {
	return tools.New(&clock{now: now}, "time", timeText)
}

func (*clock) Parallel(tools.Call) bool { return true }

func (t *clock) PlanArgs(args timeArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), args.Why), nil
}

func (t *clock) RunArgs(context.Context, tools.Call, timeArgs) tools.Result {
	local := t.now()
	now := local.UTC()
	res := tools.Success(fmt.Sprintf("%s\nUTC: %s\nRFC 2822: %s\nUnix nanoseconds: %d\n", local.Format("2006-01-02T15:04:05.000Z07:00 MST"),
		now.Format("2006-01-02T15:04:05.000Z"), now.Format("Mon, 02 Jan 2006 15:04:05 -0700"), now.UnixNano()))
	res.Tail = local.Format(time.RFC1123Z)
	return res
}
