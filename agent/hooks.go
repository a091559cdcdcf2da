package agent

import (
	"buddy/agent/turn"
)

// A [Hook] is told of each [Moment] of an exchange and says with a [Reply] how it goes on.
type (
	// Hook is told of each Moment of an exchange, see [turn.Hook].
	Hook = turn.Hook
	// Moment is one of the types below.
	Moment = turn.Moment
	// LoopIteration is the beginning of a turn, counted from 1 in each exchange.
	LoopIteration = turn.LoopIteration
	// PreLlmCall holds the request that is about to be sent.
	PreLlmCall = turn.PreLlmCall
	// PostLlmCall is an answer that can be used; it is in the history.
	PostLlmCall = turn.PostLlmCall
	// PreToolExecution is a call whose arguments fit; nobody was asked about it yet.
	PreToolExecution = turn.PreToolExecution
	// PostToolExecution holds the result of a tool that ran.
	PostToolExecution = turn.PostToolExecution
	// ContextCompaction is a history that was made shorter, in tokens by estimate.
	ContextCompaction = turn.ContextCompaction

	// Reply is Continue, a Skip or a Terminate.
	Reply = turn.Reply
	// HookTerminated is the error of an exchange that a hook ended.
	HookTerminated = turn.HookTerminated
)

// Continue goes on with the next hook.
var Continue Reply

// Skip keeps a call from running; the model reads the reason. At other moments it only
// keeps the next hooks from being told.
func Skip(reason string) Reply { return turn.Skip(reason) }

// Terminate ends the exchange with a HookTerminated. Calls without a result get one.
func Terminate(reason string) Reply { return turn.Terminate(reason) }
