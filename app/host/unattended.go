package host

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/live"
	"buddy/texts"
	"buddy/views/markup"
)

const (
	// takeTime keeps a session without a prompt after its last screen has gone: a prompt that the screen sent just before it
	// went may still have to be taken, which the session would end otherwise.
	takeTime   = 2 * time.Second
	notifyTime = 10 * time.Second // for the person's command
	notifySize = 500              // bytes of the text that it gets
)

// unattended holds what a session needs while nobody is attached to it.
type unattended struct {
	idle   *time.Timer   // ends the session; nil: it does not run
	visits int           // how many screens have come so far
	minute time.Duration // of the settings
	notify time.Duration // for the person's command
}

// left does what is to be done when the last screen has gone, or something ended without one: a
// session in which nothing runs ends after a while, soon if there is nothing of it to go on
// with.
func (h *Host) left() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alone.idle != nil {
		h.alone.idle.Stop()
		h.alone.idle = nil
	}
	if len(h.screens) > 0 || h.ended() || h.busy() {
		return
	}
	wait := takeTime
	if h.program != nil && h.program.Stored() {
		wait = time.Duration(h.program.Config.Sessions.IdleExit) * h.alone.minute
	}
	h.alone.idle = time.AfterFunc(wait, h.endIfLeft)
}

// endIfLeft ends a session that nobody is attached to and in which nothing runs.
func (h *Host) endIfLeft() {
	switch {
	case h.attended():
	case h.program == nil, !h.busy():
		h.End(live.Close{})
	}
}

// attended reports whether a person is attached.
func (h *Host) attended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.screens) > 0
}

// unattended does what an event needs that nobody sees: it tells the person in their way, and an
// approval waits for as long as they want.
func (h *Host) unattended(env event.Envelope) {
	if h.program == nil || h.attended() {
		return
	}
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		h.call("approval", cmp.Or(p.Action.Command, p.Action.Path, p.Action.Op, string(p.Action.Kind)))
		h.limit(p.ID)
	case event.QuestionAsked:
		h.call("question", p.Text)
	case event.TaskFinished:
		main := 0
		h.look(func(r *record.Record) { main = r.Main.ID })
		if p.ID == main {
			h.call("finished", string(p.Outcome))
		}
	}
}

// call runs the person's command for notifications. What is foreign reaches it in its environment
// only.
func (h *Host) call(kind, text string) {
	command := h.program.Config.UI.NotifyCommand
	if command == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.alone.notify)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // the person's own settings name it
	cmd.Env = append(os.Environ(), "BUDDY_SESSION="+h.program.ID, "BUDDY_EVENT="+kind, "BUDDY_TEXT="+texts.ClipBytes(markup.Plain(text), notifySize))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it has started
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		slog.Warn("notify_command", "error", err) // nobody is there to be told
	}
}

// visits counts the screens that have come.
func (h *Host) visits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.alone.visits
}

// limit denies an approval after it has waited for as long as the person lets it, unless a screen comes.
func (h *Host) limit(id string) {
	minutes := h.program.Config.Sessions.ApprovalWait
	if minutes == 0 {
		return
	}
	wait := time.Duration(minutes) * h.alone.minute
	visits := h.visits()
	time.AfterFunc(wait, func() { h.denyIfLeft(id, visits, wait) })
}

// denyIfLeft denies an approval if nobody is attached, and has been since so many screens had come.
func (h *Host) denyIfLeft(id string, visits int, wait time.Duration) {
	if h.visits() == visits && !h.attended() && !h.ended() && h.waits(id) {
		h.program.Live.Send(event.AnswerApproval{ID: id, Decision: event.Deny, Reason: "nobody answered for " + wait.String(), Nobody: true})
	}
}
