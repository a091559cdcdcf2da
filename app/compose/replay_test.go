package compose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/adrg/xdg"

	"buddy/agent"
	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/sessions"
	"buddy/tools"
)

// tempStore returns a new store with its own state directory.
func tempStore(t testing.TB) sessions.Store {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	s, _, err := sessions.Dir(filepath.Join(dir), sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// busyModel answers with text, calls with repeated ids, and errors. Its answer depends on the request and how often it
// was made, not on the requests of other branches.
type busyModel struct {
	seed uint64

	mu   sync.Mutex
	sent []string // the requests as JSON
}

func (*busyModel) Info() model.Info { return model.Info{Profile: "busy", Model: "busy", Window: 6_000} }

func (m *busyModel) Stream(_ context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, _ := json.Marshal(req.Messages)
	text := random.ReplaceAllString(string(raw), "…")
	m.sent = append(m.sent, text)
	sum := fnv.New64a()
	for _, s := range m.sent {
		if s == text {
			_, _ = sum.Write([]byte(text))
		}
	}
	rng := rand.New(rand.NewPCG(m.seed, sum.Sum64()))
	var deltas []model.Delta
	whole := model.Message{Role: model.Assistant}
	if rng.IntN(4) > 0 {
		whole.Content = strings.Repeat("words ", 1+rng.IntN(60))
		deltas = append(deltas, model.Delta{Kind: model.Text, Text: whole.Content})
	}
	for range rng.IntN(3) {
		call := model.ToolCall{ID: fmt.Sprint("call", rng.IntN(400)), Name: "do", Arguments: fmt.Sprintf(`{"n":%d}`, rng.IntN(1500))}
		whole.ToolCalls = append(whole.ToolCalls, call)
		deltas = append(deltas, model.Delta{Kind: model.CallReady, Call: &call})
	}
	broken := rng.IntN(15) == 0
	return func(yield func(model.Delta, error) bool) {
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
		if broken {
			yield(model.Delta{}, errors.New("the line broke"))
			return
		}
		yield(model.Delta{Kind: model.Done, Message: &whole, Finish: "stop", Usage: &model.Usage{Prompt: 7, Completion: 3}}, nil)
	}
}

// doing is a tool with results of many sizes, some with a picture, most with files.
type doing struct{}

func (doing) Definition() model.ToolDef {
	return model.ToolDef{Name: "do", Description: "does", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (doing) Plan(tools.Call) (action.Action, error) {
	return action.Action{Kind: action.Shell, Tool: "do", Command: "do", Risk: action.Low}, nil
}

func (doing) Run(_ context.Context, call tools.Call) tools.Result {
	var args struct{ N int }
	_ = json.Unmarshal([]byte(call.Arguments), &args)
	text := call.ID + " \"gives\" " + strings.Repeat("é ", args.N)
	res := tools.Result{Content: text, Tail: strings.Repeat(text, 3)}
	if args.N%3 == 0 {
		res.Images = []model.Image{{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
	}
	for i := range args.N % 40 { // up to more than is read of a long line
		res.Seen = append(res.Seen, action.SeenFile{Target: "local", Path: fmt.Sprintf("/%s/%d", call.ID, i), Sum: tools.SumOf([]byte(text)), Bytes: int64(i)})
	}
	return res
}

// randomSession stores the events of random commands and returns the file's path.
func randomSession(t *testing.T, store sessions.Store, rng *rand.Rand, steps int) (path, id string) {
	t.Helper()
	j, err := store.Create(sessions.Header{Cwd: "/work", Target: "local", Model: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	id = j.Info().Header.ID
	lines := &lineJournal{}
	rt := agent.New(agent.Options{
		Session: id, Model: &busyModel{seed: rng.Uint64()}, Tools: tools.NewRegistry(doing{}), Mode: action.ModeAll, Journal: lines, Limits: settings.Limits{MaxIterations: 6},
	})
	rt.Start()
	for i := range steps {
		switch rng.IntN(12) {
		case 0:
			rt.Send(event.Compact{})
		case 1:
			rt.Send(event.Pin{Back: 1 + rng.IntN(3)})
		case 2:
			rt.Send(event.Submit{Text: fmt.Sprint("beside ", i), Background: true})
		case 3:
			rt.Send(event.Cancel{})
		default:
			rt.Send(event.Submit{Text: fmt.Sprint("prompt ", i, strings.Repeat(" and", rng.IntN(30)))})
		}
		if rng.IntN(3) > 0 {
			synctest.Wait()
		}
	}
	synctest.Wait()
	if err := errors.Join(rt.Close(t.Context()), j.Close()); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(store.Path(), id+".jsonl")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(lines.text.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path, id
}

// lineJournal keeps lines in memory; a file would be synced at each turn.
type lineJournal struct{ text bytes.Buffer }

func (l *lineJournal) Append(env event.Envelope) error {
	enc := json.NewEncoder(&l.text)
	enc.SetEscapeHTML(false)
	return enc.Encode(env)
}

func (*lineJournal) Range(uint64, func(event.Envelope) bool) error { return nil }

// resumeWith resumes with a replay, sends a prompt, and returns the requests and the events.
func resumeWith(t *testing.T, id string, replay []event.Envelope) (sent, told []string) {
	t.Helper()
	aside := false
	m := &busyModel{seed: 1}
	rt := agent.New(agent.Options{
		Session: id, Model: m, Tools: tools.NewRegistry(doing{}), Mode: action.ModeAll, Limits: settings.Limits{MaxIterations: 4}, Replay: replay,
		Calls: settings.Calls{Wait: true}, // otherwise calls report in any order
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := rt.Subscribe(ctx)
	rt.Start()
	synctest.Wait()
	rt.Send(event.Submit{Text: "and now?"})
	synctest.Wait()
	rt.Send(event.Submit{Text: "beside", Background: true})
	synctest.Wait()
	if err := rt.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	prompted := false
	for env := range events {
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			prompted = prompted || p.Text == "and now?"
		case event.TaskStarted:
			aside = aside || env.Branch > 0 && !prompted // runs in parallel to the main conversation, in any order
		}
		line, err := json.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, string(line))
	}
	for i, l := range told {
		told[i] = random.ReplaceAllString(l, "…")
	}
	slices.Sort(m.sent)
	if aside {
		return m.sent, nil
	}
	return m.sent, told
}

// random matches randomly generated ids.
var random = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}`)

// After any history and interruption, a runtime that read only the needed events behaves like one that read all.
func TestReplayOfIsFullReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	store := tempStore(t)
	saved := 0
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			path, id := randomSession(t, store, rng, 25)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				cut := len(whole) - rng.IntN(len(whole)/2)
				if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				j, err := store.Open(id)
				if err != nil {
					t.Fatal(err)
				}
				full, err := j.Load()
				if err != nil {
					t.Fatal(err)
				}
				lean, damage, err := replayOf(j)
				if err != nil || damage != "" {
					t.Fatalf("damage %q, error %v", damage, err)
				}
				saved += size(full.Events) - size(lean)
				if got, want := seen(lean), seen(full.Events); !reflect.DeepEqual(got, want) {
					t.Errorf("seed %d: the files are %+v, want %+v", seed, got, want)
				}
				wantSent, wantTold := resumeWith(t, id, full.Events)
				gotSent, gotTold := resumeWith(t, id, lean)
				what := fmt.Sprintf("seed %d, cut at %d", seed, cut)
				wantLines(t, what+": request", gotSent, wantSent)
				wantLines(t, what+": event", gotTold, wantTold)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if saved < 200<<10 {
		t.Errorf("only %d bytes of results were left out: the test shows nothing", saved)
	}
}

// seen returns the files that results are about.
func seen(events []event.Envelope) (all []action.SeenFile) {
	for _, env := range events {
		if p, ok := env.Payload.(event.ToolResult); ok {
			all = append(all, p.Seen...)
		}
	}
	return all
}

func size(events []event.Envelope) int {
	n := 0
	for _, env := range events {
		if p, ok := env.Payload.(event.ToolResult); ok {
			n += len(p.Result) + len(p.Tail)
		}
	}
	return n
}

// wantLines reports the first difference.
func wantLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		at := 0
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		if g != w {
			at = max(at-50, 0)
			t.Fatalf("%s %d from byte %d on is %.300q, want %.300q", what, i, at, g[at:], w[at:])
		}
	}
}

// Reminders count in the positions that a compaction names: without them, a wrong result would be dropped.
func TestReplayOfCountsReminders(t *testing.T) {
	store := tempStore(t)
	j, err := store.Create(sessions.Header{Cwd: "/work", Target: "local", Model: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	result := strings.Repeat("found it ", bulky)
	said := model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "do", Arguments: "{}"}}}
	told := event.ReminderAttached{Kinds: []string{"shell"}, Text: "what ls gave"}
	for i, p := range []event.Event{
		event.PromptSubmitted{ID: 1, Text: "first"},
		told, told, told,
		event.PromptSubmitted{ID: 2, Text: "second"},
		event.ModelMessage{Message: said},
		event.ToolResult{CallID: "c1", Name: "do", Result: result},
		event.ContextCompacted{By: "summary", Summary: "little happened", Boundary: 4, Removed: 4},
		event.ApprovalAsked{ID: "a1", CallID: "c2", Action: action.Action{Command: "rm -r ."}},
	} {
		if err := j.Append(event.Envelope{Seq: uint64(i + 1), Session: j.Info().Header.ID, Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
	events, warnings, err := replayOf(j)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if got := events[6].Payload.(event.ToolResult).Result; got != result {
		t.Errorf("the result has %d bytes, want %d", len(got), len(result))
	}
	if got := events[8].Payload; !reflect.DeepEqual(got, event.ApprovalAsked{ID: "a1", CallID: "c2"}) {
		t.Errorf("of the approval %+v was read", got)
	}
}

// TestReplayKeepsWhatWasTold: a warning of an injection still taints the resumed prompt, and a notice about a model is
// not repeated.
func TestReplayKeepsWhatWasTold(t *testing.T) {
	for _, e := range []event.Event{event.Warning{}, event.Notice{}, event.MaxTurnsReached{}} {
		if unneeded[event.Type(e)] {
			t.Errorf("a resumed session does not read %s", event.Type(e))
		}
	}
}
