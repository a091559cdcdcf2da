package sessions

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// hostile creates a session full of text that must have no effect where it is displayed.
func hostile(t testing.TB, s Store) (id string) {
	t.Helper()
	j := create(t, s)
	id = j.Info().Header.ID
	const nasty = "<script>alert(1)</script> ``` \x1b[31mred\x1b]0;t\x07 \u202eabc & sk-secret"
	envs := stream(id, 1)
	seq := envs[len(envs)-1].Seq
	for i, p := range []event.Event{
		event.PromptSubmitted{ID: 2, Text: nasty},
		event.TaskStarted{ID: 2, Kind: event.MainTask, Title: nasty},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: nasty}, Reasoning: nasty},
		event.ToolRequested{CallID: "c", Name: "do <script>\x1b[1m", Arguments: nasty},
		event.ToolResult{CallID: "c", Name: "x", Result: nasty, Tail: nasty},
		event.Notice{Text: nasty},
		event.SessionRenamed{Title: "<script> *x* sk-secret"},
		event.Unknown{Name: "later.fact", Raw: []byte(`{"text":"sk-secret"}`)},
		event.TaskFinished{ID: 2, Outcome: event.Failed, Error: nasty},
	} {
		envs = append(envs, event.Envelope{Seq: seq + 1 + uint64(i), Session: id, Task: 2, Payload: p})
	}
	appendAll(t, j, envs)
	closeJournal(t, j)
	return id
}

func hide(s string) string { return strings.ReplaceAll(s, "sk-secret", "[redacted]") }

func export(t testing.TB, s Store, id string, as ExportFormat) string {
	t.Helper()
	var out bytes.Buffer
	done, err := s.Export(&out, id, as, hide)
	if err != nil || len(done.Warnings) > 0 {
		t.Fatalf("%s: %q, %v", as, done.Warnings, err)
	}
	return out.String()
}

// Exports contain the conversation, but no active content and no secret.
func TestExport(t *testing.T) {
	s := newStore(t)
	id := hostile(t, s)
	for _, as := range ExportFormats {
		text := export(t, s, id, as)
		for _, bad := range []string{"sk-secret", "\x1b", "\a", "reasoning_content"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", as, bad)
			}
		}
		for _, want := range []string{"prompt 1: list the", "done", "ls -l", id, "[redacted]"} {
			if as == Markdown && want == "[redacted]" {
				want = "redacted"
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", as, want)
			}
		}
	}
	text := export(t, s, id, Markdown)
	if !strings.Contains(text, "\n````\n<script>alert(1)</script> ``` red") || strings.Contains(text, "\u202e") {
		t.Errorf("a fence can be left:\n%s", text)
	}
	_, err := s.Export(&bytes.Buffer{}, id, "pdf", hide)
	wantError(t, err, `"pdf"`, "md, json, html")
}

// An export has what the person was told, but not that requests to the model had to change.
func TestExportRemarks(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	envs := stream(id, 1)
	seq := envs[len(envs)-1].Seq
	for i, p := range []event.Event{event.Notice{Text: "a notice"}, event.GoalSet{Goal: "green tests"}, event.ContextHealed{Text: "no pictures"}, event.ContextWithheld{Text: "withheld"}} {
		envs = append(envs, event.Envelope{Seq: seq + 1 + uint64(i), Session: id, Payload: p})
	}
	appendAll(t, j, envs)
	closeJournal(t, j)
	text := export(t, s, id, HTML)
	for want, has := range map[string]bool{"a notice": true, "goal: green tests": true, "no pictures": false, "withheld": false} {
		if strings.Contains(text, want) != has {
			t.Errorf("%q is in the export: %v", want, !has)
		}
	}
}

// A damaged line is named and omitted.
func TestExportDamaged(t *testing.T) {
	s := newStore(t)
	id := stored(t, s, 2)
	lines := bytes.SplitAfter(readFile(t, s.file(id)), []byte("\n"))
	lines[3] = []byte("{damaged\n")
	writeFile(t, s.file(id), bytes.Join(lines, nil))
	for _, as := range ExportFormats {
		done, err := s.Export(&bytes.Buffer{}, id, as, hide)
		if err != nil || len(done.Warnings) != 1 || !strings.HasPrefix(done.Warnings[0], "line 4 is skipped") {
			t.Errorf("%s: %q, %v", as, done.Warnings, err)
		}
	}
}

// An imported session has the same contents, another id if its own exists already, and is not trusted.
func TestImport(t *testing.T) {
	s := newStore(t)
	id := stored(t, s, 2)
	want := load(t, open(t, s, id)).Events
	text := export(t, s, id, JSON)
	want = slices.DeleteFunc(want, func(env event.Envelope) bool { return exportable(env.Payload, hide) == nil })
	for _, to := range []Store{newStore(t), s} {
		got, err := to.Import(strings.NewReader(text))
		if err != nil || (got == id) == (to.dir == s.dir) {
			t.Fatalf("Import = %q, %v", got, err)
		}
		j := open(t, to, got)
		if !errors.Is(j.ReadOnly(), ErrUntrusted) {
			t.Errorf("read-only: %v", j.ReadOnly())
		}
		events := load(t, j).Events
		for i := range events {
			if events[i].Session != got {
				t.Errorf("event %d is of %q", i, events[i].Session)
			}
			events[i].Session = id
			want := want[i]
			want.Payload = exportable(want.Payload, hide)
			if !reflect.DeepEqual(events[i], want) {
				t.Errorf("event %d is %+v, want %+v", i, events[i], want)
			}
		}
		closeJournal(t, j)
		if err := to.Trust(got); err != nil {
			t.Fatal(err)
		}
		if j = open(t, to, got); j.ReadOnly() != nil {
			t.Errorf("trusted: %v", j.ReadOnly())
		}
	}
}

func TestImportBad(t *testing.T) {
	s := newStore(t)
	id := stored(t, s, 1)
	text := export(t, s, id, JSON)
	for _, bad := range []string{
		"", "[]", "{}", `{"buddy_session":9,"header":{},"events":[]}`, `{"buddy_session":1,"header":{},"events":{}}`,
		`{"buddy_session":1,"header":{"id":"../x"},"events":[]}`, strings.Replace(text, `"seq":2,`, `"seq":1,`, 1),
		strings.Replace(text, "prompt.submitted", "model.text_delta", 1), strings.Replace(text, `"seq":2,`, `"seq":18446744073709551615,`, 1),
	} {
		if id, err := s.Import(strings.NewReader(bad)); err == nil {
			t.Errorf("%.60q became session %s", bad, id)
		}
	}
	for i := 0; i < len(text)-2; i += 61 {
		if id, err := s.Import(strings.NewReader(text[:i])); err == nil {
			t.Fatalf("cut at %d became session %s", i, id)
		}
	}
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("something stayed: %+v, %v", all, err)
	}
}

func FuzzImport(f *testing.F) {
	s := newStore(f)
	f.Add([]byte(export(f, s, stored(f, s, 1), JSON)))
	f.Add([]byte(`{"buddy_session":1,"header":{"id":"x"},"events":[{"seq":1,"type":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStore(t)
		id, err := s.Import(bytes.NewReader(data))
		if err != nil {
			return
		}
		if p := load(t, open(t, s, id)); len(p.Warnings) > 0 {
			t.Errorf("warnings %q", p.Warnings)
		}
	})
}

// Cut secrets, and secrets after an escape, are hidden although no pattern matches them directly.
func TestSharedHides(t *testing.T) {
	word := regexp.MustCompile(`\bsk-[a-z]{8,}`)
	redact := func(s string) string { return word.ReplaceAllString(s, "[redacted]") }
	prompt := strings.Repeat("ab ", 23) + "sk-secretsecret"
	for _, tt := range []struct{ in, want event.Event }{
		{event.TaskStarted{Title: prompt[:78]}, event.TaskStarted{Title: strings.TrimSpace(prompt[:69]) + "…"}},
		{event.TaskStarted{Title: strings.Repeat("x", 80)}, event.TaskStarted{Title: "…"}},
		{event.TaskStarted{Title: "short sk-secretsecret"}, event.TaskStarted{Title: "short [redacted]"}},
		{event.ToolResult{Result: `{"out":"a\nsk-secretsecret\n","n":1e3,"l":["\tsk-secretsecret"]}`}, event.ToolResult{Result: `{"l":["\t[redacted]"],"n":1e3,"out":"a\n[redacted]\n"}`}},
		{event.ToolResult{Result: `{"out": "<a>\n"}`}, event.ToolResult{Result: `{"out": "<a>\n"}`}},
		{event.Unknown{Name: "x", Raw: []byte(`{"a":"\nsk-secretsecret"}`)}, event.Unknown{Name: "x", Raw: []byte(`{"a":"\n[redacted]"}`)}},
		{event.ToolResult{Tail: "sk-sec\x1b[31mretsecret\x1b[0m"}, event.ToolResult{Tail: "[redacted]"}},
		{event.ToolResult{Tail: "\x1b[31mred\x1b[0m"}, event.ToolResult{Tail: "\x1b[31mred\x1b[0m"}},
		{event.ToolRequested{Arguments: `{"out":"sk-sec\u200e\u001b[1mretsecret"}`}, event.ToolRequested{Arguments: `{"out":"[redacted]"}`}},
		{event.Checkpoint{Text: "sk-sec"}, nil},
	} {
		if got := exportable(tt.in, redact); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v became %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

// Before reads the n envelopes before p; math.MaxInt stands for all of them.
func (j *Journal) Before(p Part, n int) (Part, error) { return j.before(p.from, n, math.MaxInt64) }
