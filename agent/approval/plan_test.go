package approval

import (
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/agent/policy"
	"buddy/agent/stream"
)

// looks lists how long a walk stays in a mode, and whether a prompt is sent in it.
var looks = []struct {
	pause  time.Duration
	prompt bool
}{{0, false}, {2999 * time.Millisecond, false}, {3 * time.Second, false}, {time.Millisecond, true}}

// visit is one mode of a walk, with the index of its look.
type visit struct {
	mode action.Mode
	look int
}

// walks calls do with each sequence of n visits.
func walks(n int, modes []action.Mode, before []visit, do func([]visit)) {
	if n == 0 {
		do(before)
		return
	}
	for _, m := range modes {
		for i := range looks {
			walks(n-1, modes, append(before[:len(before):len(before)], visit{m, i}), do)
		}
	}
}

// For any sequence of modes, an approved plan runs in the last mode that the person used, which means for 3 s or with
// a prompt. Only the choice of edits mode leads to a looser one, and it is offered only from a stricter one.
func TestNoOrderOfModesLetsAPlanWiden(t *testing.T) {
	modes := []action.Mode{action.ModeNone, action.ModeStrict, action.ModeAsk, action.ModeEdits, action.ModeAuto, action.ModePlan, action.ModeAll}
	n, offered, passed := 0, 0, 0
	for _, first := range modes {
		walks(2, modes, nil, func(way []visit) {
			want := lastWorkedIn(first, way)
			if last := way[len(way)-1]; action.Stricter(last.mode, want) != last.mode {
				passed++
			}
			b := planned(t, first, way, want)
			choices := plan.Choices(b.AfterPlan())
			n++
			if b.EndPlan(1, event.PlanExited{Approved: true}, want); b.mode != want {
				t.Fatalf("%s %v: approved in mode %s, want %s", first, way, b.mode, want)
			}
			if len(choices) < 4 {
				return
			}
			offered++
			if action.Stricter(want, action.ModeEdits) != want || want == action.ModeEdits {
				t.Fatalf("%s %v: mode edits was offered from %s", first, way, want)
			}
			b = planned(t, first, way, want)
			if b.EndPlan(1, event.PlanExited{Approved: true, Edits: true}, want); b.mode != action.ModeEdits {
				t.Fatalf("%s %v: with edits approved in mode %s", first, way, b.mode)
			}
		})
	}
	if n < 5000 || offered < 1000 || passed < 500 { // otherwise this proves nothing
		t.Errorf("%d walks, in %d edits were offered, in %d the last mode was a looser one", n, offered, passed)
	}
}

// lastWorkedIn returns the last mode of a walk that the person used.
func lastWorkedIn(first action.Mode, way []visit) action.Mode {
	last, mode, stayed := first, first, time.Duration(0)
	if first == action.ModePlan {
		last = action.ModeAsk
	}
	for _, v := range way {
		if v.mode != mode {
			mode, stayed = v.mode, 0
		}
		stayed += looks[v.look].pause
		if mode != action.ModePlan && (stayed >= 3*time.Second || looks[v.look].prompt) {
			last = mode
		}
	}
	return last
}

// planned returns a broker in plan mode after a walk, and checks the mode that follows.
func planned(t *testing.T, first action.Mode, way []visit, want action.Mode) *Broker {
	now := time.Unix(1_700_000_000, 0)
	b := New(stream.New("s1", time.Now, nil), policy.Policy{Fence: func() error { return nil }}, "local", first, func() time.Time { return now })
	for _, v := range way {
		b.SetMode(v.mode, 0, "")
		if b.mode != v.mode {
			t.Fatalf("mode %s instead of %s", b.mode, v.mode)
		}
		now = now.Add(looks[v.look].pause)
		if looks[v.look].prompt {
			b.Prompted()
		}
	}
	b.SetMode(action.ModePlan, 0, "")
	if got := b.AfterPlan(); got != want || b.mode != action.ModePlan {
		t.Fatalf("%s %v: in mode %s, %s was before it, want %s", first, way, b.mode, got, want)
	}
	return b
}

// Shift+Tab from ask mode passes edits and auto on the way to plan mode: neither counts if passed fast.
func TestCyclingToModePlanPassesModes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pause time.Duration
		want  action.Mode
	}{{"fast", 500 * time.Millisecond, action.ModeAsk}, {"slow", 3 * time.Second, action.ModeAuto}} {
		now := time.Unix(1_700_000_000, 0)
		b := New(stream.New("s1", time.Now, nil), policy.Policy{Fence: func() error { return nil }}, "local", action.ModeAsk, func() time.Time { return now })
		for range 3 {
			CycleMode(b, "")
			now = now.Add(tt.pause)
		}
		if got := b.AfterPlan(); b.mode != action.ModePlan || got != tt.want {
			t.Errorf("%s: in mode %s after %s, want %s", tt.name, b.mode, got, tt.want)
		}
	}
}

// A prompt injection in auto mode changes it to ask, which is then the mode before an immediate plan.
func TestPlanAfterAnInjectionIsNotCarriedOutInAuto(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	b := New(stream.New("s1", time.Now, nil), policy.Policy{Fence: func() error { return nil }}, "local", action.ModeAuto, func() time.Time { return now })
	Suspend(b, 1)
	b.EnterPlan(1)
	if got := b.AfterPlan(); got != action.ModeAsk {
		t.Errorf("%s follows mode plan", got)
	}
}

// An answer to a plan leads to no looser mode than the dialog showed, even if another screen changed the mode
// meanwhile.
func TestPlanEndsInNoLooserModeThanWasSaid(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	b := New(stream.New("s1", time.Now, nil), policy.Policy{Fence: func() error { return nil }}, "local", action.ModeAsk, func() time.Time { return now })
	b.SetMode(action.ModePlan, 0, "")
	shown := b.AfterPlan()
	b.SetMode(action.ModeAll, 0, "")
	now = now.Add(time.Minute)
	b.SetMode(action.ModePlan, 0, "")
	if b.AfterPlan() != action.ModeAll {
		t.Fatalf("%s follows", b.AfterPlan())
	}
	if got := b.EndPlan(1, event.PlanExited{Approved: true}, shown); got != action.ModeAsk {
		t.Errorf("mode %s, though ask was said", got)
	}
}
