package history

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/reminder"
)

func TestItemsHaveTheSizeOfTheHistory(t *testing.T) {
	h := filled(5)
	h.Append(model.Reminder, reminder.Wrap("the screen shows a shell"))
	h.Compact(0)
	h.Assistant(model.Message{Content: "", ToolCalls: []model.ToolCall{{ID: "r", Name: "read_file", Arguments: `{"path":"a.go"}`}}})
	h.Result("r", "read_file", "package a", Worked)
	items := Items(h)
	n := 0
	for _, i := range items {
		n += i.Chars
	}
	if n/CharsPerToken != h.Estimate() || len(items) != len(h.Messages()) {
		t.Errorf("%d items of %d characters, the history has %d messages and %d tokens", len(items), n, len(h.Messages()), h.Estimate())
	}
	for kind, name := range map[ItemKind]string{
		SystemItem: "", SummaryItem: "summary of what was removed", ReminderItem: "reminder the screen shows a shell", ResultItem: "read_file a.go",
	} {
		if !slices.ContainsFunc(items, func(i Item) bool { return i.Kind == kind && i.Name == name }) {
			t.Errorf("no item %d %q in %+v", kind, name, items)
		}
	}
	if last := items[len(items)-2]; last.Kind != MessageItem || last.Name != "call of read_file a.go" {
		t.Errorf("the call is %+v", last)
	}
}

// A name is one short line for any message.
func TestItemNamesAreShort(t *testing.T) {
	h := New("")
	h.User("evil\n\n\tlines " + strings.Repeat("ü", 1_000_000))
	if got := Items(h)[0].Name; strings.Contains(got, "\n") || !strings.HasPrefix(got, "prompt evil lines ü") || len([]rune(got)) != itemWidth {
		t.Errorf("the name is %q", got)
	}
}
