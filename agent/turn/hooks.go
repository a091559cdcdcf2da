package turn

import (
	"context"
	"errors"
	"fmt"

	"buddy/agent/model"
	"buddy/tools"
)

// Hook is told of each Moment of an exchange and says how it goes on. Calls that
// overlap tell it from several goroutines. An error or a panic terminates.
//
//	noShell := func(_ context.Context, m turn.Moment) (turn.Reply, error) {
//		if pre, ok := m.(turn.PreToolExecution); ok && pre.Call.Name == "run_shell" {
//			return turn.Skip("not on this machine"), nil
//		}
//		return turn.Continue, nil
//	}
type Hook func(ctx context.Context, m Moment) (Reply, error)

// Moment is a LoopIteration, PreLlmCall, PostLlmCall, PreToolExecution,
// PostToolExecution or ContextCompaction. A hook must not change what is in it.
type Moment interface{ moment() }

type (
	// LoopIteration is the beginning of a turn, counted from 1 in each exchange.
	LoopIteration struct{ Turn int }
	// PreLlmCall holds the request that is about to be sent.
	PreLlmCall struct{ Request model.Request }
	// PostLlmCall is an answer that can be used; it is in the history.
	PostLlmCall struct {
		Message model.Message
		Finish  string
		Usage   *model.Usage // nil: the provider did not say
	}
	// PreToolExecution is a call whose arguments fit; nobody was asked about it yet.
	PreToolExecution struct{ Call tools.Call }
	// PostToolExecution holds the result of a tool that ran.
	PostToolExecution struct {
		Call   tools.Call
		Result tools.Result
	}
)

// ContextCompaction is a history that was made shorter, in tokens by estimate.
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

// Continue goes on with the next hook.
var Continue Reply

// Skip keeps a call from running; the model reads the reason. At other moments it only
// keeps the next hooks from being told.
func Skip(reason string) Reply { return Reply{skip, reason} }

// Terminate ends the exchange with a HookTerminated. Calls without a result get one.
func Terminate(reason string) Reply { return Reply{terminate, reason} }

// HookTerminated is the error of an exchange that a hook ended.
type HookTerminated struct{ Reason string }

// Error names the reason.
func (h *HookTerminated) Error() string { return "terminated by a hook: " + h.Reason }

// tell asks the hooks in their order; the first that does not say Continue wins.
func (l *Loop) tell(ctx context.Context, x *Exchange, m Moment) Reply {
	for _, h := range l.o.Hooks {
		reply, err := told(ctx, h, m)
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

func told(ctx context.Context, h Hook, m Moment) (reply Reply, err error) {
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

// ToolError is a tool that failed where Options.Strict ends the exchange.
type ToolError struct{ Tool, Text string }

// Error names the tool and what it said.
func (e *ToolError) Error() string { return "the tool " + e.Tool + " failed: " + e.Text }
