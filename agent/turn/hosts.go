package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/approval"
	"buddy/agent/event"
	"buddy/tools"
)

const (
	hostDialogs   = 3                      // per exchange; later hosts are refused
	hostsAtOnce   = 8                      // in one dialog
	hostWait      = 5 * time.Minute        // for an answer
	hostsTogether = 300 * time.Millisecond // to collect hosts for one dialog
)

// hostAsks asks the person about the hosts that one sandboxed command wants to reach. Requests that wait share a
// dialog.
type hostAsks struct {
	b   *batch
	j   *job
	ctx context.Context // ends with the call
	off context.CancelFunc

	mu      sync.Mutex // guards the fields below
	waiting []hostAsk
	asking  bool
	notes   []string // notes for the model about refused hosts
}

// hostAsk is an unanswered request for a host and port.
type hostAsk struct {
	host   string
	answer chan error // buffered: 1
}

func newHostAsks(b *batch, j *job) *hostAsks {
	h := &hostAsks{b: b, j: j}
	h.ctx, h.off = context.WithCancel(b.whole)
	return h
}

// end refuses waiting and later requests. h may be nil.
func (h *hostAsks) end() {
	if h != nil {
		h.off()
	}
}

// refused returns the notes for the model about refused hosts. h may be nil.
func (h *hostAsks) refused() []string {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notes
}

// action returns the action for an approval of hosts.
func (h *hostAsks) action(hosts ...string) action.Action {
	of := h.j.call.Planned
	a := action.Action{Kind: action.Connect, Tool: of.Tool, Target: of.Target, Command: of.Command, Cwd: of.Cwd, Why: of.Why}.To(hosts[0])
	a.Hosts = hosts
	return a
}

// ask decides whether the command may reach a host. It waits for the person until ctx or the call ends.
func (h *hostAsks) ask(ctx context.Context, host, port string) error {
	mode, _ := h.b.loop.p.Approvals.Mode()
	if !h.b.loop.p.Approvals.Interactive() || action.Stricter(mode, h.b.loop.agent.Most) != action.ModeAuto || h.ctx.Err() != nil {
		return tools.ErrNobody
	}
	one := hostAsk{host + ":" + port, make(chan error, 1)}
	if decided, err := h.judge(one.host); decided {
		return err
	}
	h.mu.Lock()
	h.waiting = append(h.waiting, one)
	if !h.asking {
		h.asking = true
		go h.run()
	}
	h.mu.Unlock()
	select {
	case err := <-one.answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.ctx.Done():
		return tools.ErrNobody
	}
}

// judge decides about a host by the policy, unless the policy wants to ask the person.
func (h *hostAsks) judge(host string) (decided bool, err error) {
	switch v := h.b.judge(h.action(host)); v.Decision {
	case action.Allow:
		return true, nil
	case action.Deny:
		return true, h.refuse([]string{host}, "denied by the policy: "+v.Reason)
	case action.Ask:
	}
	return false, nil
}

// refuse records a note for the model, and returns the error for the command.
func (h *hostAsks) refuse(hosts []string, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, h.b.loop.o.Redact.Text("the sandbox refused a connection to "+strings.Join(hosts, ", ")+": "+why))
	short, _, _ := strings.Cut(why, ": ") // the reason is for the model only
	return errors.New(short)
}

// run opens dialogs until no request waits.
func (h *hostAsks) run() {
	for {
		select {
		case <-time.After(hostsTogether):
		case <-h.ctx.Done():
			return // nobody waits
		}
		now := h.take()
		if len(now) == 0 {
			return
		}
		var open []hostAsk
		for _, one := range now {
			if decided, err := h.judge(one.host); decided {
				one.answer <- err
			} else {
				open = append(open, one)
			}
		}
		if len(open) == 0 {
			continue
		}
		err := h.dialog(open)
		for _, one := range open {
			one.answer <- err
		}
	}
}

// take removes the hosts for the next dialog from the queue. If the queue was empty, asking becomes false.
func (h *hostAsks) take() (now []hostAsk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(h.waiting), hostsAtOnce)
	now, h.waiting = h.waiting[:n:n], h.waiting[n:]
	h.asking = n > 0
	return now
}

// dialog asks the person about hosts, up to hostDialogs times in an exchange.
func (h *hostAsks) dialog(open []hostAsk) error {
	b := h.b
	var hosts []string
	for _, one := range open {
		hosts = append(hosts, one.host)
	}
	b.x.mu.Lock()
	b.x.dialogs++
	n := b.x.dialogs
	b.x.mu.Unlock()
	if n > hostDialogs {
		return h.refuse(hosts, fmt.Sprintf("the user was asked about hosts %d times since the prompt, which is the limit", hostDialogs))
	}
	ctx, stop := context.WithTimeout(h.ctx, hostWait)
	defer stop()
	act := h.action(hosts...)
	b.loop.notify(b.x, b.turn, "permission_prompt", "buddy needs approval for a connection")
	// The approval belongs to no call: denying it does not deny the command, and a restart does not ask again.
	answer := b.loop.p.Approvals.Request(ctx, approval.Request{
		Task: b.x.task, Turn: b.turn, Action: act, Verdict: b.judge(act), Agent: b.loop.agent.Label, Most: b.loop.agent.Most,
	})
	switch {
	case answer.Decision == event.Once, answer.Decision == event.Similar:
		return nil
	case h.ctx.Err() != nil:
		return tools.ErrNobody
	case answer.By == "cancel":
		return h.refuse(hosts, fmt.Sprintf("nobody answered within %v", hostWait))
	case answer.By == "policy":
		return h.refuse(hosts, "denied by the policy: "+answer.Reason)
	case answer.By != "user":
		return h.refuse(hosts, "nobody was there to ask")
	case answer.Reason != "":
		return h.refuse(hosts, "the user said no: "+answer.Reason)
	}
	return h.refuse(hosts, "the user said no")
}
