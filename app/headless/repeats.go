package headless

import "buddy/agent/event"

// repeats follows the runs of a loop. The zero value follows none.
type repeats struct {
	loop   int  // the loop's task, 0 for none
	failed bool // a run has failed
}

// stage handles the start of a loop and the end of an exchange or a loop. It returns the outcome if nothing follows.
func (l *line) stage(e event.Event) event.Outcome {
	switch p := e.(type) {
	case event.TaskStarted:
		if p.Kind == event.LoopTask {
			l.repeats.loop = p.ID
		}
	case event.ExchangeFinished:
		if l.task != 0 { // otherwise it was an exchange before the prompt
			return l.endRun(l.finish(p.Outcome))
		}
	case event.TaskFinished:
		return l.endLoop(p)
	}
	return ""
}

// endRun handles the end of an exchange. With a loop it returns an outcome only if no other run may follow.
func (l *line) endRun(o event.Outcome) event.Outcome {
	if l.repeats.loop == 0 || o == event.Cancelled || l.limits.hit != "" || l.broken != nil {
		return o
	}
	l.repeats.failed = l.repeats.failed || o != event.Completed
	l.task, l.text, l.cut = 0, "", false
	return ""
}

// endLoop returns the outcome of all runs if the loop has ended, otherwise "".
func (l *line) endLoop(p event.TaskFinished) event.Outcome {
	if p.ID != l.repeats.loop {
		return ""
	}
	if p.Error != "" && l.flags.Quiet { // otherwise a notice has reported it
		l.Fail("stopped: %s", p.Error)
	}
	l.repeats.failed = l.repeats.failed || p.Outcome != event.Completed
	return l.repeats.outcome()
}

// outcome returns the outcome of the runs so far.
func (r repeats) outcome() event.Outcome {
	if r.failed {
		return event.Failed
	}
	return event.Completed
}
