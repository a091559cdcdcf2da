package history

import (
	"buddy/agent/model"
	"buddy/agent/reminder"
	"buddy/texts"
)

// ItemKind says which part of a request an item is.
type ItemKind uint8

// The kinds of items, in the order of a request.
const (
	SystemItem ItemKind = iota // the system prompt, and the message about where the model works
	SummaryItem
	MessageItem // text of a person or the model, with its calls
	ResultItem
	ReminderItem
)

// Item holds the size of one message of a history.
type Item struct {
	Kind  ItemKind
	Name  string // for display: the subject of a call, or the start of a text; "" for the system prompt
	Chars int    // as in the estimate
}

const (
	itemWidth = 60  // characters of a name
	itemStart = 400 // bytes of the text that the name is made from
)

// Items returns the messages of h with their sizes, in order. The sizes add up to the estimate without the part from
// SetFixed. It takes time proportional to the history.
func Items(h *History) []Item {
	calls := make(map[string]model.ToolCall)
	items := make([]Item, 0, len(h.msgs))
	for i, m := range h.msgs {
		for _, c := range m.ToolCalls {
			calls[c.ID] = h.meant.of(c)
		}
		item := Item{Chars: size(m)}
		switch {
		case i < h.system || i == hereAt(h) && h.here:
		case i == h.system && h.summary:
			item.Kind, item.Name = SummaryItem, "summary of what was removed"
		case m.Role == model.Tool:
			item.Kind, item.Name = ResultItem, itemName(m.Name, subject(calls[m.ToolCallID].Arguments))
		case m.Role == model.User && m.Kind == model.Reminder:
			item.Kind, item.Name = ReminderItem, itemName("reminder", reminder.Unwrap(m.Content))
		case m.Role == model.User:
			item.Kind, item.Name = MessageItem, itemName("prompt", m.Content)
		default:
			item.Kind, item.Name = MessageItem, answerName(m)
		}
		items = append(items, item)
	}
	return items
}

// answerName names an answer by its text, or by its first call if it has no text.
func answerName(m model.Message) string {
	if m.Content == "" && len(m.ToolCalls) > 0 {
		return itemName("call of "+m.ToolCalls[0].Name, subject(m.ToolCalls[0].Arguments))
	}
	return itemName("answer", m.Content)
}

func itemName(what, about string) string {
	return texts.Clip(texts.OneLine(what+" "+texts.ClipBytes(about, itemStart)), itemWidth)
}
