package slash

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// TestLoopLine: the arguments of /loop.
func TestLoopLine(t *testing.T) {
	loop := func(text string, change func(*event.StartLoop)) event.StartLoop {
		c := NewLoop(10*time.Minute, event.Submit{Text: text})
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, tt := range []struct {
		args string
		want event.Command
		err  string
	}{
		{"", nil, ""},
		{"stop", event.StopLoop{}, ""},
		{"OFF", event.StopLoop{}, ""},
		{"10m check the deploy", loop("check the deploy", nil), ""},
		{"600\tcheck\nthe deploy", loop("check\nthe deploy", nil), ""},
		{"10m !make test", loop("!make test", func(c *event.StartLoop) { c.Prompt.Shell = true }), ""},
		{"10m /babysit 7", loop("/babysit 7", nil), ""},
		{"10m look --runs 3 --turns=20 --cost $0.50 --time 2h", loop("look", func(c *event.StartLoop) {
			c.Runs, c.Limit = 3, event.GoalUse{Turns: 20, Cost: model.Dollar / 2, TimeMS: 7_200_000}
		}), ""},
		{`10m "!go test --time 3" --time 2h`, loop("!go test --time 3", func(c *event.StartLoop) { c.Prompt.Shell, c.Limit.TimeMS = true, 7_200_000 }), ""},
		{"10m stop", loop("stop", nil), ""},
		{"check the deploy", nil, `the interval comes first, as in /loop 10m PROMPT: "check" is not a time`},
		{"0 x", nil, `the interval comes first, as in /loop 10m PROMPT: "0" is out of range`},
		{"99999999d x", nil, `the interval comes first, as in /loop 10m PROMPT: "99999999d" is out of range`},
		{"1ms x", nil, "the interval 1ms is too short (at least 10s)"},
		{"9999ms x", nil, "the interval 9.999s is too short (at least 10s)"},
		{"48h x", nil, "the interval 48h is longer than the loop's time limit (24h)"},
		{"10m", nil, "it has no prompt"},
		{"10m --runs 3", nil, "it has no prompt"},
		{"10m !", nil, "it has no prompt"},
		{"10m x --runs 0", nil, "--runs 0: must be a number of runs, 1 or more"},
		{"10m x --cost nan", nil, "--cost nan: must be"},
		{`10m "x" --often`, nil, "--often is not known (have: --runs, --turns, --cost, --time;"},
		{"10m /help", nil, "/help can't be repeated"},
		{"10m /kill 3", nil, "/kill can't be repeated"},
	} {
		got, err := Loop(tt.args)
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("/loop %s: %v, want %s", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("/loop %s: %+v, %v, want %+v", tt.args, got, err, tt.want)
		}
	}
}
