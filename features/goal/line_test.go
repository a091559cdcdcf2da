package goal

import (
	"reflect"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

func TestLine(t *testing.T) {
	limit := func(u event.GoalUse) event.SetGoal {
		return event.SetGoal{Goal: "make it good", Check: "make test", Limit: u}
	}
	tests := []struct {
		args string
		want event.Command
		err  string
	}{
		{"", nil, ""},
		{"pause", event.ChangeGoal{To: event.GoalPaused}, ""},
		{"Resume", event.ChangeGoal{To: event.GoalActive}, ""},
		{"off", event.ChangeGoal{To: event.GoalOff}, ""},
		{"off with the old API", event.SetGoal{Goal: "off with the old API"}, ""},
		{"make it good", event.SetGoal{Goal: "make it good"}, ""},
		{"make it good --check make test", limit(event.GoalUse{}), ""},
		{`make it good --check "make test"`, limit(event.GoalUse{}), ""},
		{`make it good --check='make test'`, limit(event.GoalUse{}), ""},
		{`"make it good" --check make test`, limit(event.GoalUse{}), ""},
		{"--turns 3 make it good", nil, "--turns 3 make it good: must be"},
		{"make it good --turns 3 --check make test --cost $0.50 --time 30m", limit(event.GoalUse{Turns: 3, Cost: model.Dollar / 2, TimeMS: 1_800_000}), ""},
		{"g --verdict --check go test ./... -run 'A|B' --turns=7", event.SetGoal{Goal: "g", Verdict: true, Check: "go test ./... -run 'A|B'", Limit: event.GoalUse{Turns: 7}}, ""},
		{`g --check "a b" && "c d"`, event.SetGoal{Goal: "g", Check: `"a b" && "c d"`}, ""},
		{`g --check "grep -- --time x"`, event.SetGoal{Goal: "g", Check: "grep -- --time x"}, ""},
		{"add a --json flag", event.SetGoal{Goal: "add a --json flag"}, ""},
		{`"add a --time flag"`, event.SetGoal{Goal: "add a --time flag"}, ""},
		{`"quoted" and more`, event.SetGoal{Goal: `"quoted" and more`}, ""},
		{"two\nlines\n--check make test", event.SetGoal{Goal: "two\nlines", Check: "make test"}, ""},
		{"add a --time flag", nil, "--time: \"flag\" is not a time"},
		{"g --check", nil, "--check needs a command"},
		{`g --check ""`, nil, "--check needs a command"},
		{"g --turns 0", nil, "--turns 0: must be"},
		{"g --turns x", nil, "--turns x: must be"},
		{"g --cost nan", nil, "--cost nan: must be"},
		{"g --cost -1", nil, "--cost -1: must be"},
		{"g --time 0s", nil, "--time: \"0s\" is out of range"},
		{"g --verdict yes --turns 2", nil, "--verdict takes no value"},
		{"--check make test", nil, "say what the goal is"},
	}
	for _, tt := range tests {
		got, err := parse(tt.args)
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("/goal %s: %v, want %s", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("/goal %s: %+v %v, want %+v", tt.args, got, err, tt.want)
		}
	}
}

// FuzzLine: any input is parsed, and all parts of the goal come from the input.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "off", "g --check x --turns 2", `"a --check b" --verdict --`, "g --check '", "--", "g --time"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		c, err := parse(args)
		if set, ok := c.(event.SetGoal); ok && err == nil && (set.Goal == "" || !strings.Contains(args, set.Goal) || !strings.Contains(args, set.Check)) {
			t.Errorf("/goal %q: %+v", args, set)
		}
	})
}
