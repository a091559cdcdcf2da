package conversation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/stream"
)

// kept is an in-memory journal.
type kept struct{ events []event.Envelope }

func (k *kept) Append(env event.Envelope) error { // under the stream's lock
	line, err := json.Marshal(env)
	if err != nil {
		return err
	}
	var back event.Envelope
	err = json.Unmarshal(line, &back)
	k.events = append(k.events, back)
	return err
}

func (k *kept) Range(uint64, func(event.Envelope) bool) error { return nil }

// one makes a random change to a conversation, as a turn or a person would.
func one(c *Conversation, task, n int, rng *rand.Rand) {
	open := c.Open()
	switch k := rng.IntN(8); {
	case len(open) > 0 && k < 5:
		c.StoreResult(task, n, "{}", event.ToolResult{CallID: open[0].ID, Name: open[0].Name, Result: fmt.Sprint("result ", n)})
	case k == 0:
		c.Enqueue(event.PromptSubmitted{ID: n, Text: fmt.Sprint("later ", n)})
	case k == 1:
		c.Steer(task)
	case k == 2:
		c.Announce(fmt.Sprint("news ", n))
		c.AttachNews(task)
	case k == 3:
		c.Pin(event.Pin{Back: 1 + rng.IntN(2)})
	case k == 4:
		_, _ = c.Cut(task, "window", c.PlanCut(40, 4))
	case len(open) == 0:
		id := fmt.Sprintf("c%d-%d", task, n)
		c.Enter(task, event.PromptSubmitted{ID: n, Text: fmt.Sprint("prompt ", n)}, event.Opening, "2026-11-22 (UTC)")
		c.Store(task, n, model.Message{Role: model.Assistant, Content: fmt.Sprint("answer ", n), ToolCalls: []model.ToolCall{{ID: id, Name: "do", Arguments: "{}"}}}, "", false)
	}
}

// Replaying the stored events rebuilds the same histories, even when conversations change and fork concurrently.
func TestStoredEventsGiveTheSameHistories(t *testing.T) {
	for seed := range uint64(20) {
		mem := &kept{}
		events := stream.New("s1", time.Now, mem)
		tree := NewTree(events, "be brief")
		var work sync.WaitGroup
		work.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for n := range 60 {
				one(tree.Main(), 1, n, rng)
			}
		})
		for task := 2; task < 5; task++ {
			c := tree.Fork(func(string) bool { return false })
			events.Bind(task, c.Branch())
			work.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(task)))
				for n := range 30 {
					one(c, task, n, rng)
				}
			})
		}
		work.Wait()
		again := NewTree(stream.New("s1", time.Now, nil), "be brief")
		for _, env := range mem.events {
			again.Replay(env)
		}
		for branch := range 4 {
			want, got := tree.At(branch).Messages(), again.At(branch).Messages()
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, branch %d: replayed\n%v\nwant\n%v", seed, branch, got, want)
			}
		}
	}
}

// SetSystem replaces the system prompt of every conversation and of its estimate.
func TestSystemPromptIsReplaced(t *testing.T) {
	const long = "a new and much longer prompt, which the estimate has to count"
	started := func(system string) *Tree {
		tree := NewTree(stream.New("s1", time.Now, nil), system)
		tree.Main().Enter(1, event.PromptSubmitted{Text: "hello"}, event.Opening, "")
		return tree
	}
	tree, want := started("old"), started(long).Main()
	fork := tree.Fork(func(string) bool { return false })
	tree.SetSystem(long)
	for _, c := range []*Conversation{tree.Main(), fork} {
		if c.Tokens() != want.Tokens() || !reflect.DeepEqual(c.Messages(), want.Messages()) {
			t.Errorf("branch %d: %d tokens, want %d: %v", c.Branch(), c.Tokens(), want.Tokens(), c.Messages())
		}
	}
}
