package approval

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/stream"
)

// Only the reason of a person's denial is remembered, and only in a scope that the request offered; the denial itself
// is always valid.
func TestWhatAnAnswerMayRemember(t *testing.T) {
	for name, c := range map[string]struct {
		offered []string
		answer  event.AnswerApproval
		want    string // remembered
		says    string // error text
	}{
		"an offered scope":   {[]string{"folder", "team"}, event.AnswerApproval{Decision: event.Deny, Reason: "use pnpm", Remember: "team"}, "team", ""},
		"another scope":      {[]string{"folder"}, event.AnswerApproval{Decision: event.Deny, Reason: "use pnpm", Remember: "person"}, "", `nothing was remembered in "person" (have: folder)`},
		"a hostile scope":    {[]string{"folder"}, event.AnswerApproval{Decision: event.Deny, Reason: "use pnpm", Remember: "../../etc\x1b[2J"}, "", `nothing was remembered in "../../etc\x1b[2J"`},
		"nothing is offered": {nil, event.AnswerApproval{Decision: event.Deny, Reason: "use pnpm", Remember: "folder"}, "", "nothing was remembered"},
		"only this time":     {[]string{"folder"}, event.AnswerApproval{Decision: event.Deny, Reason: "not now", Remember: event.RememberNothing}, event.RememberNothing, ""},
		"without a reason":   {[]string{"folder"}, event.AnswerApproval{Decision: event.Deny, Reason: " \n", Remember: "folder"}, "", "only the reason of a denial"},
		"an approval":        {[]string{"folder"}, event.AnswerApproval{Decision: event.Once, Reason: "use pnpm", Remember: "folder"}, "", "only the reason of a denial"},
		"nobody":             {[]string{"folder"}, event.AnswerApproval{Decision: event.Deny, Reason: "use pnpm", Remember: "folder", Nobody: true}, "", "only the reason of a denial"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stream.New("s1", time.Now, nil)
				ctx, cancel := context.WithCancel(t.Context())
				var texts []string
				events := s.Subscribe(ctx)
				go func() {
					for env := range events {
						if e, ok := env.Payload.(event.Error); ok {
							texts = append(texts, e.Text)
						}
					}
				}()
				b := New(s, policy.Policy{}, "local", action.ModeAsk, time.Now)
				b.SetInteractive()
				var got event.ApprovalAnswered
				go func() {
					got = b.Request(ctx, Request{Task: 1, CallID: "c1", Action: action.Action{Kind: action.Shell, Tool: "run_shell", Command: "npm install"}, Memory: action.Memory{Scopes: c.offered}})
				}()
				synctest.Wait()
				c.answer.ID = b.ids(func(*ask) bool { return true })[0]
				b.Answer(c.answer)
				synctest.Wait()
				cancel()
				synctest.Wait()
				if got.Decision != c.answer.Decision || got.Remember != c.want {
					t.Errorf("answered %+v, want remembered in %q", got, c.want)
				}
				if text := strings.Join(texts, "\n"); c.says == "" && text != "" || !strings.Contains(text, c.says) {
					t.Errorf("it says %q, want %q", text, c.says)
				}
			})
		})
	}
}
