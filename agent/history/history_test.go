package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
)

// checkValid fails unless msgs are valid to send.
func checkValid(t *testing.T, msgs []model.Message) {
	t.Helper()
	ids, other := make(map[string]bool), false
	for _, m := range msgs {
		if m.Role == model.System && other {
			t.Fatalf("a system message comes after the first other: %q", m.Content)
		}
		other = other || m.Role != model.System
		for _, c := range m.ToolCalls {
			if ids[c.ID] {
				t.Fatalf("call %q is there twice", c.ID)
			}
			ids[c.ID] = true
		}
	}
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == model.Tool {
			t.Fatalf("message %d is a result without a call: %+v", i, m)
		}
		if m.Role == model.Assistant && m.Content == "" && len(m.ToolCalls) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		for _, c := range m.ToolCalls {
			i++
			if i >= len(msgs) || msgs[i].Role != model.Tool || msgs[i].ToolCallID != c.ID {
				t.Fatalf("call %q has no result at index %d", c.ID, i)
			}
			if msgs[i].Content == "" {
				t.Fatalf("result %q is empty", c.ID)
			}
		}
	}
}

// message returns a user message that is unique to step n.
func message(n int, arg byte) (model.Kind, string) {
	kinds := []model.Kind{model.Prompt, model.Reminder, model.Prompt, model.Steering, model.Reminder}
	return kinds[arg/2%5], fmt.Sprint(n, []string{" hello", strings.Repeat(" long", 500)}[arg%2])
}

// asked holds the person's messages that no compaction may remove: the first prompt, and the last one with its
// steering.
type asked struct{ first, last []string }

func (a *asked) add(kind model.Kind, text string) {
	switch {
	case kind == model.Prompt:
		a.last = []string{text}
	case kind == model.Steering && a.last != nil:
		a.last = append(a.last, text)
	}
	if a.first == nil {
		a.first = slices.Clone(a.last)
	}
}

func (a *asked) check(t *testing.T, step int, msgs []model.Message) {
	t.Helper()
	want := a.last
	if len(a.first) > 0 && a.first[0] != a.last[0] {
		want = append(a.first[:1:1], a.last...)
	}
	for _, m := range msgs {
		if len(want) > 0 && m.Content == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Fatalf("step %d: %.20q is not where it was said, in\n%v", step, want, msgs)
	}
}

// step performs the operation that the two bytes encode. It returns the data that a session file would store of a
// compaction.
func step(t *testing.T, h *History, n int, op, arg byte) any {
	t.Helper()
	switch op % 11 {
	case 0:
		kind, text := message(n, arg)
		h.Append(kind, text)
	case 1, 2:
		m := model.Message{Content: []string{"", " ", "text"}[arg%3]}
		for i := range int(arg/3) % 4 {
			c := model.ToolCall{
				ID:        []string{fmt.Sprint(n, "-", i%3), "", "0-0"}[int(arg)%7/5+int(arg)%11/10],
				Name:      []string{"run_shell", "grep", "read_file"}[(int(arg)+i)%3],
				Arguments: []string{`{"path":"a"}`, `{"command":"x"}`, "{"}[arg/16%3],
			}
			m.ToolCalls = append(m.ToolCalls, c)
		}
		h.Assistant(m)
	case 3, 4, 5:
		if h.Result("nobody", "run_shell", "x", Worked) {
			t.Fatal("a result without a call was taken")
		}
		if open := h.Open(); len(open) > 0 {
			c := open[int(arg)%len(open)]
			out := []string{"", "out", "Tool error: x", "[exit code 2]", strings.Repeat("match ", 1000)}[arg%5]
			if !h.Result(c.ID, c.Name, out, endOf(out)) {
				t.Fatalf("open call %q was refused", c.ID)
			}
		}
	case 6:
		if arg%2 == 0 {
			h.Pin(int(arg) / 2)
		} else {
			h.Unpin(int(arg) / 2)
		}
	case 8:
		h.PinExchange(int(arg)/2%5, arg%2 == 0)
	case 9:
		c := h.Clone()
		c.Close("elsewhere")
		c.User("a fork")
		checkValid(t, c.Messages())
	case 10:
		return older(t, h, int(arg))
	case 7:
		if arg%2 == 0 {
			return h.MicroCompact(true)
		}
		before := h.Tokens()
		r := h.Compact(before * int(arg) / 256)
		if r.Before != before || r.After != h.Tokens() || (r.Messages > 0) != (r.After < r.Before) {
			t.Fatalf("report %+v, was %d, is %d", r, before, h.Tokens())
		}
		if r.Messages > 0 {
			return r.Cut
		}
	}
	return nil
}

// older removes all but the newest messages, as for a summary by a model.
func older(t *testing.T, h *History, arg int) any {
	t.Helper()
	if len(h.Open()) > 0 {
		return nil // the runtime never compacts then
	}
	c, removed := h.Older(arg*8, arg%7)
	if len(removed) == 0 {
		return nil
	}
	c.Summary, c.Restored = []string{"a summary", ""}[arg%2], []string{"", "files"}[arg/2%2]
	last := h.Messages()[len(h.Messages())-1]
	if err := h.Apply(c); err != nil {
		t.Fatalf("Apply(%+v): %v", c, err)
	}
	if now := h.Messages(); !reflect.DeepEqual(now[len(now)-1], last) {
		t.Fatalf("the last message went: %+v", now)
	}
	return c
}

// run runs a whole program, and repeats it on a second history that only applies the decisions of the first, as a
// replay does.
func run(t *testing.T, program []byte) {
	t.Helper()
	system := []string{"", "system"}[len(program)%2]
	h, replayed := New(system), New(system)
	var person asked
	for n := 0; n+1 < len(program); n += 2 {
		op, arg := program[n], program[n+1]
		decided := step(t, h, n, op, arg)
		switch d := decided.(type) {
		case []string:
			replayed.ApplyMicro(d)
		case Cut:
			if err := replayed.Apply(d); err != nil {
				t.Fatalf("step %d: replay: %v", n, err)
			}
		default:
			step(t, replayed, n, op, arg)
		}
		if !reflect.DeepEqual(h.Messages(), replayed.Messages()) {
			t.Fatalf("step %d: the replay differs", n)
		}
		if op%11 == 0 {
			person.add(message(n, arg))
		}
		person.check(t, n, h.Messages())
		if h.Estimate() != sum(h) {
			t.Fatalf("step %d: estimate %d, want %d", n, h.Estimate(), sum(h))
		}
		if err := paired(h.msgs, len(h.open)); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
	}
	h.Close(Unanswered)
	checkValid(t, h.Messages())
}

// TestAlwaysValid checks random histories with prompts, steering and reminders anywhere: they are valid to send after
// every step, and keep the person's task word for word.
func TestAlwaysValid(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		program := make([]byte, 240+seed%2)
		for i := range program {
			program[i] = byte(r.UintN(256))
		}
		run(t, program)
	}
}

func FuzzAlwaysValid(f *testing.F) {
	f.Add([]byte("\x00\x01\x01\x08\x03\x00\x00\x00\x00\x01\x00\x00\x07\x01"))
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 600 {
			run(t, program)
		}
	})
}

func TestResultsKeepCallOrder(t *testing.T) {
	h := New("")
	h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}, {ID: "c", Name: "x"}}})
	for _, id := range []string{"c", "a", "b"} {
		h.Result(id, "x", "result "+id, Worked)
	}
	checkValid(t, h.Messages())
}

func TestBlankSystemPromptAddsNothing(t *testing.T) {
	if n := len(New(" \n").Messages()); n != 0 {
		t.Errorf("%d messages, want none", n)
	}
	if n := len(New("be brief").Messages()); n != 1 {
		t.Errorf("%d messages, want one", n)
	}
}

func TestTokens(t *testing.T) {
	h := New("")
	h.User("12345678")
	if got := h.Tokens(); got != (16+8)/4 {
		t.Errorf("Tokens() = %d, want 6", got)
	}
}

// TestProvidersSummary: an answer that holds only the provider's summary is kept.
func TestProvidersSummary(t *testing.T) {
	h := New("s")
	h.User("q")
	m := model.Message{Role: model.Assistant}
	if h.Assistant(m) {
		t.Error("an answer that says nothing was kept")
	}
	if m.MarkCompacted(); !h.Assistant(m) {
		t.Error("the summary was dropped")
	}
}

// TestTellBefore: a reminder goes before the unanswered prompt that it comes with, even if reminders follow the
// prompt, and never before an answered one.
func TestTellBefore(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(h *History)
		want string
	}{
		{"prompt", func(h *History) { h.User("p") }, "s|list|p"},
		{"prompt and reminders", func(h *History) { h.User("p"); h.Append(model.Reminder, "a"); h.Append(model.Reminder, "b") }, "s|list|p|a|b"},
		{"a reminder before", func(h *History) { h.User("p"); InsertBefore(h, "a") }, "s|a|list|p"},
		{"prompt after another", func(h *History) { h.User("o"); h.User("p") }, "s|o|list|p"},
		{"where it works", func(h *History) { SetHere(h, "here"); h.User("p") }, "s|here|list|p"},
		{"only where it works", func(h *History) { SetHere(h, "here") }, "s|here|list"},
		{"said together", func(h *History) {
			h.User("p")
			h.Assistant(model.Message{Content: "ok"})
			h.Append(model.Steering, "a")
			h.Append(model.Steering, "b")
		}, "s|p|ok|list|a|b"},
		{"answer", func(h *History) { h.User("p"); h.Assistant(model.Message{Content: "ok"}) }, "s|p|ok|list"},
		{"answer and a reminder", func(h *History) {
			h.User("p")
			h.Assistant(model.Message{Content: "ok"})
			h.Append(model.Reminder, "a")
		}, "s|p|ok|a|list"},
		{"only a reminder", func(h *History) { h.Append(model.Reminder, "a") }, "s|a|list"},
		{"nothing", func(*History) {}, "s|list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := New("s")
			tt.call(h)
			InsertBefore(h, "list")
			var got []string
			for _, m := range h.Messages() {
				got = append(got, m.Content)
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestWhereItWorks: the message about where the model works stays between the system messages and the first prompt
// through every compaction. Requests that were sent keep their version.
func TestWhereItWorks(t *testing.T) {
	texts := func(h *History) string {
		var all []string
		for _, m := range h.Messages() {
			all = append(all, string(m.Role[0])+" "+m.Content)
		}
		return strings.Join(all, "|")
	}
	h := New("")
	h.User("one")
	if !h.Pin(0) {
		t.Fatal("the prompt can't be pinned")
	}
	h.Assistant(model.Message{Content: "ok"})
	h.User("two")
	SetHere(h, "here")
	h.SetSystem("s")
	SetHere(h, " ")
	first := h.Messages()
	if got := texts(h); got != "s s|u here|u one|a ok|u two" {
		t.Errorf("%q", got)
	}
	if err := h.Apply(Cut{Summary: "sum", Restored: "file", Boundary: 2, Kept: []int{0}}); err != nil {
		t.Fatal(err)
	}
	SetHere(h, "there")
	h.SetSystem("system")
	if got := texts(h); got != "s system|s sum|u there|u file|u one|u two" {
		t.Errorf("%q", got)
	}
	if first[1].Content != "here" || first[0].Content != "s" {
		t.Errorf("an earlier request changed: %v", first)
	}
	if h.Pin(2) || !h.Unpin(4) {
		t.Error("the pin did not stay with the prompt")
	}
	if got, want := h.Tokens(), Size(h.Messages())/CharsPerToken; got != want {
		t.Errorf("%d tokens by estimate, want %d", got, want)
	}
	if items := Items(h); items[0].Kind != SystemItem || items[1].Kind != SummaryItem || items[2].Kind != SystemItem || items[3].Kind != ReminderItem {
		t.Errorf("%+v", items)
	}
	next := New("")
	next.User("one")
	Succeed(next, h)
	if got := texts(next); got != "s system|u there|u one" {
		t.Errorf("%q", got)
	}
}

// TestExchangesBeginWithReminders: reminders before a prompt belong to its exchange, those after a result do not.
func TestExchangesBeginWithReminders(t *testing.T) {
	h := New("s")
	h.Append(model.Reminder, "r1")
	h.User("one")
	h.Assistant(model.Message{ToolCalls: []model.ToolCall{{ID: "1", Name: "read_file"}}})
	h.Result("1", "read_file", "text", Worked)
	h.Append(model.Reminder, "r2")
	h.Assistant(model.Message{Content: "ok"})
	h.Append(model.Reminder, "r3")
	h.Append(model.Reminder, "r4")
	h.User("two")
	h.User("three")
	if got, want := fmt.Sprint(units(h.body())), "[{0 6} {6 9} {9 10}]"; got != want {
		t.Errorf("exchanges %s, want %s", got, want)
	}
}
