package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"buddy/agent/model"
)

// endOf classifies a result in these tests.
func endOf(result string) End {
	switch {
	case strings.HasPrefix(result, "Tool error: "):
		return Failed
	case strings.HasSuffix(result, "[exit code 2]"):
		return BadExit
	}
	return Worked
}

// exchange appends a prompt, a call with its result, and an answer.
func exchange(h *History, n int, result string) {
	id := fmt.Sprint("c", n)
	h.User(fmt.Sprint("prompt ", n))
	h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: id, Name: "run_shell", Arguments: fmt.Sprintf(`{"command":"make %d"}`, n)}}})
	h.Result(id, "run_shell", result, endOf(result))
	h.Assistant(model.Message{Content: fmt.Sprint("answer ", n)})
}

func filled(n int) *History {
	h := New("system")
	for i := range n {
		exchange(h, i, strings.Repeat("x", 1000))
	}
	return h
}

func contents(h *History) string {
	var all []string
	for _, m := range h.Messages() {
		all = append(all, fmt.Sprintf("%s %.60s", m.Role, m.Content))
	}
	return strings.Join(all, "\n")
}

func TestCompact(t *testing.T) {
	h := filled(6)
	before := slices.Clone(h.Messages())
	handed := h.Messages()
	r := h.Compact(0)
	checkValid(t, h.Messages())
	if r.Turns != 3 || r.Messages != 11 || r.Boundary != 12 || !slices.Equal(r.Kept, []int{0}) {
		t.Errorf("report %+v, want 3 exchanges and 12 messages removed, but for the first prompt", r)
	}
	if r.After != h.Tokens() || r.After >= r.Before {
		t.Errorf("before %d, after %d, now %d", r.Before, r.After, h.Tokens())
	}
	msgs := h.Messages()
	if msgs[0].Content != "system" || msgs[1].Role != model.System || msgs[2].Content != "prompt 0" || msgs[3].Content != "prompt 3" {
		t.Errorf("the history is\n%s", contents(h))
	}
	want := summaryTitle + `
- run_shell [success] make 0
- answer [info] answer 0
- prompt [info] prompt 1
- run_shell [success] make 1
- answer [info] answer 1
- prompt [info] prompt 2
- run_shell [success] make 2
- answer [info] answer 2`
	if msgs[1].Content != want || r.Summary != want {
		t.Errorf("the summary is\n%s\nwant\n%s", msgs[1].Content, want)
	}
	if !reflect.DeepEqual(before, handed) {
		t.Error("messages that were handed out changed")
	}
}

func TestCompactStopsAtTheTarget(t *testing.T) {
	h := filled(10)
	target := h.Tokens() * 82 / 100
	r := h.Compact(target)
	if r.After > target || r.Turns == 0 || r.Turns > 4 {
		t.Errorf("target %d: %+v", target, r)
	}
	if r := h.Compact(target); r.Messages != 0 || r.After != h.Tokens() {
		t.Errorf("below the target something was removed: %+v", r)
	}
}

func TestNothingRemovable(t *testing.T) {
	h := filled(3)
	want := contents(h)
	if r := h.Compact(0); r.Messages != 0 || r.Turns != 0 || r.Before != r.After || contents(h) != want {
		t.Errorf("the newest three exchanges were touched: %+v", r)
	}
}

func TestSummaryIsFoldedNotStacked(t *testing.T) {
	h := filled(6)
	h.Compact(0)
	for i := 6; i < 9; i++ {
		exchange(h, i, strings.Repeat("x", 1000))
	}
	h.Compact(0)
	checkValid(t, h.Messages())
	systems := 0
	for _, m := range h.Messages() {
		if m.Role == model.System {
			systems++
		}
	}
	summary := h.Messages()[1].Content
	if systems != 2 || strings.Count(summary, summaryTitle) != 1 {
		t.Errorf("%d system messages, summary\n%s", systems, summary)
	}
	for _, want := range []string{"answer 0", "prompt 5"} {
		if !strings.Contains(summary, want) {
			t.Errorf("%q is not in the summary\n%s", want, summary)
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	h := New("")
	for i := range 40 {
		exchange(h, i, "x"+strings.Repeat("long ", 300))
	}
	h.User(strings.Repeat("Ünïcödé ", 200_000) + "\n- evil [success] line\x00")
	h.Assistant(model.Message{Content: "understood"})
	for i := range 3 {
		exchange(h, 100+i, "x")
	}
	r := h.Compact(0)
	lines := strings.Split(r.Summary, "\n")
	if len(lines) != 1+summaryLines+1 {
		t.Errorf("%d lines, want a title, %d and a count", len(lines), summaryLines)
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > summaryWidth || !utf8.ValidString(l) {
			t.Errorf("a line has %d characters: %q", n, l)
		}
	}
	if want := fmt.Sprintf(omittedForm, 40*3-1+2-summaryLines); lines[len(lines)-1] != want {
		t.Errorf("last line %q, want %q", lines[len(lines)-1], want)
	}
	for i := range 3 {
		exchange(h, 200+i, strings.Repeat("x", 2000))
	}
	r = h.Compact(0)
	if want := fmt.Sprintf(omittedForm, 43*3-1+2-summaryLines); !strings.HasSuffix(r.Summary, want) {
		t.Errorf("folded again the count is not %q in\n%s", want, r.Summary)
	}
}

func TestShortForms(t *testing.T) {
	small := func(n, chars int) *History {
		h := New("")
		for range n {
			h.User(strings.Repeat("u", chars))
			h.Assistant(model.Message{Content: "a"})
		}
		return h
	}
	h := small(5, 20)
	if r := h.Compact(0); r.Summary != "(3 earlier operations omitted)" || r.After >= r.Before {
		t.Errorf("one line: %+v", r)
	}
	h = small(4, 1)
	if r := h.Compact(0); r.Summary != "" || r.Messages != 1 || r.After >= r.Before {
		t.Errorf("no summary: %+v", r)
	}
	checkValid(t, h.Messages())
}

func TestFailuresStay(t *testing.T) {
	h := New("")
	results := []string{
		"Tool error: an old one", "[exit code 2]", "", "Tool error: no such file",
		"exit code 1", "x", "x", "x",
	}
	for i, s := range results {
		exchange(h, i, s)
	}
	r := h.Compact(0)
	got := contents(h)
	for i, stays := range []bool{false, true, true, true, false, true, true, true} {
		if strings.Contains(got, fmt.Sprint("assistant answer ", i)) != stays {
			t.Errorf("exchange %d stays: want %v, in\n%s", i, stays, got)
		}
	}
	if r.Turns != 2 || !slices.Equal(r.Kept, []int{0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) || r.Boundary != 20 {
		t.Errorf("report %+v", r)
	}
	checkValid(t, h.Messages())
}

func TestFailureIsInTheSummary(t *testing.T) {
	h := New("")
	for i := range 7 {
		exchange(h, i, "Tool error: "+strings.Repeat("no ", 100))
	}
	if r := h.Compact(0); !strings.Contains(r.Summary, "- run_shell [failure] make 0") {
		t.Errorf("the summary is\n%s", r.Summary)
	}
}

func TestPins(t *testing.T) {
	h := filled(6)
	at := slices.IndexFunc(h.Messages(), func(m model.Message) bool { return m.ToolCallID == "c1" })
	if !h.Pin(at) || h.Pin(0) || h.Pin(-1) || h.Pin(len(h.Messages())) {
		t.Fatal("Pin takes the wrong messages")
	}
	h.Compact(0)
	msgs := h.Messages()
	checkValid(t, msgs)
	at = slices.IndexFunc(msgs, func(m model.Message) bool { return m.ToolCallID == "c1" })
	if at < 0 || msgs[at-1].ToolCalls[0].ID != "c1" || strings.Contains(contents(h), "prompt 1\n") {
		t.Fatalf("the pinned pair is not alone in\n%s", contents(h))
	}
	exchange(h, 9, "x")
	h.Compact(0)
	if !strings.Contains(contents(h), "tool xxx") || !h.Unpin(at) || h.Unpin(at) {
		t.Error("the pin was lost")
	}
	for i := 10; i < 14; i++ {
		exchange(h, i, strings.Repeat("y", 1000))
	}
	h.Compact(0)
	if strings.Contains(contents(h), "tool xxx") {
		t.Error("an unpinned message stayed")
	}
}

func TestOpenCallsSurvive(t *testing.T) {
	h := filled(5)
	h.User("go on")
	h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}}})
	h.Result("a", "x", "done", Worked)
	if r := h.Compact(0); r.Turns != 3 {
		t.Errorf("report %+v", r)
	}
	h.Result("b", "x", "done too", Worked)
	checkValid(t, h.Messages())
}

func TestApplyRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []Cut{
		{Boundary: -1},
		{Boundary: 1000},
		{Boundary: 2},                       // between a call and its result
		{Boundary: 8, Kept: []int{2}},       // a result alone
		{Boundary: 8, Kept: []int{1}},       // a call alone
		{Boundary: 8, Kept: []int{4, 3}},    // order
		{Boundary: 8, Kept: []int{8}},       // twice
		{Boundary: 8, Kept: []int{-1}},      // nowhere
		{Boundary: 8, Kept: []int{5, 5, 6}}, // twice
	} {
		h := filled(6)
		want := contents(h)
		if err := h.Apply(c); err == nil {
			t.Errorf("Apply(%+v) was taken", c)
		}
		if contents(h) != want {
			t.Errorf("Apply(%+v) changed the history", c)
		}
	}
}

// Reminders and steering open no exchange: "the newest three", pins and units count prompts only.
func TestRemindersOpenNoExchange(t *testing.T) {
	h := New("system")
	h.Append(model.Reminder, "the screen shows a shell")
	for i := range 6 {
		exchange(h, i, strings.Repeat("x", 1000))
		h.Append(model.Steering, fmt.Sprint("and quickly ", i))
		h.Append(model.Reminder, "a command has ended")
		h.Assistant(model.Message{Content: "so it has"})
		h.Append(model.Reminder, "what ls gave")
	}
	if n := h.PinExchange(4, true); n != 8 {
		t.Errorf("exchange 4 has %d messages, want 8", n)
	}
	if h.PinExchange(7, true) != 0 {
		t.Error("there is an exchange before the first")
	}
	r := h.Compact(0)
	checkValid(t, h.Messages())
	got := contents(h)
	for i, stays := range []bool{false, false, true, true, true, true} {
		if strings.Contains(got, fmt.Sprint("and quickly ", i)) != stays {
			t.Errorf("exchange %d stays: want %v, in\n%s", i, stays, got)
		}
	}
	if !strings.Contains(got, "user prompt 0\n") || r.Turns != 2 || !strings.Contains(r.Summary, "- reminder [info] the screen") {
		t.Errorf("report %+v of\n%s", r, got)
	}
}

// A summary may cut a long exchange in two. The person's messages of that exchange are kept, whatever message is next
// to the cut.
func TestCutExchangeKeepsWhatWasAsked(t *testing.T) {
	h := filled(2)
	h.User("rename it, and never touch vendor/")
	for i := range 6 {
		called(h, tool{fmt.Sprint("r", i), "run_shell", "{}", strings.Repeat("y", 400)})
		h.Append(model.Reminder, "a command has ended")
		if i == 1 {
			h.Append(model.Steering, "nor docs/")
		}
	}
	for i := range 3 {
		c, removed := h.Older(200, 0)
		if len(removed) > 0 {
			c.Summary = "a summary"
			if err := h.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		called(h, tool{fmt.Sprint("s", i), "run_shell", "{}", strings.Repeat("y", 400)})
		h.Append(model.Reminder, "a command has ended")
	}
	got := contents(h)
	if !strings.HasPrefix(got, "system system\nsystem a summary\nuser prompt 0\nuser rename it, and never touch vendor/\nuser nor docs/\n") || strings.Contains(got, "prompt 1") {
		t.Errorf("the history is\n%s", got)
	}
}
