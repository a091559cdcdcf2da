package compact

import (
	"testing"

	"buddy/agent/event"
)

// A task warns once at 80 % and once at 90 %, even if usage falls in between; the next task warns again.
func TestWarnsOnceInATaskForEachGrade(t *testing.T) {
	var m Room
	for i, c := range []struct {
		task  int
		grade event.Health
		want  bool
	}{
		{1, event.Healthy, false},
		{1, event.Hint, false},
		{1, event.Warned, true},
		{1, event.Warned, false},
		{1, event.Critical, true},
		{1, event.Warned, false},
		{1, event.Critical, false},
		{2, event.Critical, true},
		{2, event.Warned, false},
	} {
		if got := m.warns(c.task, c.grade); got != c.want {
			t.Errorf("step %d: task %d at %q: %v, want %v", i, c.task, c.grade, got, c.want)
		}
	}
}
