package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
)

// longSession has more than three times the blocks that stay, and everything that can cross a division at its end.
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

// readBack returns the events as a session file does.
func readBack(envs []event.Envelope) func(uint64, func(event.Envelope) bool) error {
	return func(after uint64, f func(event.Envelope) bool) error {
		for _, env := range envs {
			if env.Seq > after && event.Durable(env.Payload) && !f(env) {
				break
			}
		}
		return nil
	}
}

func fold(t testing.TB, envs []event.Envelope) *State {
	t.Helper()
	s, err := Fold(func(f func(event.Envelope) bool) error { return readBack(envs)(0, f) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readPart(part Part, envs []event.Envelope) (blocks []*Block, err error) {
	err = ReadParts([]Part{part}, readBack(envs), func(_ Part, all []*Block) bool {
		blocks = all
		return true
	})
	return blocks, err
}

// whole returns s with all dropped parts read back from envs.
func whole(t testing.TB, s *State, envs []event.Envelope) *State {
	t.Helper()
	w := *s
	w.Blocks = nil
	if parts := Parts(s, 0, s.parts.gone); len(parts) > 0 {
		n := 0
		err := ReadParts(parts, readBack(envs), func(part Part, blocks []*Block) bool {
			if part.N != n {
				t.Fatalf("part %d comes after %d", part.N, n)
			}
			n++
			for _, b := range blocks {
				if b.Seq <= part.from.after || b.Seq > part.to {
					t.Fatalf("block %d is in the part from %d to %d", b.Seq, part.from.after, part.to)
				}
			}
			w.Blocks = append(w.Blocks, blocks...)
			return true
		})
		if err != nil || n != len(parts) {
			t.Fatalf("read %d parts of %d, %v", n, len(parts), err)
		}
	}
	w.Blocks = append(w.Blocks, s.Blocks...)
	return &w
}

// wander moves to a random position of the conversation and scrolls around, and fails unless the blocks there equal
// those of the untrimmed conversation.
func wander(t testing.TB, s *State, envs []event.Envelope, want *State, rnd *rand.Rand) {
	t.Helper()
	at := uint64(rnd.IntN(len(envs) + 1))
	if n := PartOf(s, at); n < s.parts.gone {
		part := s.parts.part(n)
		blocks, err := readPart(part, envs)
		if err != nil {
			t.Fatal(err)
		}
		Join(s, part, blocks, true)
		if run, _, _ := Shown(s); !slices.ContainsFunc(blocks, func(b *Block) bool { return slices.ContainsFunc(run, func(r *Block) bool { return r.Seq == b.Seq }) }) && len(blocks) > 0 {
			t.Fatal("the place does not show")
		}
	}
	down := rnd.IntN(2) == 0
	for range 1 + rnd.IntN(30) {
		run, above, below := Shown(s)
		if len(run) > 14*partBlocks+keepBlocks+spareBlocks {
			t.Fatalf("%d blocks are there", len(run))
		}
		first := 0
		if len(run) > 0 {
			first = slices.IndexFunc(want.Blocks, func(b *Block) bool { return b.Seq == run[0].Seq })
		}
		if first < 0 || len(run) > 0 && (first+len(run) > len(want.Blocks) || !above != (first == 0) || !below != (first+len(run) == len(want.Blocks))) {
			t.Fatalf("%d blocks from %d on of %d, above %v, below %v", len(run), first, len(want.Blocks), above, below)
		}
		got, part := *s, *want
		got.Blocks, part.Blocks = run, want.Blocks[first:first+len(run)]
		wantSame(t, fmt.Sprintf("blocks from %d on", first), &got, &part)
		i := 0
		if down {
			i = max(len(run)-1, 0)
		}
		if near, ok, _ := Near(s, i, i, false); ok {
			blocks, err := readPart(near, envs)
			if err != nil || Join(s, near, blocks, false) == 0 {
				t.Fatal("a part beside does not join", err)
			}
		}
	}
}

// However often parts are dropped, and wherever they are read back, the conversation equals the untrimmed one, and
// blocks in memory are the same ones.
func TestTrimmedIsReadBack(t *testing.T) {
	envs := longSession()
	for _, back := range []int{len(envs) / 2, len(envs) - 60, len(envs) - 1, len(envs)} {
		var s State
		most := 0
		for _, env := range envs[:back] {
			if s.Apply(env); Long(&s) {
				Trim(&s, false)
			}
			most = max(most, len(s.Blocks))
		}
		if limit := keepBlocks + spareBlocks + 2*partBlocks; s.Whole() || most > limit {
			t.Fatalf("whole %v, %d blocks at the most, limit %d", s.Whole(), most, limit)
		}
		if len(s.Blocks) < keepBlocks {
			t.Fatalf("%d blocks stay, want %d", len(s.Blocks), keepBlocks)
		}
		want := replay(envs[:back])
		wantSame(t, fmt.Sprintf("at %d of %d", back, len(envs)), whole(t, &s, envs), want) // the file continues
		for seed := range uint64(5) {
			wander(t, &s, envs, want, rand.New(rand.NewPCG(seed, 5)))
		}
		before := identities(&s)
		Leave(&s)
		wantKept(t, "left", &s, before)
	}
}

// A conversation can be divided after any event that leaves nothing open.
func TestDividedAnywhere(t *testing.T) {
	for name, envs := range map[string][]event.Envelope{"exchanges": longSession()[:60], "all": realistic(), "forks": forks()} {
		want := replay(durable(envs))
		for _, b := range want.Blocks {
			dropOutput(b)
		}
		divided := 0
		for cut := range envs {
			var s State
			for i, env := range durable(envs) {
				s.parts.bytes = 0
				if i == cut {
					s.parts.bytes = partBytes // forces a division at the next possible place
				}
				s.Apply(env)
			}
			if len(s.parts.ends) == 0 {
				continue
			}
			divided++
			s.parts.ends = append(s.parts.ends, mark{after: envs[len(envs)-1].Seq})
			s.Blocks, s.parts.gone = nil, len(s.parts.ends) // everything is read back
			got := whole(t, &s, envs)
			for _, b := range got.Blocks {
				dropOutput(b)
			}
			wantSame(t, fmt.Sprintf("%s, divided after %d", name, s.parts.ends[0].after), &State{Blocks: got.Blocks}, &State{Blocks: want.Blocks})
		}
		if divided < 10 {
			t.Errorf("%s: divided at %d places of %d", name, divided, len(envs))
		}
	}
}

// dropOutput removes what a part does not keep of a call: its output, and its subagent.
func dropOutput(b *Block) {
	if c := b.Call; c != nil {
		c.Output = Tail{}
		if c.Agent != nil {
			c.Agent = &Task{ID: c.Agent.ID, State: c.Agent.State, Title: c.Agent.Label()}
		}
	}
}

// forks is a session with parallel tasks and subagents, some of them interrupted.
func forks() []event.Envelope {
	sc := &script{}
	beside := func(branch, task int, payloads ...event.Event) {
		n := len(sc.envs)
		sc.add(task, payloads...)
		for i := range sc.envs[n:] {
			sc.envs[n+i].Branch = branch
		}
	}
	sc.add(0, event.SessionCreated{Cwd: "/w", Target: "local", Model: "m", Profile: "p"})
	for n := range 6 {
		id := 10 * (n + 1)
		sc.add(id, event.PromptSubmitted{ID: id, Text: "go", Kind: event.Opening}, event.TaskStarted{ID: id, Kind: event.MainTask},
			event.BranchStarted{Branch: id, Why: "bg"})
		beside(id, id+1, event.TaskStarted{ID: id + 1, Kind: event.BackgroundTask, Title: "beside"}, event.ToolRequested{CallID: fmt.Sprint("f", id), Name: "x"},
			event.QuestionAsked{ID: fmt.Sprint("q", id), Text: "which?"})
		sc.add(id, event.ToolRequested{CallID: fmt.Sprint("c", id), Name: "agent"}, event.ToolStarted{CallID: fmt.Sprint("c", id)},
			event.BranchStarted{Branch: id + 1, Why: event.ForSubagent})
		beside(id+1, id+2, event.TaskStarted{ID: id + 2, Kind: event.SubagentTask, Agent: "explore", Call: fmt.Sprint("c", id), Parent: id},
			event.ModelMessage{Message: model.Message{Content: "I see"}}, event.Warning{Text: "slow"})
		beside(id, id+1, event.ModelMessage{Message: model.Message{Content: fmt.Sprint("answer ", n)}}, event.Warning{Text: "late"})
		if n%2 == 0 {
			beside(id+1, id+2, event.TaskFinished{ID: id + 2, Outcome: event.Completed})
			beside(id, id+1, event.ToolResult{CallID: fmt.Sprint("f", id), Result: "so"})
			sc.add(id, event.ToolResult{CallID: fmt.Sprint("c", id), Result: "seen"}, event.ModelSwitched{Profile: "p", Model: "m", Effort: fmt.Sprint(n)},
				event.ToolRequested{CallID: fmt.Sprint("t", id), Name: "todo"}, event.ToolResult{CallID: fmt.Sprint("t", id), Name: "todo", Tail: "[ ] one\n"},
				event.TaskFinished{ID: id, Outcome: event.Completed})
			beside(id, id+1, event.QuestionAnswered{ID: fmt.Sprint("q", id), By: "user", Text: "that"},
				event.TaskFinished{ID: id + 1, Outcome: event.Completed})
			continue
		}
		sc.add(0, event.SessionResumed{Cwd: "/w", Target: "local", Model: "m", Profile: "p"})
		sc.add(id, event.ToolResult{CallID: fmt.Sprint("c", id), Result: "nothing"})
		beside(id+1, id+2, event.TaskFinished{ID: id + 2, Outcome: event.Cancelled})
		beside(id, id+1, event.TaskFinished{ID: id + 1, Outcome: event.Cancelled})
		sc.add(id, event.ToolRequested{CallID: fmt.Sprint("t", id), Name: "todo"}, event.ToolResult{CallID: fmt.Sprint("t", id), Name: "todo", Tail: "[x] one\n"},
			event.TaskFinished{ID: id, Outcome: event.Cancelled})
	}
	return sc.envs
}

// A session that is opened from its end and trimmed while the rest is read equals one that was watched.
func TestTrimWhileTheRestIsRead(t *testing.T) {
	envs := durable(longSession())
	n := len(envs) - 200
	var s State
	s.ApplyTail(envs[n:])
	if Long(&s) || Trim(&s, false) != 0 {
		t.Error("trimmed while the rest is still to come")
	}
	before := identities(&s)
	s.PrependState(fold(t, envs[:n]))
	wantKept(t, "joined", &s, before)
	if len(s.Blocks) > keepBlocks+spareBlocks+300 || s.Whole() {
		t.Fatalf("%d blocks", len(s.Blocks))
	}
	wantSame(t, "read back", whole(t, &s, envs), replay(envs))
}

// The part that the user looks at stays while the conversation continues.
func TestTrimLeavesWhatIsLookedAt(t *testing.T) {
	envs := longSession()
	var s State
	var first *Block
	for i, env := range envs {
		s.Apply(env)
		if i == 900 {
			first = s.Blocks[0]
		}
		if i > 900 {
			Near(&s, 0, 20, false)
		}
		if Long(&s) {
			Trim(&s, i > 900)
		}
	}
	if run, above, below := Shown(&s); run[0] != first || above || !below {
		t.Errorf("another block is first: above %v, below %v", above, below)
	}
}

// Blocks that may still change stay, and so do later ones.
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
			Trim(s, false)
			if gone := n - len(s.Blocks); gone > 1 != (open == nil) {
				t.Errorf("%d blocks went", gone)
			}
		})
	}
}

// A few blocks with much text are dropped as well; short blocks are not dropped one by one.
func TestTrimCountsBytes(t *testing.T) {
	sc := &script{}
	for n := range 20 {
		sc.add(1, event.PromptSubmitted{ID: n, Text: string(make([]byte, 1<<20))})
	}
	s := replay(sc.envs)
	if Trim(s, false); len(s.Blocks) > 3 {
		t.Errorf("%d blocks of 1 MB stay", len(s.Blocks))
	}
	short := &script{}
	for n := range keepBlocks + spareBlocks - 1 {
		short.add(1, event.PromptSubmitted{ID: n, Text: "x"})
	}
	if s := replay(short.envs); Trim(s, false) != 0 {
		t.Error("a few blocks went")
	}
}

// Random rewinds and redos across dropped prompts show the right blocks at every position.
func TestTrimAndRewind(t *testing.T) {
	for seed := range uint64(6) {
		h := &wanderer{rnd: rand.New(rand.NewPCG(seed, 1))}
		var s State
		applied, looked := 0, 0
		for range 2500 {
			switch at := h.rnd.IntN(400); {
			case at == 0 && h.prompts > 10:
				h.publish(event.HistoryRewound{ToSeq: aliveBorder(h), Prompt: "x"})
			case at == 1:
				if seq, _, ok := h.rewinds.Last(); ok {
					h.publish(event.HistoryRewound{ToSeq: seq, Prompt: "x", Redo: true})
				}
			case at < 6:
				h.step()
			default:
				h.prompts++
				h.borders = append(h.borders, uint64(len(h.events)+1))
				h.publish(event.PromptSubmitted{ID: h.prompts, Text: fmt.Sprint("prompt ", h.prompts), Kind: event.Opening}, event.Notice{Text: "so"})
				if at%8 == 0 {
					call := fmt.Sprint("todo", h.prompts)
					h.publish(event.ToolRequested{CallID: call, Name: "todo"},
						event.ToolResult{CallID: call, Name: "todo", Tail: fmt.Sprintf("[%c] step %d\n", " x"[h.rnd.IntN(2)], h.prompts)})
				}
			}
			for _, env := range h.events[applied:] {
				s.Apply(env)
			}
			if applied = len(h.events); Long(&s) {
				Trim(&s, h.rnd.IntN(2) == 0)
			}
			if h.rnd.IntN(250) == 0 && !s.Whole() {
				looked++
				wander(t, &s, h.events, replay(h.events), h.rnd)
			}
		}
		if looked == 0 {
			t.Fatalf("seed %d: nothing was looked at", seed)
		}
		wantSame(t, fmt.Sprint("seed ", seed), whole(t, &s, h.events), replay(h.events))
		climb(t, &s, h.events)
	}
}

// climb scrolls from the end to the first block, and fails if it can't be reached.
func climb(t testing.TB, s *State, envs []event.Envelope) {
	t.Helper()
	Leave(s)
	for range 10_000 {
		near, ok, _ := Near(s, 0, 0, false)
		if !ok {
			break
		}
		blocks, err := readPart(near, envs)
		if err != nil || Join(s, near, blocks, false) == 0 {
			t.Fatal("a part beside does not join", err)
		}
	}
	if run, above, _ := Shown(s); above || len(run) == 0 || run[0].Seq != 1 {
		t.Fatalf("stuck below part %d, above %v", s.window.from, above)
	}
}

// A rewind across many parts shows the blocks before them.
func TestRewindOverManyParts(t *testing.T) {
	h := &wanderer{}
	for n := range 30 * partBlocks {
		h.publish(event.PromptSubmitted{ID: n, Text: fmt.Sprint("prompt ", n), Kind: event.Opening})
	}
	to := uint64(5*partBlocks + 7)
	h.publish(event.HistoryRewound{ToSeq: to, Prompt: "x"})
	var s State
	for _, env := range h.events {
		if s.Apply(env); Long(&s) {
			Trim(&s, false)
		}
	}
	if !Short(&s) {
		t.Fatal("it is not short")
	}
	climb(t, &s, h.events)
	wantSame(t, "all", whole(t, &s, h.events), replay(h.events))
}

// aliveBorder returns the number of a prompt that a rewind may go to.
func aliveBorder(h *wanderer) uint64 {
	for {
		if b := h.borders[h.rnd.IntN(len(h.borders))]; !h.rewinds.Gone(b) {
			return b
		}
	}
}
