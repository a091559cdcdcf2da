package dashboard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/client"
)

// fold returns the row after events, the first of which are in the greeting.
func fold(open int, events ...event.Event) Session {
	hello := client.Hello{Session: "7f3a", Cwd: "/home/ann/shop", Target: "local"}
	for i, e := range events[:open] {
		hello.Open = append(hello.Open, event.Envelope{Seq: uint64(i + 1), Time: int64(1000 + i), Payload: e})
	}
	f := Begin("7f3a", hello)
	for i, e := range events[open:] {
		f.Apply(event.Envelope{Seq: uint64(open + i + 1), Time: int64(1000 + open + i), Payload: e})
	}
	return f.Session()
}

func TestWhatASessionDoes(t *testing.T) {
	prompt, begin := event.PromptSubmitted{ID: 1, Text: "fix the taxes"}, event.TaskStarted{ID: 1, Kind: event.MainTask}
	asked := event.ApprovalAsked{ID: "a", Action: action.Action{Kind: action.Shell, Command: "go test ./..."}}
	question := event.QuestionAsked{ID: "q", Text: "Which\ndatabase?"}
	for name, tt := range map[string]struct {
		events []event.Event
		group  Group
		does   string
	}{
		"new":             {nil, Idle, "idle"},
		"working":         {[]event.Event{prompt, begin}, Working, "working"},
		"finished":        {[]event.Event{prompt, begin, event.TaskFinished{ID: 1, Outcome: event.Completed}}, Idle, "idle"},
		"failed":          {[]event.Event{prompt, begin, event.TaskFinished{ID: 1, Outcome: event.Failed, Error: "no key"}}, Failed, "no key"},
		"tried again":     {[]event.Event{begin, event.TaskFinished{ID: 1, Outcome: event.Failed}, event.TaskStarted{ID: 2, Kind: event.MainTask}}, Working, "working"},
		"background":      {[]event.Event{event.TaskStarted{ID: 3, Kind: event.ShellTask}}, Idle, "command in background"},
		"approval":        {[]event.Event{prompt, begin, asked}, Waiting, "approve go test ./..."},
		"question":        {[]event.Event{begin, question}, Waiting, "? Which database?"},
		"plan":            {[]event.Event{begin, event.QuestionAsked{ID: "p", Plan: "plan.md", Text: "# Plan"}}, Waiting, "approve the plan"},
		"approval denied": {[]event.Event{begin, asked, event.ApprovalAnswered{ID: "a", Decision: event.Deny}}, Working, "working"},
		"answered":        {[]event.Event{begin, question, event.QuestionAnswered{ID: "q"}}, Working, "working"},
		"resumed":         {[]event.Event{begin, asked, event.SessionResumed{}}, Idle, "idle"},
	} {
		for open := range len(tt.events) + 1 { // wherever the greeting ends
			if s := fold(open, tt.events...); s.Group != tt.group || s.Does() != tt.does {
				t.Errorf("%s after %d: %q, %q", name, open, s.Group, s.Does())
			}
		}
	}
}

func TestTheGreetingDescribesTheSession(t *testing.T) {
	hello := client.Hello{About: &client.Description{Title: "taxes", State: client.Failed, Latest: client.Latest{Failure: "no key", Prompt: "fix", Since: 7}}}
	s := Begin("7f3a", hello).Session()
	if s.Group != Failed || s.Title != "taxes" || s.Failure != "no key" || s.Since != 7 {
		t.Errorf("%+v", s)
	}
	f := Begin("7f3a", hello)
	f.Apply(event.Envelope{Time: 9, Payload: event.PromptSubmitted{Text: "again"}})
	f.Apply(event.Envelope{Time: 10, Payload: event.SessionRenamed{Title: "taxes 2"}})
	if s := f.Session(); s.Prompt != "again" || s.Failure != "" || s.Since != 9 || s.Title != "taxes 2" {
		t.Errorf("%+v", s)
	}
}

// A row has limits, whatever a session does, and a row that was returned does not change.
func TestRowsAreBounded(t *testing.T) {
	f := Begin("7f3a", client.Hello{})
	long := strings.Repeat("ä", 1<<20)
	f.Apply(event.Envelope{Payload: event.PromptSubmitted{Text: long}})
	f.Apply(event.Envelope{Payload: event.SessionRenamed{Title: long}})
	for i := range 3 * maxTasks {
		f.Apply(event.Envelope{Payload: event.TaskStarted{ID: i}})
		f.Apply(event.Envelope{Payload: event.QuestionAsked{ID: fmt.Sprint(i), Text: long}})
	}
	before := f.Session()
	f.Apply(event.Envelope{Payload: event.QuestionAnswered{ID: "0"}})
	text, err := json.Marshal(before)
	if err != nil || len(text) > MaxLine || len(f.tasks) != maxTasks || len(before.Waits) != maxWaits || before.Waits[0].ID != "0" {
		t.Errorf("%d bytes, %d tasks, %d waits, %v", len(text), len(f.tasks), len(before.Waits), err)
	}
	if got, err := Read("web-02", text); err != nil || got.Machine != "web-02" || len(got.Waits) != maxWaits {
		t.Errorf("%v", err)
	}
}

func TestOrder(t *testing.T) {
	now := time.Now().UnixMilli()
	all := []Session{
		{ID: "a", Group: Idle, Latest: client.Latest{Since: now}},
		{ID: "b", Group: Working},
		{ID: "c", Group: Waiting, Latest: client.Latest{Since: now}},
		{ID: "d", Group: Waiting, Latest: client.Latest{Since: now - 5}},
		{ID: "e", Group: Failed},
		{ID: "f", Group: Idle, Latest: client.Latest{Since: now + 1}},
	}
	Sort(all)
	got := ""
	for _, s := range all {
		got += s.ID
	}
	if got != "dcebfa" || Count(all, Waiting) != 2 {
		t.Error(got)
	}
}

func TestHostileRows(t *testing.T) {
	for _, line := range []string{
		"", "null x", "[]", `{"id":""}`, `{"id":"-oProxyCommand=x"}`, `{"id":"a;touch pwned"}`, `{"id":"../../x"}`, `{"id":"` + strings.Repeat("a", 65) + `"}`,
		`{"id":"7f3a","waits":{}}`, `{"id":"7f3a","began_unix_ms":"x"}`, strings.Repeat("x", MaxLine+1),
	} {
		if s, err := Read("web-02", []byte(line)); err == nil {
			t.Errorf("%.40q: %+v", line, s)
		}
	}
	s, err := Read("web-02", []byte(`{"id":"7f3a-1","machine":"other","group":"root","state":"pwned","title":"t"}`))
	if err != nil || s.Machine != "web-02" || s.Group != Idle || s.State != client.Idle { // the positive control
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":"7f3a-1","state":"waits for approval","title":"t","waits":[{"id":"a","kind":"approval","text":"x"}]}`))
	f.Add([]byte(`{"id":"7f3a-1","problem":"\u001b[31m","cost":1e99}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := Read("web-02", line)
		if err == nil && (!validID(s.ID) || len(s.Title) > maxText || len(s.Waits) > maxWaits || groupOf(s) != s.Group) {
			t.Errorf("%+v", s)
		}
		_ = s.Does()
	})
}
