package skills

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// A file that changes during the first reading is read again: the reading may already have passed it.
func TestRefreshDuringTheFirstReading(t *testing.T) {
	var work sync.WaitGroup
	var b *Book
	readings := 0
	named := func(name string) skill.Skill { return skill.Skill{Item: extensions.Item{Name: name}} }
	b = New(Options{Read: func(context.Context) (Set, error) {
		if readings++; readings > 1 {
			return Set{Skills: []skill.Skill{named("old"), named("new")}}, nil
		}
		b.Refresh()
		return Set{Skills: []skill.Skill{named("old")}}, nil
	}})
	b.Begin(turn.Session{Context: t.Context(), Work: &work, Stream: stream.New("s", time.Now, nil)})
	b.readEarly()
	work.Wait()
	if _, ok := b.find("new"); !ok || readings != 2 {
		t.Errorf("the new skill is known: %v, after %d readings, want 2", ok, readings)
	}
	b.Refresh()
	work.Wait()
	if readings != 3 {
		t.Errorf("%d readings, want 3", readings)
	}
}

// Files that are used while skills are read and listed cause no deadlock: the book sees the events that it publishes.
func TestFilesUsedWhileSkillsAreRead(t *testing.T) {
	var work sync.WaitGroup
	readings := 0
	b := New(Options{
		Read: func(context.Context) (Set, error) {
			readings++ // a new list of commands each time, which is published
			return Set{Skills: []skill.Skill{{Item: extensions.Item{Name: fmt.Sprint("s", readings)}, Typed: true}}}, nil
		},
		Below: func(context.Context, []string) (bool, error) { return true, nil },
	})
	events := stream.New("s", time.Now, nil)
	b.Begin(turn.Session{Context: t.Context(), Work: &work, Stream: events, Workspace: "/w"})
	events.Publish(0, 0, event.SessionCreated{})
	work.Go(func() {
		for i := range 200 {
			id := fmt.Sprint(i)
			events.Publish(0, 0, event.ToolRequested{CallID: id, Action: action.Action{Kind: action.FileRead, Path: "/w/" + id + "/a.txt"}})
			events.Publish(0, 0, event.ToolResult{CallID: id})
		}
	})
	for range 200 {
		b.Commands(t.Context())
	}
	work.Wait()
	before := readings
	if b.Commands(t.Context()); len(b.below.files) != 200 || readings > before+1 {
		t.Errorf("%d files are known, %d readings after the last", len(b.below.files), readings-before)
	}
	if before = readings; b.Commands(t.Context()) == nil || readings != before {
		t.Errorf("skills are read again though nothing was used")
	}
}
