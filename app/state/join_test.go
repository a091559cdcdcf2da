package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// memory is a journal of durable events.
type memory struct {
	mu     sync.Mutex
	events []event.Envelope
}

func (m *memory) Append(env event.Envelope) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, env)
	return nil
}

// holds reports whether an event was stored.
func (m *memory) holds(env event.Envelope) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.events, func(stored event.Envelope) bool { return stored.Seq == env.Seq && stored.Payload == env.Payload })
}

func (m *memory) Range(after uint64, f func(event.Envelope) bool) error {
	m.mu.Lock()
	events := slices.Clone(m.events)
	m.mu.Unlock()
	for _, env := range events {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// agent publishes the events of a random agent: answers that stream, with checkpoints, and calls that print.
type agent struct {
	st      *stream.Stream
	rnd     *rand.Rand
	turn    int
	text    string
	saved   int
	calls   int
	running bool
	printed string
}

func (a *agent) step() {
	switch n := a.rnd.IntN(20); {
	case n < 8:
		w := fmt.Sprintf("w%d ", a.rnd.IntN(1000))
		a.text += w
		a.st.Publish(1, a.turn, event.TextDelta{Text: w})
	case n < 10:
		a.checkpoint()
	case n == 10:
		a.st.Publish(1, a.turn, event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: a.text}})
		a.text, a.saved = "", 0
	case n == 11:
		a.st.Publish(1, a.turn, event.ModelRetry{Attempt: 1, Why: "reset"})
		a.text, a.saved = "", 0
	case n == 12 && !a.running:
		a.checkpoint() // as before every call
		a.calls++
		a.running, a.printed = true, ""
		a.st.Publish(1, a.turn, event.ToolRequested{CallID: fmt.Sprint(a.calls), Name: "shell", Arguments: `{"command":"x"}`})
		a.st.Publish(1, a.turn, event.ToolStarted{CallID: fmt.Sprint(a.calls)})
	case n < 18 && a.running:
		text := fmt.Sprintf("line %d\n", a.rnd.IntN(1000))
		a.printed += text
		a.st.Publish(1, a.turn, event.ToolOutput{CallID: fmt.Sprint(a.calls), Stream: []string{"stdout", "stderr"}[a.rnd.IntN(2)], Text: text, BytesTotal: int64(len(a.printed))})
	case n == 18 && a.running:
		a.running = false
		a.st.Publish(1, a.turn, event.ToolResult{CallID: fmt.Sprint(a.calls), Name: "shell", Result: "ok", Tail: a.printed})
	case n == 19:
		a.checkpoint() // otherwise a reader has the text after the notice
		a.st.Publish(0, 0, event.Notice{Text: "something"})
	}
}

func (a *agent) checkpoint() {
	if len(a.text) > a.saved {
		a.st.Publish(1, a.turn, event.Checkpoint{Text: a.text[a.saved:], TextAt: a.saved})
		a.saved = len(a.text)
	}
}

// visible returns the visible contents of a state.
func visible(s *State) string {
	var b strings.Builder
	for _, block := range s.Blocks {
		fmt.Fprintf(&b, "%v %v %s", block.Kind, block.Open, block.Text)
		if block.Call != nil {
			fmt.Fprintf(&b, " %v %q", block.Call.State, block.Call.Output.Buf)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestWhoJoinsInTheMiddleSeesWhatTheOthersSee: a screen that leaves and returns at any time equals one that never left.
func TestWhoJoinsInTheMiddleSeesWhatTheOthersSee(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			journal := &memory{}
			a := &agent{st: stream.New("s", time.Now, journal), rnd: rnd, turn: 1}
			var always, visitor State
			var after uint64
			all := a.st.Join(t.Context(), 0, 0)
			go func() {
				for batch := range all {
					for _, env := range batch {
						always.Apply(env)
					}
				}
			}()
			for range 5 {
				for range rnd.IntN(60) { // while the visitor is away
					a.step()
				}
				visit := a.st.Join(t.Context(), after, time.Duration(rnd.IntN(3))*time.Millisecond)
				leave := make(chan struct{})
				go func() {
					defer close(leave)
					for range 1 + rnd.IntN(4) {
						for _, env := range <-visit {
							if env.Seq <= after {
								t.Errorf("seed %d: event %d after %d", seed, env.Seq, after)
							}
							if _, saved := env.Payload.(event.Checkpoint); saved && !journal.holds(env) {
								t.Errorf("seed %d: checkpoint %d is not stored", seed, env.Seq)
							}
							after = env.Seq
							visitor.Apply(env)
						}
					}
					// The visitor leaves while it receives events.
				}()
				synctest.Wait()
				for range 200 {
					a.step()
					select {
					case <-leave:
					default:
						time.Sleep(time.Millisecond)
						synctest.Wait()
					}
				}
				<-leave
			}
			last := a.st.Join(t.Context(), after, 0)
			a.st.Close()
			for batch := range last {
				for _, env := range batch {
					visitor.Apply(env)
				}
			}
			synctest.Wait()
			if got, want := visible(&visitor), visible(&always); got != want {
				g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
				at := 0
				for at < min(len(g), len(w))-1 && g[at] == w[at] {
					at++
				}
				t.Fatalf("seed %d: row %d: the visitor sees\n%s\nthe others\n%s", seed, at, g[at], w[at])
			}
		})
	}
}
