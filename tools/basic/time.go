// Package basic holds the tools that touch nothing outside buddy: time, todo and ask_user.
//
//	registry := tools.NewRegistry(basic.NewTime(time.Now), basic.NewTodo(), basic.NewAskUser())
package basic

import (
	"context"
	_ "embed"
	"time"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed time.md
var timeText string

type timeArgs struct {
	Why string `json:"why,omitempty" schema:"-"`
}

// timePayload is one moment in the formats that programs use; all but Local are in UTC.
type timePayload struct {
	UnixSeconds   int64  `json:"unix_seconds"`
	UnixMillis    int64  `json:"unix_millis"`
	UnixNanos     int64  `json:"unix_nanos"`
	ISO8601       string `json:"iso8601"`
	ISO8601Millis string `json:"iso8601_millis"`
	RFC2822       string `json:"rfc2822"`
	Date          string `json:"date"`
	Time          string `json:"time"`
	Local         string `json:"local"`
}

type clock struct {
	now func() time.Time
	tools.Typed[timeArgs]
}

// NewTime returns the tool time, which reads the clock now.
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
	return tools.Success(timePayload{
		UnixSeconds: now.Unix(), UnixMillis: now.UnixMilli(), UnixNanos: now.UnixNano(),
		ISO8601: now.Format("2006-01-02T15:04:05Z"), ISO8601Millis: now.Format("2006-01-02T15:04:05.000Z"),
		RFC2822: now.Format("Mon, 02 Jan 2006 15:04:05 -0700"), Date: now.Format(time.DateOnly), Time: now.Format(time.TimeOnly),
		Local: local.Format(time.RFC3339) + local.Format(" MST"),
	}, local.Format(time.RFC1123Z))
}
