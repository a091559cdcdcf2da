package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"log"
	"sync"

	"buddy/agent/model"
	"buddy/tools"
)

// steps is a custom [turn.Durable]: it records the results of model calls and tool calls, and returns a recorded result
// instead of calling again. A durable execution engine would store the map. The key of a step is its content; if it
// were the step's number, parallel calls would get each other's results.
type steps struct {
	mu     sync.Mutex // guards the fields below
	done   map[[32]byte][]byte
	called []string
}

// step returns the recorded result for a key, or records the result of call.
func step[R any](s *steps, what string, key any, call func() (R, bool)) R {
	text, err := json.Marshal([]any{what, key})
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(text)
	s.mu.Lock()
	defer s.mu.Unlock() // one step at a time is enough here
	var result R
	if recorded, ok := s.done[sum]; ok {
		if err := json.Unmarshal(recorded, &result); err != nil {
			log.Fatal(err)
		}
		return result
	}
	s.called = append(s.called, what)
	result, complete := call()
	if recorded, err := json.Marshal(result); err == nil && complete {
		s.done[sum] = recorded
	}
	return result
}

// LLMCall records the deltas of a complete answer.
func (s *steps) LLMCall(ctx context.Context, req model.Request, call func(context.Context) iter.Seq2[model.Delta, error]) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		var failed error
		all := step(s, "model", req.Messages, func() (all []model.Delta, complete bool) {
			for d, err := range call(ctx) {
				if failed = err; err != nil {
					return all, false
				}
				all = append(all, d)
			}
			return all, true
		})
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
		if failed != nil {
			yield(model.Delta{}, failed)
		}
	}
}

// ToolCall records the result of a call.
func (s *steps) ToolCall(ctx context.Context, c tools.Call, run func(context.Context) tools.Result) tools.Result {
	return step(s, "tool", []string{c.ID, c.Name, c.Arguments}, func() (tools.Result, bool) {
		res := run(ctx)
		return res, ctx.Err() == nil // an interrupted call is not complete
	})
}
