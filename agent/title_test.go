package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rivo/uniseg"

	"buddy/agent/event"
	"buddy/agent/model"
)

// titled returns the titles of a session.
func (s *session) titled() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if p, ok := env.Payload.(event.SessionRenamed); ok {
			all = append(all, p.Title)
		}
	}
	return all
}

// The small model writes the title after the first exchange, and its tokens count.
func TestTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := &script{steps: []step{says("\"Shell in  the kitchen\x1b\"\nmore")}}
		s := start(t, func(o *Options) { o.Small = small }, says("a shell is"), says("yes"))
		defer s.stop()
		s.do(event.Submit{Text: "what is a shell?"})
		s.do(event.Submit{Text: "sure?"})
		if got := s.titled(); len(got) != 1 || got[0] != "Shell in the kitchen" {
			t.Errorf("titles %q", got)
		}
		if len(small.requests) != 1 || !strings.Contains(small.requests[0].Messages[0].Content, "[user]\nwhat is a shell?\n[assistant]\na shell is") {
			t.Errorf("requests %+v", small.requests)
		}
		if u, _ := find[event.MetricsUsage](s); u.SessionPrompt != 30 || u.Prompt != 10 {
			t.Errorf("usage %+v, want three requests in the session's", u)
		}
	})
}

// A model that fails, answers nothing or hangs leaves the session without a title and without a message; closing does
// not wait for it.
func TestTitleFails(t *testing.T) {
	for name, say := range map[string]step{
		"an error": fails("Sh", errors.New("reset")), "nothing": says(" \"\" "), "hangs": hangs("A ti"), "panics": func(context.Context, func(model.Delta, error) bool) { panic("x") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(o *Options) { o.Small = &script{steps: []step{say}} }, says("a shell is"))
				s.do(event.Submit{Text: "what is a shell?"})
				s.stop()
				if got := s.titled(); len(got) != 0 || len(s.warnings()) != 0 {
					t.Errorf("titles %q, warnings %+v", got, s.warnings())
				}
			})
		})
	}
}

// A person's title stays, whether it comes first or second.
func TestTitleOfPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		small := &script{steps: []step{func(c context.Context, y func(model.Delta, error) bool) { <-free; says("Late title")(c, y) }}}
		s := start(t, func(o *Options) { o.Small = small }, says("one"))
		s.do(event.Submit{Text: "a"})
		s.do(event.Rename{Title: " my\nown "})
		close(free)
		synctest.Wait()
		s.stop()
		if got := s.titled(); len(got) != 1 || got[0] != "my own" {
			t.Errorf("titles %q", got)
		}
		again := start(t, func(o *Options) { o.Small = small; o.Replay = s.mem.events }, says("two"))
		again.do(event.Submit{Text: "b"})
		again.stop()
		if got := again.titled(); len(got) != 0 {
			t.Errorf("after a resume: titles %q", got)
		}
	})
}

func TestOneTitle(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\u202eb\x07 \n c": "ab c", "\x1b[31mred": "[31mred",
		strings.Repeat("x", 61): strings.Repeat("x", 59) + "…",
		strings.Repeat("界", 40): strings.Repeat("界", 29) + "…",
	} {
		got := oneTitle(in)
		if got != want || uniseg.StringWidth(got) > titleWidth {
			t.Errorf("oneTitle(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"**Title: Fix nginx.**": "Fix nginx", "\n\n# Fix nginx\n": "Fix nginx", "<think>\nFix": "Fix"} {
		if got := bare(in); got != want {
			t.Errorf("bare(%q) = %q, want %q", in, got, want)
		}
	}
}
