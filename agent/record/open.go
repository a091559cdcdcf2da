package record

import (
	"cmp"
	"maps"
	"slices"

	"buddy/agent/event"
)

// Open returns the durable events that a screen needs that reads only the end of a session, in the order of the stream:
// those that began what has not ended, and the newest of those that replace each other.
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

// open returns how the call came to where it is.
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

// Transient returns what is in no durable event yet, by number, for a reader who has all events up to a number: answers since
// their last checkpoint, the end of the output of running calls, the newest picture of each pane, the newest list of
// commands, and that nothing can be stored.
func (r *Record) Transient(after uint64) []event.Envelope {
	all := slices.Concat(r.broken, slices.Collect(maps.Values(r.progress)), slices.Collect(maps.Values(r.screens)))
	if env, ok := r.latest[event.Type(event.CommandsListed{})]; ok {
		all = append(all, env)
	}
	for _, b := range r.Branches {
		if env, ok := b.said.since(after); ok {
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
