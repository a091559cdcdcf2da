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
	"buddy/app/client"
	"buddy/texts"
	"buddy/views/markup"
)

const (
	// promptTime keeps a session without a prompt alive after its last screen has gone, because a prompt that was sent
	// just before may still arrive.
	promptTime = 2 * time.Second
	notifyTime = 10 * time.Second // for notify_command
	notifySize = 500              // bytes of the text for notify_command
)

// unattended holds the state of a session without an attached screen.
type unattended struct {
	idle   *time.Timer   // ends the session; nil if not running
	later  *client.Close // ends the session once it is idle, even with a screen; nil: nobody asked for that
	visits int           // number of screens so far
	minute time.Duration // the length of a minute in the settings
	notify time.Duration // for notify_command
}

// scheduleEnd lets the session end after a while if it has no screens and no running tasks, or soon if nothing is
// stored. It is called when a screen has gone or something has ended.
func (h *Host) scheduleEnd() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alone.idle != nil {
		h.alone.idle.Stop()
		h.alone.idle = nil
	}
	if h.ended() || h.busy() {
		return
	}
	if q := h.alone.later; q != nil {
		go h.End(*q)
		return
	}
	if len(h.screens) > 0 {
		return
	}
	wait := promptTime
	if h.program != nil && h.program.Stored() {
		wait = time.Duration(h.program.Config.Sessions.IdleExit) * h.alone.minute
	}
	h.alone.idle = time.AfterFunc(wait, h.endIfUnattended)
}

// endLater makes the session end with q as soon as nothing runs in it. It stops a running loop, which would start more
// work. It returns false if nothing runs now.
func (h *Host) endLater(q client.Close) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alone.later = &q
	loops, busy := false, false
	h.look(func(r *record.Record) {
		for _, t := range r.Tasks {
			loops = loops || t.Kind == event.LoopTask
		}
		busy = r.Busy()
	})
	if loops {
		h.program.Live.Send(event.StopLoop{})
	}
	return busy
}

// endIfUnattended ends a session without screens and running tasks.
func (h *Host) endIfUnattended() {
	switch {
	case h.attended():
	case h.program == nil, !h.busy():
		h.End(client.Close{})
	}
}

// attended reports whether a screen is attached.
func (h *Host) attended() bool { return h.present.Load() }

// unattended handles an event that happened while no screen was attached: it runs notify_command, and limits the wait
// for an approval.
func (h *Host) unattended(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		h.call("approval", cmp.Or(p.Action.Command, p.Action.Path, p.Action.Op, string(p.Action.Kind)))
		h.limit(p.ID)
	case event.QuestionAsked:
		h.call("question", p.Text)
	case event.TaskFinished:
		main := 0
		h.look(func(r *record.Record) { main = r.Main.ID })
		switch {
		case p.ID != main:
		case p.Outcome == event.Failed:
			h.call("failed", cmp.Or(p.Error, string(p.Outcome)))
		default:
			h.call("finished", string(p.Outcome))
		}
	}
}

// call runs notify_command. Untrusted text is passed only in environment variables, never in the command line.
func (h *Host) call(kind, text string) {
	command := h.program.Config.UI.NotifyCommand
	if command == "" {
		return
	}
	title, _ := h.named()
	ctx, cancel := context.WithTimeout(context.Background(), h.alone.notify)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // the person's own settings name it
	cmd.Env = append(os.Environ(), "BUDDY_SESSION="+h.program.ID, "BUDDY_EVENT="+kind, "BUDDY_TITLE="+texts.ClipBytes(markup.Plain(title), notifySize), "BUDDY_TEXT="+texts.ClipBytes(markup.Plain(text), notifySize))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its child processes
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		slog.Warn("notify_command", "error", err) // no screen could show it
	}
}

// visits returns the number of screens that have been attached so far.
func (h *Host) visits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.alone.visits
}

// limit denies an approval after the configured time, unless a screen is attached until then.
func (h *Host) limit(id string) {
	minutes := h.program.Config.Sessions.ApprovalWait
	if minutes == 0 {
		return
	}
	wait := time.Duration(minutes) * h.alone.minute
	visits := h.visits()
	time.AfterFunc(wait, func() { h.denyIfUnattended(id, visits, wait) })
}

// denyIfUnattended denies an approval if no screen is attached, and none has been since visits was counted.
func (h *Host) denyIfUnattended(id string, visits int, wait time.Duration) {
	if h.visits() == visits && !h.attended() && !h.ended() && h.isOpen(id) {
		h.program.Live.Send(event.AnswerApproval{ID: id, Decision: event.Deny, Reason: "nobody answered for " + wait.String(), Nobody: true})
	}
}
