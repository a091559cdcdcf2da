package workflow

import (
	"reflect"
	"testing"

	"buddy/agent/event"
)

func TestWorkflowCommand(t *testing.T) {
	for _, line := range []string{"", "runs", "status", "show deploy", "open deploy"} { // commands that only show something
		if got, err := parse(line); got != nil || err != nil {
			t.Errorf("/workflow %s: %#v, %v", line, got, err)
		}
	}
	for line, want := range map[string]event.Command{
		"resume":                         event.ResumeWorkflow{},
		"resume 2":                       event.ResumeWorkflow{Run: 2},
		"cancel 3":                       event.CancelWorkflow{Run: 3},
		"save release":                   event.SaveWorkflow{Name: "release"},
		"deploy":                         event.RunWorkflow{Name: "deploy", Inputs: map[string]string{}},
		"deploy on=a,b note='two words'": event.RunWorkflow{Name: "deploy", Inputs: map[string]string{"on": "a,b", "note": "two words"}},
		"run runs":                       event.RunWorkflow{Name: "runs", Inputs: map[string]string{}},
		"resume x":                       nil,
		"resume 1 2":                     nil,
		"save":                           nil,
		"run":                            nil,
		"deploy web-1":                   nil,
		"deploy 'on=a":                   nil,
	} {
		got, err := parse(line)
		if want == nil && err == nil || want != nil && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("/workflow %s: %#v, %v; want %#v", line, got, err, want)
		}
	}
}
