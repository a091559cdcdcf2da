package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/redact"
)

const aKey = "k-0123456789abcdef"

// keyed gives a session a known key.
func keyed(o *Options) { o.Keys = redact.NewKeys(redact.Key{Name: "work", Value: aKey}) }

// shown returns all events of a session as stored, sent to screens and printed.
func (s *session) shown(t *testing.T) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, env := range append(s.seen, s.mem.events...) {
		data, err := json.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

// A known key in a model's output is shown as its name: in text and calls, in the dialog, in the journal, in later
// requests. The call runs as the model wrote it, and a person who edits it keeps the key.
func TestKnownKeysAreNotShown(t *testing.T) {
	for _, edit := range []bool{false, true} {
		p := newPlanner(t)
		p.change = keyed
		synctest.Test(t, func(t *testing.T) {
			s := start(t, p.options(t), says("I take "+aKey, planWrites("a.go", "key = "+aKey)), says("it was "+aKey))
			s.do(event.Submit{Text: "go"})
			a, n := find[event.ApprovalAsked](s)
			r, _ := find[event.ToolRequested](s)
			if n != 1 || !strings.Contains(a.Action.Preview, "[key of work]") || !strings.Contains(r.Arguments, "[key of work]") {
				t.Fatalf("%d approvals, %+v of %s", n, a.Action, r.Arguments)
			}
			answer, want := event.AnswerApproval{ID: a.ID, Decision: event.Once}, "key = "+aKey
			if edit {
				answer.Decision, answer.Args, want = event.Edit, strings.Replace(r.Arguments, "key =", "the key =", 1), "the key = "+aKey
			}
			s.do(answer)
			if got, err := os.ReadFile(filepath.Join(p.dir, "a.go")); string(got) != want {
				t.Errorf("a.go has %q, %v, want %q", got, err, want)
			}
			m, _ := find[event.ModelMessage](s)
			if got := s.shown(t); strings.Contains(got, aKey) || m.Message.Content != "it was [key of work]" {
				t.Errorf("the key shows in %s", got)
			}
			if got := s.sentText(); strings.Contains(got, aKey) || !strings.Contains(got, "I take [key of work]") {
				t.Errorf("the model is sent %s", got)
			}
			s.stop()
		})
	}
}

// A call that waited for approval when buddy ended is asked again, unless it had a key, which the journal does not
// store: that one is reported as interrupted.
func TestCallWithAKeyIsNotRunAfterARestart(t *testing.T) {
	for _, tt := range []struct {
		text  string
		asked int
	}{{"no key", 1}, {aKey, 0}} {
		p := newPlanner(t)
		p.change = keyed
		synctest.Test(t, func(t *testing.T) {
			s := start(t, p.options(t), says("", planWrites("a.go", tt.text)), says("ok"))
			s.do(event.Submit{Text: "go"})
			if _, n := find[event.ApprovalAsked](s); n != 1 {
				t.Fatalf("%d approvals", n)
			}
			stored := s.mem.events[:len(s.mem.events):len(s.mem.events)] // as after a crash
			p.change = func(o *Options) { keyed(o); o.Replay = stored }
			again := start(t, p.options(t), says("ok"))
			res, _ := find[event.ToolResult](again)
			if _, n := find[event.ApprovalAsked](again); n != tt.asked || (tt.asked == 0) != strings.Contains(res.Result, "interrupted: not run") {
				t.Errorf("%s: %d approvals, result %q", tt.text, n, res.Result)
			}
			again.stop()
			s.stop()
		})
	}
}

// A key that arrives in pieces is never shown, as text, reasoning or arguments, in a checkpoint, or after an
// interruption.
func TestKeyInPiecesIsNotShown(t *testing.T) {
	pieces := []string{"it is ", aKey[:7], aKey[7:12], aKey[12:] + ", I think"}
	for _, breaks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, keyed, func(_ context.Context, yield func(model.Delta, error) bool) {
				for _, kind := range []model.DeltaKind{model.Reasoning, model.Text, model.CallDelta} {
					for _, text := range pieces {
						yield(model.Delta{Kind: kind, CallID: "c1", Text: text}, nil)
						time.Sleep(2 * time.Second) // long enough for a checkpoint
					}
				}
				if breaks {
					yield(model.Delta{}, errors.New("gone"))
					return
				}
				yield(model.Delta{Kind: model.Done, Message: &model.Message{Role: model.Assistant, Content: strings.Join(pieces, "")}, Finish: "stop"}, nil)
			})
			s.do(event.Submit{Text: "go"})
			time.Sleep(time.Hour)
			synctest.Wait()
			text := ""
			for _, env := range s.seen {
				if d, ok := env.Payload.(event.TextDelta); ok {
					text += d.Text
				}
			}
			m, _ := find[event.ModelMessage](s)
			if got := s.shown(t); strings.Contains(got, aKey[:7]) || strings.Contains(got, aKey[12:]) || m.Message.Content != "it is [key of work], I think" || !strings.HasPrefix(m.Message.Content, text) || !breaks && text != m.Message.Content {
				t.Errorf("%q shows, %q is kept, in all %s", text, m.Message.Content, got)
			}
			if _, n := find[event.Checkpoint](s); n < 3 {
				t.Errorf("%d checkpoints", n)
			}
			s.stop()
		})
	}
}
