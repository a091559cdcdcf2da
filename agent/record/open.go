package record

import (
	"cmp"
	"maps"
	"slices"

	"buddy/agent/event"
)

// Open returns the durable events that a screen needs to show a session without reading its past, in order: the start
// of all open work, and the newest of events that replace each other.
func (r *Record) Open() []event.Envelope {
	all := slices.Concat(slices.Collect(maps.Values(r.latest)), slices.Collect(maps.Values(r.panes)), slices.Collect(maps.Values(r.Asked)), slices.Collect(maps.Values(r.Queued)))
	for _, t := range r.Tasks {
		if !t.Lost {
			t.began.Payload = t.TaskStarted
			all = append(all, t.began)
		}
	}
	for _, b := range r.Branches {
		if b.began.Payload != nil {
			all = append(all, b.began)
		}
		for _, c := range b.Calls {
			all = append(all, c.open()...)
		}
	}
	return sorted(all)
}

// open returns the events that describe an open call.
func (c *Call) open() (all []event.Envelope) {
	if c.Lost {
		return nil
	}
	if c.Request != nil {
		env := c.Requested
		env.Payload = *c.Request
		all = append(all, env)
	}
	if c.Started != nil {
		env := c.Ran
		env.Payload = *c.Started
		all = append(all, env)
	}
	return all
}

// Transient returns the state that no durable event has yet, by number, for a reader that has all events up to the
// given number: answers since their last checkpoint, the end of the output of running calls, the newest screen of each
// pane, the newest list of commands, and the error of the journal.
func (r *Record) Transient(after uint64) []event.Envelope {
	all := slices.Concat(r.broken, slices.Collect(maps.Values(r.progress)), slices.Collect(maps.Values(r.screens)))
	if env, ok := r.latest[event.Type(event.CommandsListed{})]; ok {
		all = append(all, env)
	}
	for _, b := range r.Branches {
		if env, ok := b.current.since(after); ok {
			all = append(all, env)
		}
		for _, c := range b.Calls {
			all = append(all, c.out.since(after)...)
		}
	}
	return sorted(slices.DeleteFunc(all, func(env event.Envelope) bool { return env.Seq <= after }))
}

func sorted(all []event.Envelope) []event.Envelope {
	slices.SortFunc(all, func(a, b event.Envelope) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}
