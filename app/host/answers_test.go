package host

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/sessions"
)

// join attaches a screen to a session in a host process, which start may start.
func join(t *testing.T, start func() (*Process, error)) *viewer {
	t.Helper()
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Leave)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	if _, err := p.Hello(ctx); err != nil {
		t.Fatal(err)
	}
	v := &viewer{t: t, Session: p, leave: p.Leave}
	if v.events, err = p.Subscribe(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	return v
}

// of returns the events of one type that a screen has received.
func of[E event.Event](v *viewer) (all []E) {
	for _, env := range v.seen {
		if e, ok := env.Payload.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// TestTwoAnswersAtOnce: when two screens answer an approval at the same instant, one wins; both see the answer that
// counts and its screen; an approved call runs once, a denied one does not. The host drops the other answer if it knows
// the first one, otherwise the session reports that it came too late.
func TestTwoAnswersAtOnce(t *testing.T) {
	options := home(t)
	first := join(t, func() (*Process, error) { return Start(options, sessions.Store{}, false, false) })
	second := join(t, func() (*Process, error) { return Start(options, sessions.Store{}, true, false) })
	const rounds = 6
	approved := 0
	for n := 1; n <= rounds; n++ {
		decisions := []event.Decision{event.Once, event.Once}
		if n%2 == 0 {
			decisions[n/2%2] = event.Deny
		}
		first.Send(event.Submit{Text: fmt.Sprintf("run echo %d >> ran", n)})
		asked := func(e event.Event) bool { _, ok := e.(event.ApprovalAsked); return ok }
		first.until("approval", asked)
		second.until("approval", asked)
		all := of[event.ApprovalAsked](first)
		var at sync.WaitGroup
		start := make(chan struct{})
		for i, v := range []*viewer{first, second} {
			at.Go(func() {
				<-start
				v.Send(event.AnswerApproval{ID: all[n-1].ID, Decision: decisions[i]})
			})
		}
		close(start)
		at.Wait()
		for _, v := range []*viewer{first, second} {
			for len(of[event.TaskFinished](v)) < n {
				v.until("end of the exchange", func(event.Event) bool { return true })
			}
			for _, e := range of[event.Error](v) {
				if !strings.Contains(e.Text, "came too late") {
					t.Errorf("round %d: %s", n, e.Text)
				}
			}
			if got := of[event.ApprovalAnswered](v); len(got) != n || got[n-1].ID != all[n-1].ID || got[n-1].Screen == "" {
				t.Fatalf("round %d: answers %+v", n, got)
			}
		}
		winner := of[event.ApprovalAnswered](first)[n-1]
		if other := of[event.ApprovalAnswered](second)[n-1]; other != winner {
			t.Errorf("round %d: one screen saw %+v, the other %+v", n, winner, other)
		}
		if winner.Decision == event.Once {
			approved++
		}
	}
	ran, err := os.ReadFile("ran")
	if err != nil || strings.Count(string(ran), "\n") != approved {
		t.Errorf("%d approved, ran: %q, %v", approved, ran, err)
	}
	for _, v := range []*viewer{first, second} {
		go func() {
			for range v.events { //nolint:revive // to the end: the reply comes after the events
			}
		}()
	}
	if reply, err := client.Ask[client.CloseReply](t.Context(), first, client.Close{Kill: true}); err != nil || !reply.Stored {
		t.Errorf("%+v, %v", reply, err)
	}
}
