package agent

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/tools"
)

// opening returns the numbers of the prompts that opened exchanges of the main conversation.
func (s *session) opening() (all []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if p, ok := env.Payload.(event.PromptSubmitted); ok && env.Branch == 0 && p.Kind == event.Opening {
			all = append(all, env.Seq)
		}
	}
	return all
}

// sent returns the messages of the last request.
func (s *session) sent() []model.Message {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	return s.model.requests[len(s.model.requests)-1].Messages
}

// withoutTelling returns messages without a final reminder about changes since the border.
func withoutTelling(all []model.Message) []model.Message {
	if n := len(all); n > 0 && all[n-1].Kind == model.Reminder && strings.Contains(all[n-1].Content, "no longer count, but:") {
		return all[:n-1]
	}
	return all
}

// TestRewindOverRandomHistories: for any history, a rewind to a prompt restores the conversation before it, and a
// redo the later one; every request is valid, and a resumed session has the same conversation.
func TestRewindOverRandomHistories(t *testing.T) {
	seeds := 16
	if testing.Short() {
		seeds = 4
	}
	back, forth := 0, 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 11))
			f := &fickle{rng: rand.New(rand.NewPCG(uint64(seed), 12))}
			configure := func(o *Options) {
				o.Model, o.Tools, o.System, o.MaxIterations = f, tools.NewRegistry(&fakeTool{}), "be brief", 6
				o.Context = settings.Context{Strategy: []settings.Strategy{settings.Summary, settings.Digest, settings.Window}[seed%3]}
			}
			s := start(t, configure)
			before := make(map[uint64][]model.Message) // each prompt
			for range 40 {
				rests := rests(s.tasks, func() {}) == nil
				was := s.Messages()
				prompts := s.opening()
				switch n := rng.IntN(9); {
				case n < 3 && rests && len(prompts) > 0:
					to := prompts[rng.IntN(len(prompts))]
					_, errors := find[event.Error](s)
					s.do(event.Rewind{ToSeq: to, Conversation: true})
					if _, now := find[event.Error](s); now > errors {
						continue // removed already
					}
					back++
					if want, known := before[to]; known && !reflect.DeepEqual(withoutTelling(s.Messages()), want) {
						t.Fatalf("seed %d: before prompt %d there was\n%v\nnow\n%v", seed, to, want, s.Messages())
					}
					if rng.IntN(2) == 0 {
						s.do(event.Redo{})
						forth++
						if got := withoutTelling(s.Messages()); !reflect.DeepEqual(got, was) {
							t.Fatalf("seed %d: before the way back there was\n%v\nnow\n%v", seed, was, got)
						}
					}
				default:
					act(s, rng)
					synctest.Wait()
					if now := s.opening(); rests && len(now) == len(prompts)+1 {
						before[now[len(now)-1]] = was
					}
				}
			}
			s.do(event.Cancel{})
			for range 20 { // until no approval is open
				act(s, rng)
				s.do(event.Cancel{})
			}
			s.stop()
			for _, b := range f.bad {
				t.Errorf("seed %d: %s", seed, b)
			}
			again := Options{Session: "s1", Journal: &heldJournal{}, Replay: s.mem.events}
			configure(&again)
			if got, want := New(again).Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: resumed, the conversation is\n%v\nit was\n%v", seed, got, want)
			}
		})
		if t.Failed() {
			return
		}
	}
	if !testing.Short() && (back < 8 || forth < 2) {
		t.Errorf("only %d ways back and %d forth were gone", back, forth)
	}
}

// TestRewindWithFiles: files and conversation are restored, outside changes are reported and not overwritten without
// force, and /redo restores all of it, even after a kill.
func TestRewindWithFiles(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put := putIn(t, dir)
	put("a.txt", "one\n")
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, dir, out, nil,
			says("", callOf("r1", "read_file", map[string]any{"path": "a.txt"})), says("read"),
			says("", callOf("e1", "edit_file", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})), says("edited"),
			says("", writes("w1", "b.txt", "made\n"), writes("w2", "a.txt", "three\n")), says("written"),
			says("again"))
		s.do(event.Submit{Text: "read it"})
		before := s.Messages()
		s.do(event.Submit{Text: "change it"})
		s.do(event.Submit{Text: "write more"})
		after := s.Messages()
		at := s.opening()

		if c, err := ChangedSince(t.Context(), s.Runtime); err != nil || !reflect.DeepEqual(c, []Change{{Prompt: 2, Files: 2, Added: 2, Removed: 1}, {Prompt: 3, Files: 2, Added: 2, Removed: 1}}) {
			t.Errorf("changed since: %+v, %v", c, err)
		}
		put("a.txt", "mine\n")
		s.do(event.Rewind{ToSeq: at[1], Conversation: true, Files: true})
		if w, n := find[event.Warning](s); n != 1 || !strings.Contains(w.Text, "a.txt") || !strings.Contains(w.NextStep, "/rewind 2 --force") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		if !reflect.DeepEqual(s.Messages(), after) {
			t.Error("the conversation went back though the files did not")
		}
		wantFiles(t, dir, map[string]string{"a.txt": "mine\n", "b.txt": "made\n"})
		s.do(event.Rewind{ToSeq: at[1], Conversation: true, Files: true, Force: true})
		wantFiles(t, dir, map[string]string{"a.txt": "one\n", "b.txt": ""})
		if got := s.Messages(); !reflect.DeepEqual(got, before) {
			t.Errorf("the conversation is\n%v\nit was\n%v", got, before)
		}
		e, _ := find[event.HistoryRewound](s)
		if e.ToSeq != at[1] || e.Prompt != "change it" || len(e.Files) != 2 || e.Text() != "rewound to before “change it”, 2 files put back · /redo undoes that" {
			t.Errorf("%+v: %s", e, e.Text())
		}
		s.do(event.Redo{})
		wantFiles(t, dir, map[string]string{"a.txt": "mine\n", "b.txt": "made\n"}) // the overwritten content is back
		if got := s.Messages(); !reflect.DeepEqual(got, after) {
			t.Errorf("the conversation is\n%v\nit was\n%v", got, after)
		}
		s.do(event.Redo{})
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "nothing to redo") {
			t.Errorf("a second redo: %d, %+v", n, e)
		}
		s.do(event.Rewind{ToSeq: at[2], Conversation: true, Files: true, Force: true})
		wantFiles(t, dir, map[string]string{"a.txt": "two\n", "b.txt": ""})
		stored = slices.Clone(s.mem.events) // killed here
		s.stop()
	})
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, dir, out, stored, says("I go on"))
		if got := s.Messages(); got[len(got)-1].Content != "edited" {
			t.Errorf("resumed, the conversation ends with %v", got[len(got)-1])
		}
		s.mem.events = slices.Concat(stored, s.mem.events)
		put("b.txt", "mine\n")
		s.do(event.Redo{})
		if w, n := find[event.Warning](s); n != 1 || !strings.Contains(w.Text, "b.txt") || !strings.Contains(w.NextStep, "/redo --force") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		wantFiles(t, dir, map[string]string{"a.txt": "two\n", "b.txt": "mine\n"})
		s.do(event.Submit{Text: "go on"})
		s.do(event.Redo{})
		if w, n := find[event.Warning](s); n != 2 || !strings.Contains(w.Text, "you have sent 1 prompt since you rewound to before “write more”") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		s.stop()
	})
}

// TestRewindLeavesFiles: the model gets a list of files that differ from the conversation, and must read them again;
// /undo reverts them, and asks when prompts came since.
func TestRewindLeavesFiles(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, dir, t.TempDir(), nil,
			says("hello"),
			says("", writes("w1", "a.txt", "made\n")), says("written"),
			says("", writes("w2", "a.txt", "again\n")), says("refused"), says("more"))
		s.do(event.Submit{Text: "hi"})
		s.do(event.Submit{Text: "write"})
		s.do(event.Rewind{ToSeq: s.opening()[1], Conversation: true})
		wantFiles(t, dir, map[string]string{"a.txt": "made\n"})
		s.do(event.Submit{Text: "write otherwise"})
		told := fmt.Sprint(s.sent())
		if !strings.Contains(told, "These files have changed since and stay changed") || !strings.Contains(told, "a.txt") || !strings.Contains(told, "not read since this session began or was resumed") {
			t.Errorf("the model read %s", told)
		}
		wantFiles(t, dir, map[string]string{"a.txt": "made\n"})
		if c, err := ChangedSince(t.Context(), s.Runtime); err != nil || c[len(c)-1].Later != 1 {
			t.Errorf("changed since: %+v, %v", c, err)
		}
		s.do(event.Undo{})
		if w, n := find[event.Warning](s); n != 1 || w.Text != "nothing was undone: the last file changes were made for “write”, and you sent 1 prompt after that" || !strings.Contains(w.NextStep, "/undo 1") {
			t.Errorf("warned %d times: %+v", n, w)
		}
		s.do(event.Undo{Steps: 1})
		wantFiles(t, dir, map[string]string{"a.txt": ""})
		if e, _ := find[event.FileRestored](s); !strings.HasPrefix(e.Text(), "undid the changes of “write”: ") {
			t.Errorf("%q", e.Text())
		}
		s.do(event.Redo{})
		wantFiles(t, dir, map[string]string{"a.txt": "made\n"})
		if e, n := find[event.FileRestored](s); n != 2 || !strings.HasPrefix(e.Text(), "redid the changes of “write”: ") {
			t.Errorf("%d, %q", n, e.Text())
		}
		s.do(event.Undo{Steps: 1})
		wantFiles(t, dir, map[string]string{"a.txt": ""})
		s.stop()
	})
}

// Undoing one prompt after the other does not ask each time: prompts that were just undone do not count as later
// ones.
func TestUndoOfOnePromptAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := undoing(t, t.TempDir(), t.TempDir(), nil,
			says("", writes("w1", "a.txt", "one\n")), says("done"), says("", writes("w2", "b.txt", "two\n")), says("done"), says("hello"))
		s.do(event.Submit{Text: "write a"})
		s.do(event.Submit{Text: "write b"})
		later := func(want int) {
			t.Helper()
			if c, err := ChangedSince(t.Context(), s.Runtime); err != nil || c[len(c)-1].Later != want {
				t.Errorf("changed since: %+v, %v; want %d later", c, err, want)
			}
		}
		later(0)
		s.do(event.Undo{})
		later(0)
		s.do(event.Submit{Text: "hi"})
		later(2)
		s.stop()
	})
}

// TestRewindRefuses: invalid rewinds are rejected with the reason.
func TestRewindRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []step
		do    func(s *session)
		want  string
	}{
		"no such prompt":    {nil, func(s *session) { s.do(event.Rewind{ToSeq: 7, Conversation: true}) }, "no such prompt"},
		"nothing at all":    {nil, func(s *session) { s.do(event.Rewind{ToSeq: 7}) }, "name what to rewind"},
		"nothing to redo":   {nil, func(s *session) { s.do(event.Redo{}) }, "nothing to redo"},
		"while a task runs": {[]step{hangs("x")}, func(s *session) { s.do(event.Rewind{ToSeq: s.opening()[0], Conversation: true}) }, "while task #1 is running"},
		"a prompt that is gone": {[]step{says("x")}, func(s *session) {
			at := s.opening()[0]
			s.do(event.Rewind{ToSeq: at, Conversation: true})
			s.do(event.Rewind{ToSeq: at, Conversation: true})
		}, "no such prompt"},
		"files that nobody kept": {[]step{says("x")}, func(s *session) { s.do(event.Rewind{ToSeq: s.opening()[0], Files: true}) }, "can't be undone here"},
		"a full disk": {[]step{says("x")}, func(s *session) {
			s.mem.err = errDiskFull
			s.Publish(event.Notice{})
			s.do(event.Rewind{ToSeq: s.opening()[0], Conversation: true})
		}, "can't be saved"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, tt.steps...)
				if tt.steps != nil {
					s.do(event.Submit{Text: "go"})
				}
				was := s.Messages()
				_, rewinds := find[event.HistoryRewound](s)
				tt.do(s)
				if e, _ := find[event.Error](s); !strings.Contains(e.Text, tt.want) {
					t.Errorf("said %q, want %q", e.Text, tt.want)
				}
				if _, n := find[event.HistoryRewound](s); n == rewinds && !reflect.DeepEqual(s.Messages(), was) {
					t.Error("the conversation has changed")
				}
				s.stop()
			})
		})
	}
}

// TestRewindKeepsWhatRunsBeside: a background task keeps running, whether it started before or after the border, and
// the model and the person are informed.
func TestRewindKeepsWhatRunsBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Mode = action.ModeAll }, says("hello"), hangs("early"), says("yes"), hangs("late"), says("now"))
		s.do(event.Submit{Text: "first"})
		s.do(event.Submit{Text: "begun before", Background: true})
		s.do(event.Submit{Text: "second"})
		s.do(event.Submit{Text: "begun since", Background: true})
		s.do(event.Rewind{ToSeq: s.opening()[1], Conversation: true})
		if n, _ := find[event.Notice](s); n.Text != "started since then and still running: #4 begun since · /kill N ends one" {
			t.Errorf("the person is told %q", n.Text)
		}
		if ids := runningIDs(s.Runtime); !reflect.DeepEqual(ids, []int{2, 4}) {
			t.Errorf("tasks %v run", ids)
		}
		s.do(event.Submit{Text: "and now?"})
		if told := fmt.Sprint(s.sent()); !strings.Contains(told, "started since and are still running:\n#4 begun since") || strings.Contains(told, "second") {
			t.Errorf("the model is sent %s", told)
		}
		s.stop()
	})
}

// TestRewindOfGoals: a goal set for a removed prompt ends; one that was paused before the border and ended since is
// paused again.
func TestRewindOfGoals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := withGoal(t, nil, []checkEnd{breaks}, nil, says("hello"), hangs("working"), says("again"))
		s.do(event.Submit{Text: "first"})
		s.do(makes)
		s.do(event.Cancel{})
		s.do(event.Submit{Text: "something else"})
		s.do(event.ChangeGoal{To: event.GoalOff})
		at := s.opening()
		for i, want := range []event.GoalState{1: event.GoalOff, 2: event.GoalPaused} {
			if want == "" {
				continue
			}
			s.do(event.Rewind{ToSeq: at[i], Conversation: true})
			if g, _ := find[event.GoalChanged](s); g.State != want {
				t.Errorf("before prompt %d the goal is %+v, want %s", i, g, want)
			}
			s.do(event.Redo{Force: true})
		}
		s.stop()
	})
}
