package agent

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/agent/reminder"
)

// After a compaction the model gets its working memory once, without secrets; /context shows it. A resumed session
// sends the same bytes and repeats nothing.
func TestWorkingMemorySurvivesACompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, files := withFiles(t, map[string]string{"a.txt": "one\n"})
		change := func(o *Options) {
			scripted := o.Model
			files(o)
			o.Model = scripted
			withWindow(100_000)(o)
			o.Redact = redact.New("sk-secret-value")
			o.Reminders = reminder.NewSet(nil, reminder.Own()...)
		}
		steps := append([]step{says("", `c1 read_file {"path":"a.txt"}`)}, answers(12)...)
		s := start(t, change, steps...)
		s.do(event.Submit{Text: "make it fast with sk-secret-value"})
		for i := range 7 {
			s.do(prompt(i, 160))
		}
		if got := s.attached(reminder.WorkingMemory); len(got) != 0 {
			t.Errorf("told before a compaction: %+v", got)
		}
		s.do(event.Compact{})
		if _, n := find[event.ContextCompacted](s); n != 1 {
			t.Fatalf("%d compactions", n)
		}
		s.do(event.Submit{Text: "go on"})
		s.do(event.Submit{Text: "and on"})
		got := s.attached(reminder.WorkingMemory)
		if len(got) != 1 {
			t.Fatalf("told %+v", got)
		}
		for _, want := range []string{"goal: make it fast", "last prompt: go on", "files read below ", "a.txt"} {
			if !strings.Contains(got[0].Text, want) {
				t.Errorf("%q is not in %s", want, got[0].Text)
			}
		}
		if len(got[0].Text) > 1200 || strings.Contains(got[0].Text, "sk-secret-value") {
			t.Errorf("%d bytes: %s", len(got[0].Text), got[0].Text)
		}
		shown := textOf(ContextUse(s.Runtime))
		if !strings.Contains(shown, "Working memory\n  Goal: make it fast") || !strings.Contains(shown, "Files read: a.txt (below ") || strings.Contains(shown, "sk-secret-value") {
			t.Errorf("/context shows\n%s", shown)
		}
		before := s.Messages()
		s.stop()

		again := start(t, func(o *Options) { change(o); o.Replay = s.mem.events }, answers(3)...)
		if got := again.Messages(); !reflect.DeepEqual(got, before) {
			t.Errorf("resumed with\n%v\nwant\n%v", got, before)
		}
		if text := textOf(ContextUse(again.Runtime)); text[strings.Index(text, "Working"):] != shown[strings.Index(shown, "Working"):] {
			t.Errorf("resumed /context shows\n%s\nwant\n%s", text, shown)
		}
		again.do(event.Submit{Text: "once more"})
		if got := again.attached(reminder.WorkingMemory); len(got) != 0 {
			t.Errorf("told again after the resume: %s", fmt.Sprint(got))
		}
		again.stop()
	})
}
