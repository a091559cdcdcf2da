package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
)

func search(t testing.TB, s Store, text string) (hits []Hit) {
	t.Helper()
	if err := s.Search(t.Context(), text, func(h Hit) bool { hits = append(hits, h); return true }); err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestSearch(t *testing.T) {
	s := newStore(t)
	long := strings.Repeat("filler é ", 5000)
	texts := []string{
		"The Quick brown fox", "quick \"quoted\" \\ tab\there", "émile Zola", long + "needle at the end", "\x1b[31mred\u2028line",
	}
	for i, text := range texts {
		j := create(t, s)
		id := j.Info().Header.ID
		appendAll(t, j, []event.Envelope{
			{Seq: 1, Session: id, Payload: event.PromptSubmitted{ID: 1, Text: text}},
			{Seq: 2, Session: id, Payload: event.TaskStarted{ID: 1, Title: text}},
			{Seq: 3, Session: id, Payload: event.Unknown{Name: "later.fact", Raw: []byte(`{"text":"quick"}`)}},
		})
		closeJournal(t, j)
		age(t, s, id, time.Duration(i+1)*time.Hour)
	}
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"quick", []string{"The Quick brown fox", "quick \"quoted\" \\ tab here"}},
		{"QUICK", nil},
		{"Quick", []string{"The Quick brown fox"}},
		{"k \"Q", nil},
		{"k \"q", []string{"quick \"quoted\" \\ tab here"}},
		{"\\ tab\th", []string{"quick \"quoted\" \\ tab here"}},
		{"émile z", []string{"émile Zola"}},
		{"needle", []string{"…filler é filler é filler é filler é needle at the end"}},
		{"\u2028line", []string{"[31mred line"}},
		{"payload", nil}, // a word of the format
		{"prompt.submitted", nil},
	} {
		var got []string
		for _, h := range search(t, s, tt.query) {
			got = append(got, h.Text)
			if h.Envelope.Seq != 1 || h.Entry.ID != h.Envelope.Session {
				t.Errorf("%q: hit %+v", tt.query, h)
			}
		}
		if !slices.Equal(got, tt.want) && len(got)+len(tt.want) > 0 {
			t.Errorf("%q: %q, want %q", tt.query, got, tt.want)
		}
	}
	if err := s.Search(t.Context(), " ", nil); err == nil {
		t.Error("nothing was found")
	}
	n := 0
	if err := s.Search(t.Context(), "e", func(Hit) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d hits after the first was enough, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Search(ctx, "e", func(Hit) bool { return true }); err == nil {
		t.Error("it was not cancelled")
	}
}

// A hit shows the text of an event that is easiest to read. Names, paths and what another event has already are no hits.
func TestSearchPicksTexts(t *testing.T) {
	for _, tt := range []struct {
		in   event.Event
		want string
	}{
		{event.ToolRequested{Name: "needle", Arguments: `{"command":"echo needle"}`, Action: action.Action{Command: "echo needle"}}, "echo needle"},
		{event.ToolRequested{Name: "needle", Arguments: `{"x":"needle"}`}, `{"x":"needle"}`},
		{event.ToolResult{Result: `{"tail":"needle"}`, Tail: "needle"}, "needle"},
		{event.ReviewFinished{Findings: []event.Finding{{Text: "a needle"}}}, "a needle"},
		{event.WorkflowChanged{Outputs: map[string]string{"needle": "", "x": "the needle"}}, "the needle"},
		{event.SessionCreated{Cwd: "/needle", Model: "needle"}, ""},
		{event.DecisionExplained{Reasoning: "needle"}, ""},
		{event.ReminderAttached{Text: "needle"}, ""},
	} {
		if line, _ := newQuery("needle").in(tt.in); line != tt.want {
			t.Errorf("%+v: %q, want %q", tt.in, line, tt.want)
		}
	}
}

// Lines across the borders of blocks and parts are found once, in order.
func TestSearchLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t)
	id := stored(t, s, 1)
	f, err := os.OpenFile(s.file(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	seq := uint64(1000)
	for size := 0; size < 3*searchPart; seq++ {
		text := strings.Repeat("x", int(seq*7919%700_000)) + "Needle"
		line, err := event.Envelope{Seq: seq, Session: id, Payload: event.Notice{Text: text}}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		size += len(line)
		want = append(want, seq)
	}
	if _, err := f.WriteString(`{"seq":9,"type":"notice","payload":{"text":"needle, torn"}}`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, q := range []string{"needle", "Needle"} {
		var got []uint64
		for _, h := range search(t, s, q) {
			got = append(got, h.Envelope.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d hits %v…, want %d", q, len(got), got[:min(len(got), 5)], len(want))
		}
	}
}

// Searching all text of many sessions, 200 MB of them.
func BenchmarkSearch(b *testing.B) {
	s := newStore(b)
	const files, each = 40, 5 << 20
	for i := range files {
		id, _ := big(b, s, each, strings.Repeat("lorem ipsum dolor sit amet ", 30))
		if i == 0 {
			j := open(b, s, id)
			appendAll(b, j, []event.Envelope{{Seq: 1 << 40, Session: id, Payload: event.Notice{Text: "a Needle in it"}}})
			closeJournal(b, j)
		}
	}
	for _, q := range []string{"Needle", "needle", "no such text", "list the"} {
		b.Run(q, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(files * each)
			for b.Loop() {
				if err := s.Search(b.Context(), q, func(Hit) bool { return q != "list the" }); err != nil {
					b.Fatal(fmt.Errorf("%s: %w", q, err))
				}
			}
		})
	}
}

// A text that is only in the complete output of a call is found and leads to the call: once, and not if the session's
// file has it too. The incomplete file of a killed command is searched like others.
func TestSearchOfOutputs(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	text := strings.Repeat("filler line\n", 1<<20) + "\x1b[31mThe Needle\x1b[0m in the middle\n" + strings.Repeat("filler line\n", 1<<20) + "the needle again\n"
	for _, dir := range []string{"000001", "000002-plain", "000003"} {
		writeFile(t, filepath.Join(s.OutDir(id), dir, "out"), []byte(text))
	}
	writeFile(t, filepath.Join(s.OutDir(id), "000004", "out"), []byte("a short needle is in the session's file\n"))
	writeFile(t, filepath.Join(s.OutDir(id), "000005", "err"), []byte(text)) // belongs to no call
	started := func(seq uint64, call, dir string) event.Envelope {
		return event.Envelope{Seq: seq, Session: id, Payload: event.ToolStarted{CallID: call, Dir: filepath.Join(s.OutDir(id), dir)}}
	}
	appendAll(t, j, []event.Envelope{
		{Seq: 1, Session: id, Payload: event.PromptSubmitted{ID: 1, Text: "look"}},
		started(2, "a", "000001"),
		{Seq: 3, Session: id, Payload: event.ToolResult{CallID: "a", Result: "filler", FullOutput: &action.FullOutput{Path: filepath.Join(s.OutDir(id), "000001", "out")}}},
		started(4, "b", "000002"), // a killed command
		started(5, "c", "000003"),
		{Seq: 6, Session: id, Payload: event.ToolResult{CallID: "c", Result: "the needle again", FullOutput: &action.FullOutput{Path: filepath.Join(s.OutDir(id), "000003", "out")}}},
	})
	closeJournal(t, j)
	for query, want := range map[string][]uint64{"needle": {6, 3, 4}, "Needle": {3, 4, 6}, "THE NEEDLE": nil, "needle\x1b": {3, 4, 6}} {
		var got []uint64
		for _, h := range search(t, s, query) {
			if got = append(got, h.Envelope.Seq); h.Entry.ID != id || !strings.Contains(strings.ToLower(h.Text), "needle") || len(h.Text) > 200 {
				t.Errorf("%q: hit %+v", query, h)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: events %v, want %v", query, got, want)
		}
	}
}

// A text across two parts of an output is found.
func TestSearchAcrossPartsOfAnOutput(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	text := []byte(strings.Repeat(".", searchPart+searchPart/2))
	copy(text[searchPart-3:], "needle")
	writeFile(t, filepath.Join(s.OutDir(id), "000001", "out"), text)
	appendAll(t, j, []event.Envelope{{Seq: 1, Session: id, Payload: event.ToolStarted{CallID: "a", Dir: filepath.Join(s.OutDir(id), "000001")}}})
	closeJournal(t, j)
	if hits := search(t, s, "needle"); len(hits) != 1 || hits[0].Envelope.Seq != 1 {
		t.Errorf("hits %+v", hits)
	}
}
