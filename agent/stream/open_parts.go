package stream

import (
	"cmp"
	"maps"
	"slices"

	"buddy/agent/event"
)

const (
	keptOutput = 64 << 10 // bytes of the output of a running call, kept for subscribers that join
	keptPieces = 4096     // pieces that those bytes are known to consist of
)

// openParts holds what is in no durable event yet: answers since their last checkpoint, the end of
// the output of running calls, the newest picture of each pane, the newest list of commands, and that
// nothing can be stored. A subscriber that joins in the middle gets it after what the journal holds.
type openParts struct {
	answers  map[int]*openAnswer // by task
	outputs  map[string]*openOutput
	screens  map[string]event.Envelope // by pane
	progress map[int]event.Envelope    // by task
	commands event.Envelope            // the newest list of them; zero: there was none
	broken   []event.Envelope          // the error of the journal, if there is one
}

func newOpenParts() openParts {
	return openParts{
		answers: make(map[int]*openAnswer), outputs: make(map[string]*openOutput),
		screens: make(map[string]event.Envelope), progress: make(map[int]event.Envelope),
	}
}

// openAnswer holds the text of an answer since its last checkpoint. The offsets are bytes of the
// answer before that.
type openAnswer struct {
	first, latest       event.Envelope // that made it grow
	text, reasoning     []byte
	textAt, reasoningAt int
}

// openOutput is the end of what a call has printed.
type openOutput struct {
	text   []byte
	start  int64 // of text in all that was printed
	pieces []piece
}

// piece is a part of an output as one event told it.
type piece struct {
	end   int64          // of it in all that was printed
	event event.Envelope // whose payload has no text
}

// note takes an event into account. It costs the same however long the session is.
func (o *openParts) note(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TextDelta:
		a := o.answer(env)
		a.text = append(a.text, p.Text...)
	case event.ReasoningDelta:
		a := o.answer(env)
		a.reasoning = append(a.reasoning, p.Text...)
	case event.Checkpoint:
		a := o.answer(env)
		a.textAt, a.text = p.TextAt+len(p.Text), a.text[:0]
		a.reasoningAt, a.reasoning = p.ReasoningAt+len(p.Reasoning), a.reasoning[:0]
	case event.ModelMessage, event.ModelRetry, event.ModelFallback, event.TurnStarted, event.TurnFinished:
		delete(o.answers, env.Task)
	case event.TaskFinished:
		delete(o.answers, env.Task)
		delete(o.progress, p.ID)
	case event.TaskProgress:
		o.progress[p.ID] = env
	case event.ToolOutput:
		o.output(p.CallID).add(env, p)
	case event.ToolResult:
		delete(o.outputs, p.CallID)
	case event.Error:
		if p.Code == Broken {
			o.broken = []event.Envelope{env}
		}
	case event.PaneScreen:
		o.screens[p.Pane] = env
	case event.PaneClosed:
		delete(o.screens, p.Pane)
	case event.CommandsListed:
		o.commands = env
	}
}

func (o *openParts) answer(env event.Envelope) *openAnswer {
	a := o.answers[env.Task]
	if a == nil {
		a = &openAnswer{}
		o.answers[env.Task] = a
	}
	if len(a.text)+len(a.reasoning) == 0 {
		a.first = env
	}
	a.latest = env
	return a
}

func (o *openParts) output(call string) *openOutput {
	out := o.outputs[call]
	if out == nil {
		out = &openOutput{}
		o.outputs[call] = out
	}
	return out
}

func (o *openOutput) add(env event.Envelope, p event.ToolOutput) {
	o.text = append(o.text, p.Text...)
	p.Text = ""
	env.Payload = p
	o.pieces = append(o.pieces, piece{o.start + int64(len(o.text)), env})
	if len(o.text) > 2*keptOutput || len(o.pieces) > 2*keptPieces {
		o.trim()
	}
}

// trim forgets the beginning. It is called once for every half of what is kept, so that a piece
// costs the same however much was printed.
func (o *openOutput) trim() {
	keep := o.start + int64(len(o.text)-min(len(o.text), keptOutput))
	n := max(len(o.pieces)-keptPieces, 0)
	for n < len(o.pieces)-1 && o.pieces[n].end <= keep {
		n++
	}
	if n > 0 {
		keep = max(keep, o.pieces[n-1].end)
	}
	o.pieces = append(o.pieces[:0], o.pieces[n:]...)
	o.text = append(o.text[:0], o.text[keep-o.start:]...)
	o.start = keep
}

// since returns the output of the events with numbers above after. Consecutive pieces of one
// stream become one event.
func (o *openOutput) since(after uint64) (all []event.Envelope) {
	from := o.start
	for i, p := range o.pieces {
		out := p.event.Payload.(event.ToolOutput)
		if p.event.Seq <= after {
			from = p.end
			continue
		}
		if i+1 < len(o.pieces) && o.pieces[i+1].event.Payload.(event.ToolOutput).Stream == out.Stream {
			continue // the next one says it, too
		}
		out.Text = string(o.text[from-o.start : p.end-o.start])
		from = p.end
		env := p.event
		env.Payload = out
		all = append(all, env)
	}
	return all
}

// since returns the open parts as events, by number, for a reader that has seen all up to after.
func (o *openParts) since(after uint64) []event.Envelope {
	all := slices.Concat(o.broken, slices.Collect(maps.Values(o.progress)), slices.Collect(maps.Values(o.screens)))
	if o.commands.Payload != nil {
		all = append(all, o.commands)
	}
	for _, a := range o.answers {
		if len(a.text)+len(a.reasoning) == 0 {
			continue
		}
		env := a.first // where it begins, for a subscriber that has nothing of it
		if env.Seq <= after {
			env = a.latest
		}
		env.Payload = event.OpenText{Text: string(a.text), TextAt: a.textAt, Reasoning: string(a.reasoning), ReasoningAt: a.reasoningAt}
		all = append(all, env)
	}
	for _, out := range o.outputs {
		all = append(all, out.since(after)...)
	}
	all = slices.DeleteFunc(all, func(env event.Envelope) bool { return env.Seq <= after })
	slices.SortFunc(all, func(a, b event.Envelope) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}
