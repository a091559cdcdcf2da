package skills

import (
	"context"
	"sync"
	"testing"
	"time"

	"buddy/agent/stream"
	"buddy/extensions"
	"buddy/extensions/skill"
)

// A file that changes while the skills are read for the first time is read again: that reading may have passed it.
func TestRefreshDuringTheFirstReading(t *testing.T) {
	var work sync.WaitGroup
	var b *Book
	readings := 0
	named := func(name string) skill.Skill { return skill.Skill{Item: extensions.Item{Name: name}} }
	b = NewBook(t.Context(), &work, stream.New("s", time.Now, nil), Options{Read: func(context.Context) (Set, error) {
		if readings++; readings > 1 {
			return Set{Skills: []skill.Skill{named("old"), named("new")}}, nil
		}
		b.Refresh()
		return Set{Skills: []skill.Skill{named("old")}}, nil
	}})
	b.ReadEarly()
	work.Wait()
	if _, ok := b.Find("new"); !ok || readings != 2 {
		t.Errorf("the new skill is known: %v, after %d readings, want 2", ok, readings)
	}
	b.Refresh()
	work.Wait()
	if readings != 3 {
		t.Errorf("%d readings, want 3", readings)
	}
}
