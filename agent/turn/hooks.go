package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/model"
	"buddy/tools"
)

// Hook is called at each Moment of an exchange and decides how the exchange continues. Overlapping calls run it from
// several goroutines. An error or a panic terminates the exchange.
//
//	noShell := func(_ context.Context, m turn.Moment) (turn.Reply, error) {
//		if pre, ok := m.(turn.PreToolExecution); ok && pre.Call.Name == "run_shell" {
//			return turn.Skip("not on this machine"), nil
//		}
//		return turn.Continue, nil
//	}
type Hook func(ctx context.Context, m Moment) (Reply, error)

// Moment is a LoopIteration, PreLlmCall, PostLlmCall, PreToolExecution, PostToolExecution or ContextCompaction. A
// hook must not change its content.
type Moment interface{ moment() }

type (
	// LoopIteration is the start of a turn, counted from 1 in each exchange.
	LoopIteration struct{ Turn int }
	// PreLlmCall holds the request that is about to be sent.
	PreLlmCall struct{ Request model.Request }
	// PostLlmCall holds a usable answer, which is in the history.
	PostLlmCall struct {
		Message model.Message
		Finish  string
		Usage   *model.Usage // nil: the provider sent none
	}
	// PreToolExecution holds a call with valid arguments, before approval.
	PreToolExecution struct{ Call tools.Call }
	// PostToolExecution holds the result of a tool that ran.
	PostToolExecution struct {
		Call   tools.Call
		Result tools.Result
	}
)

// ContextCompaction reports the estimated size of a history before and after it was shortened.
type ContextCompaction struct{ OldTokens, NewTokens int }

func (ContextCompaction) moment() {}
func (LoopIteration) moment()     {}
func (PreLlmCall) moment()        {}
func (PostLlmCall) moment()       {}
func (PreToolExecution) moment()  {}
func (PostToolExecution) moment() {}

// Reply is Continue, a Skip or a Terminate.
type Reply struct {
	kind   replyKind
	reason string
}

type replyKind uint8

const (
	skip replyKind = iota + 1
	terminate
)

// Continue lets the next hook decide.
var Continue Reply

// Skip keeps a call from running; the model reads the reason. At other moments it only skips the remaining hooks.
func Skip(reason string) Reply { return Reply{skip, reason} }

// Terminate ends the exchange with a HookTerminated. Open calls get a result.
func Terminate(reason string) Reply { return Reply{terminate, reason} }

// HookTerminated is the error of an exchange that a hook ended.
type HookTerminated struct{ Reason string }

// Error names the reason.
func (h *HookTerminated) Error() string { return "terminated by a hook: " + h.Reason }

// runHooks calls the hooks in order until one does not return Continue, and returns its reply.
func (l *Loop) runHooks(ctx context.Context, x *Exchange, m Moment) Reply {
	for _, h := range l.o.Hooks {
		reply, err := runHook(ctx, h, m)
		if err != nil {
			reply = Terminate(err.Error())
		}
		if reply.kind == terminate {
			x.stop(&HookTerminated{reply.reason})
		}
		if reply != Continue {
			return reply
		}
	}
	return Continue
}

func runHook(ctx context.Context, h Hook, m Moment) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed internally: %v", p)
		}
	}()
	return h(ctx, m)
}

// terminated returns the HookTerminated, ToolError or StuckError that ended ctx, or nil.
func terminated(ctx context.Context) error {
	var h *HookTerminated
	var e *ToolError
	var s *StuckError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &h):
		return h
	case errors.As(cause, &e):
		return e
	case errors.As(cause, &s):
		return s
	}
	return nil
}

// ToolError is the error of an exchange that Options.Strict ended because a tool failed.
type ToolError struct{ Tool, Text string }

// Error names the tool and its message.
func (e *ToolError) Error() string { return "the tool " + e.Tool + " failed: " + e.Text }
