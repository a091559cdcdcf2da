package agent

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/texts"
)

// promptLoop starts main tasks for one prompt, again and again, until a limit, a person or the end of the session ends
// it. It is a task that works on no conversation. tasks.mu guards it.
type promptLoop struct {
	event.StartLoop
	tasks *tasks
	id    int
	began time.Time
	limit deadline // of the whole loop
	next  deadline // of the next run
	due   bool     // the next run starts as soon as the session is idle
	run   int      // the task of the current run, 0 for none
	runs  int
	used  event.GoalUse
}

// startLoop starts a loop. Its first run starts at once, or when the session is idle.
func startLoop(r *Runtime, c event.StartLoop) {
	r.approvals.Prompted()
	s := r.tasks
	s.mu.Lock()
	defer s.mu.Unlock()
	err := cmp.Or(c.Check(), s.refusal(model.Message{Content: c.Prompt.Text, Images: c.Prompt.Images}))
	if l := s.repeats; err == nil && l != nil {
		err = fmt.Errorf("loop #%d is running (/loop stop ends it)", l.id)
	}
	if err != nil {
		s.stream.Reject("no loop was started: %v", err)
		return
	}
	l := &promptLoop{StartLoop: c, tasks: s, id: s.numbers.nextTask(), began: s.clock.now(), due: true}
	s.repeats = l
	started := event.TaskStarted{ID: l.id, Kind: event.LoopTask, Title: cut(c.Prompt.Text)}
	text := fmt.Sprintf("loop #%d started, every %s", l.id, l.Interval())
	if c.Runs > 0 {
		text += ", " + texts.Plural(c.Runs, "run")
	}
	if limits := c.Limit.String(); limits != "" {
		text += ", at most " + limits
	}
	if c.Limit.TimeMS > 0 {
		at := l.began.Add(time.Duration(c.Limit.TimeMS) * time.Millisecond)
		l.limit.set(l.began, at, l.expire)
		started.Deadline = at.UnixMilli()
	}
	s.stream.Publish(l.id, 0, started)
	s.stream.Publish(l.id, 0, event.Notice{Text: text + " · /loop stop ends it", Code: "loop"})
	l.publish()
	continueLoop(s)
}

// continueLoop ends the loop if it has reached a limit, or starts a run that is due, unless the session is busy. The
// caller holds s.mu.
func continueLoop(s *tasks) {
	l := s.repeats
	if l == nil || s.main.task != nil || s.changes.Running() || s.life.ended() {
		return
	}
	switch why := l.reached(); {
	case why != "":
		l.end(event.Completed, why)
	case l.due:
		l.begin()
	default:
		l.publish() // after all events of the run, so that a screen that joins later gets it
	}
}

// begin starts a run, or ends the loop if its prompt can't be sent. The caller holds the lock, and the session is idle.
func (l *promptLoop) begin() {
	s := l.tasks
	err := s.refusal(model.Message{Content: l.Prompt.Text, Images: l.Prompt.Images})
	if l.runs > 0 && s.main.conv.Injected() != "" { // a new prompt would restore the trust, although no person has looked
		err = errors.New("a text in the conversation tried to instruct the model; look at it before you start another loop")
	}
	if err != nil {
		l.end(event.Failed, err.Error())
		return
	}
	p, do := s.newPrompt(l.Prompt.Text, l.Prompt.Images), s.workOn(s.main)
	if l.Prompt.Shell {
		p.Kind, do = event.Typed, typedWork(s, l.Prompt.Text)
	}
	s.start(s.main, event.MainTask, []event.PromptSubmitted{p}, do)
	l.due, l.run, l.runs = false, s.main.task.id, l.runs+1
	now := s.clock.now()
	l.next.set(now, now.Add(l.Every), l.tick)
	l.publish()
}

// tick starts the next run, or lets it wait until the session is idle.
func (l *promptLoop) tick() {
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	if l.tasks.repeats != l {
		return
	}
	l.due = true
	if continueLoop(l.tasks); l.tasks.repeats == l && l.due {
		l.publish()
	}
}

// expire ends the loop at its time limit. A run that has started continues, and the loop ends after it.
func (l *promptLoop) expire() {
	l.tasks.mu.Lock()
	defer l.tasks.mu.Unlock()
	if why := l.reached(); l.tasks.repeats == l && l.run == 0 && why != "" {
		l.end(event.Completed, why)
	}
}

// expireAt sets the time limit of the loop. The caller holds the lock.
func (l *promptLoop) expireAt(at time.Time) {
	l.Limit.TimeMS = at.Sub(l.began).Milliseconds()
	l.limit.set(l.tasks.clock.now(), at, l.expire)
}

// endRun adds the use of a main task to the loop, if the task was its run. The caller holds s.mu.
func endRun(s *tasks, r Result) {
	l := s.repeats
	if l == nil || l.run != r.Task {
		return
	}
	l.run = 0
	l.used.Turns += r.Turns
	l.used.Cost += r.Cost
}

// reached names the limit that the loop has reached, or returns "". The caller holds the lock.
func (l *promptLoop) reached() string {
	if l.Runs > 0 && l.runs >= l.Runs {
		return fmt.Sprintf("it reached its limit of runs (%d)", l.Runs)
	}
	used := l.used
	used.TimeMS = l.tasks.clock.now().Sub(l.began).Milliseconds()
	return used.Reached(l.Limit)
}

// anyLoop stands for the number of the running loop.
const anyLoop = -1

// stopLoop ends the loop with a task number, and reports whether it was running. Its current run continues.
func stopLoop(s *tasks, id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.repeats
	if l == nil || id != anyLoop && id != l.id {
		return false
	}
	l.end(event.Cancelled, "you stopped it")
	return true
}

// end ends the loop. The caller holds the lock.
func (l *promptLoop) end(o event.Outcome, why string) {
	l.halt()
	l.tasks.repeats = nil
	finished := event.TaskFinished{ID: l.id, Outcome: o}
	if o == event.Failed {
		finished.Error = why
	}
	l.tasks.stream.Publish(l.id, 0, event.Notice{Text: fmt.Sprintf("loop #%d ended after %s: %s", l.id, texts.Plural(l.runs, "run"), why), Code: "loop"})
	l.tasks.stream.Publish(l.id, 0, finished)
}

// halt stops the timers. The caller holds the lock.
func (l *promptLoop) halt() {
	l.limit.clear()
	l.next.clear()
}

// publish publishes the progress. The caller holds the lock.
func (l *promptLoop) publish() {
	l.tasks.stream.Publish(l.id, 0, event.TaskProgress{ID: l.id, Text: l.progress()})
}

// progress describes the current run, or the number of runs and the time of the next one. The caller holds the lock.
func (l *promptLoop) progress() string {
	switch {
	case l.run != 0:
		return fmt.Sprintf("run %d", l.runs)
	case l.due:
		return texts.Plural(l.runs, "run") + ", next when idle"
	}
	clock := "15:04"
	if l.Every < 2*time.Minute {
		clock = "15:04:05"
	}
	return texts.Plural(l.runs, "run") + ", next " + texts.Until(l.tasks.clock.now(), l.next.at.Local(), clock)
}

// row describes the loop as a running task. The caller holds the lock.
func (l *promptLoop) row() RunningTask {
	return RunningTask{ID: l.id, Kind: event.LoopTask, Title: cut(l.Prompt.Text), State: "every " + l.Interval() + ", " + l.progress(), Began: l.began, Until: l.limit.at}
}

// settleLoops ends the loop of an earlier process, which is not resumed, because no person has asked for more runs. The
// caller holds s.mu.
func settleLoops(s *tasks, recovery *record.Record) {
	for id, t := range recovery.Tasks {
		if t.Kind == event.LoopTask {
			s.stream.Publish(id, 0, event.Notice{Text: fmt.Sprintf("loop #%d ended with the program that ran it: %s · /loop starts another", id, t.Title), Code: "loop"})
			s.stream.Publish(id, 0, event.TaskFinished{ID: id, Outcome: event.Cancelled})
		}
	}
}
