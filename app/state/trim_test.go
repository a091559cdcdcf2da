package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"buddy/agent/event"
)

// longSession has more than three times the blocks that stay, with all that can cross a border at its end.
func longSession() []event.Envelope {
	s := &script{}
	s.add(0, event.SessionCreated{Version: "1", Cwd: "/w", Model: "m", Title: "first"})
	for n := 1000; n < 1000+3*keepBlocks/4; n++ {
		s.exchange(n, []event.Decision{event.Once, event.Deny}[n%2])
	}
	for _, env := range realistic()[1:] {
		s.add(env.Task, env.Payload)
	}
	return s.envs
}

// readBack returns the events as a session file gives them.
func readBack(envs []event.Envelope) func(func(event.Envelope) bool) error {
	return func(f func(event.Envelope) bool) error {
		for _, env := range durable(envs) {
			if !f(env) {
				break
			}
		}
		return nil
	}
}

func fold(t testing.TB, all bool, envs []event.Envelope) *State {
	t.Helper()
	s, err := Fold(all, readBack(envs))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// However often blocks were forgotten on the way, and wherever they are read back, the conversation is what
// it is when nothing was forgotten, and the blocks that were there are the same ones.
func TestTrimmedIsRestored(t *testing.T) {
	envs := longSession()
	want := replay(envs)
	for _, back := range []int{len(envs) / 2, len(envs) - 60, len(envs) - 1, len(envs)} {
		var s State
		most := 0
		for _, env := range envs[:back] {
			if s.Apply(env); Long(&s) {
				Trim(&s)
			}
			most = max(most, len(s.Blocks))
		}
		if limit := keepBlocks + spareBlocks + 50; !Trimmed(&s) || s.Whole() || most > limit {
			t.Fatalf("trimmed %v, whole %v, %d blocks at the most, limit %d", Trimmed(&s), s.Whole(), most, limit)
		}
		if len(s.Blocks) < keepBlocks {
			t.Fatalf("%d blocks stay, want %d", len(s.Blocks), keepBlocks)
		}
		before := identities(&s)
		if Restore(&s, fold(t, true, envs[:back])) == 0 || !s.Whole() {
			t.Fatal("nothing was restored")
		}
		wantKept(t, "restored", &s, before)
		wantSame(t, fmt.Sprintf("at %d of %d", back, len(envs)), &s, replay(envs[:back]))
		for _, env := range envs[back:] {
			s.Apply(env)
		}
		wantSame(t, fmt.Sprintf("after %d of %d", back, len(envs)), &s, want)
	}
}

// What is read back may be from a moment later than that at which it was asked for.
func TestRestoreFromALaterFile(t *testing.T) {
	envs := longSession()
	n := len(envs) - 40
	s := replay(envs[:n])
	if Trim(s) == 0 {
		t.Fatal("nothing was forgotten")
	}
	Restore(s, fold(t, true, envs))
	wantSame(t, "restored", s, replay(envs[:n]))
	if Restore(s, fold(t, true, envs)) != 0 {
		t.Error("restored twice")
	}
}

// A session that is opened from its end and trimmed as the rest is read ends like one that was watched.
func TestTrimWhileTheRestIsRead(t *testing.T) {
	envs := durable(longSession())
	n := len(envs) - 200
	var s State
	s.ApplyTail(envs[n:])
	if Long(&s) || Trim(&s) != 0 {
		t.Error("trimmed while the rest is still to come")
	}
	before := identities(&s)
	s.PrependState(fold(t, false, envs[:n]))
	wantKept(t, "joined", &s, before)
	if len(s.Blocks) > keepBlocks+spareBlocks+200 || !Trimmed(&s) {
		t.Fatalf("%d blocks", len(s.Blocks))
	}
	Restore(&s, fold(t, true, envs))
	wantSame(t, "restored", &s, replay(envs))
}

// What still changes stays, and what comes after it.
func TestTrimLeavesWhatIsNotSettled(t *testing.T) {
	code := 0
	for name, open := range map[string][]event.Event{
		"a call that runs":     {event.ToolRequested{CallID: "open", Name: "run_shell"}, event.ToolStarted{CallID: "open"}},
		"a call that waits":    {event.ToolRequested{CallID: "open", Name: "run_shell"}, event.ApprovalAsked{ID: "a", CallID: "open"}},
		"a workflow that runs": {event.WorkflowStarted{Run: 1, Name: "w"}},
		"nothing":              nil,
	} {
		t.Run(name, func(t *testing.T) {
			sc := &script{}
			sc.add(1, event.PromptSubmitted{ID: 1, Text: "go"})
			sc.add(1, open...)
			for n := range 4 * keepBlocks {
				id := fmt.Sprint("c", n)
				sc.add(2, event.PromptSubmitted{ID: n + 2, Text: "more"}, event.ToolRequested{CallID: id, Name: "run_shell"}, event.ToolResult{CallID: id, ExitCode: &code})
			}
			s := replay(sc.envs)
			n := len(s.Blocks)
			Trim(s)
			if gone := n - len(s.Blocks); gone > 1 != (open == nil) {
				t.Errorf("%d blocks went", gone)
			}
		})
	}
}

// Few blocks with much text go as well; many that are short do not go one by one.
func TestTrimCountsBytes(t *testing.T) {
	sc := &script{}
	for n := range 20 {
		sc.add(1, event.PromptSubmitted{ID: n, Text: string(make([]byte, 1<<20))})
	}
	s := replay(sc.envs)
	if Trim(s); len(s.Blocks) > 3 {
		t.Errorf("%d blocks of 1 MB stay", len(s.Blocks))
	}
	short := &script{}
	for n := range keepBlocks + spareBlocks - 1 {
		short.add(1, event.PromptSubmitted{ID: n, Text: "x"})
	}
	if s := replay(short.envs); Trim(s) != 0 {
		t.Error("a few blocks went")
	}
}

// A person who goes back and forth between prompts that were forgotten finds what was there.
func TestTrimAndRewind(t *testing.T) {
	for seed := range uint64(4) {
		h := &wanderer{rnd: rand.New(rand.NewPCG(seed, 1))}
		var s State
		applied := 0
		trimmed := false
		for range 2500 {
			switch at := h.rnd.IntN(400); {
			case at == 0 && h.prompts > 10:
				h.say(event.HistoryRewound{ToSeq: aliveBorder(h), Prompt: "x"})
			case at == 1:
				if seq, _, ok := h.rewinds.Last(); ok {
					h.say(event.HistoryRewound{ToSeq: seq, Prompt: "x", Redo: true})
				}
			case at == 2 && Trimmed(&s):
				Restore(&s, fold(t, true, h.events))
			default:
				h.prompts++
				h.borders = append(h.borders, uint64(len(h.events)+1))
				h.say(event.PromptSubmitted{ID: h.prompts, Text: fmt.Sprint("prompt ", h.prompts), Kind: event.Opening}, event.Notice{Text: "so"})
			}
			for _, env := range h.events[applied:] {
				s.Apply(env)
			}
			if applied = len(h.events); Long(&s) {
				Trim(&s)
			}
			trimmed = trimmed || Trimmed(&s)
		}
		if !trimmed {
			t.Fatalf("seed %d: nothing was forgotten", seed)
		}
		Restore(&s, fold(t, true, h.events))
		wantSame(t, fmt.Sprint("seed ", seed), &s, replay(h.events))
	}
}

// aliveBorder returns the number of a prompt that a way back may go to.
func aliveBorder(h *wanderer) uint64 {
	for {
		if b := h.borders[h.rnd.IntN(len(h.borders))]; !h.rewinds.Gone(b) {
			return b
		}
	}
}
