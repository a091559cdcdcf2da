package repl

import (
	"io"
	"strings"

	"buddy/agent/event"
	"buddy/app/account"
	"buddy/app/input"
	"buddy/app/slash"
	"buddy/views/draw"
	"buddy/views/markup"
)

// asking holds what a repl reads, and what it has still to read or to send.
type asking struct {
	reading bool     // a line is being read
	wants   wants    // what it is meant for
	shown   wants    // the question that was put last
	told    wants    // the question that was said to come after what is typed
	queue   []string // lines to send when the work is done
	edited  edited   // in place of what is asked about
	reason  string   // why a call is denied, while it is asked where that is remembered
}

// typedLine holds what was read.
type typedLine struct {
	text string
	err  error
}

// wants says what a line that is read is meant for.
type wants struct {
	kind wanted
	id   string // of the approval, or what the key is for
}

type wanted uint8

const (
	aPrompt wanted = iota
	anApproval
	aReason
	aScope // in which a reason is remembered
	anAnswer
	aKey
)

// ask reads a line when it is the person's turn.
func (r *repl) ask() {
	if r.reading {
		reread(r)
		return
	}
	if r.wait.held || r.over {
		return
	}
	w, prompt := r.turn()
	if prompt == "" || w.kind == aPrompt && r.sendQueued() {
		return
	}
	if w.kind == aKey { // what was typed before may be a key: it is no prompt
		r.con.flush()
	}
	r.wants, r.reading = w, true
	if r.eof {
		r.typed <- typedLine{err: io.EOF}
		return
	}
	read := r.con.read
	if w.kind == aKey {
		read = r.con.readUnseen
	}
	r.con.attend(w.kind == aPrompt && r.state.Running() != nil)
	go func() {
		text, err := read(prompt)
		r.typed <- typedLine{text, err}
	}()
}

// reread adapts a prompt that is being read to the end of the work.
func reread(r *repl) {
	if r.wants.kind != aPrompt || r.state.Running() != nil {
		return
	}
	if len(r.queue) == 0 || !r.con.yield() { // else the queue is sent next
		r.con.reveal(prompt(r.program.Targets.Current()))
	}
}

// turn says what to ask the person for now, "" for nothing.
func (r *repl) turn() (wants, string) {
	working := prompt(r.program.Targets.Current())
	switch r.wants.kind {
	case aReason:
		return r.wants, "Why? (Enter for no reason) "
	case aKey:
		return r.wants, "key for " + r.wants.id + " (not shown): "
	case aScope:
		return r.wants, "Number: "
	case aPrompt, anApproval, anAnswer:
	}
	if len(r.state.Approvals)+len(r.state.Questions) > 0 {
		switch w := r.question(); {
		case w.id == "":
			return wants{}, ""
		case !r.put(w):
			return wants{}, working
		case w.kind == anApproval:
			return w, asks(r, r.state.Approvals[0])
		default:
			return w, "Answer: "
		}
	}
	if r.state.Running() != nil && !r.con.tty {
		return wants{}, ""
	}
	return wants{}, working
}

// sendQueued sends the first line of the queue when nothing runs any more.
func (r *repl) sendQueued() bool {
	if len(r.queue) == 0 || r.state.Running() != nil {
		return false
	}
	line := r.queue[0]
	r.queue = r.queue[1:]
	if !slash.Private(line) {
		r.say("> " + strings.ReplaceAll(line, "\n", "\n"+continuation))
	}
	r.send(line)
	return true
}

// prompt says on which target commands run, if that is not this machine.
func prompt(name string) string {
	if name != slash.ThisMachine {
		return markup.Plain(draw.BeforePrompt(name)) + "> "
	}
	return "> "
}

// typedIn takes a line.
func (r *repl) typedIn(l typedLine) {
	was := r.wants
	r.wants = wants{}
	if l.err != nil && r.noLine(l, was) {
		return
	}
	r.confirming = false
	switch was.kind {
	case anApproval:
		r.approval(was.id, l.text, l.err != nil)
	case aReason:
		because(r, was.id, strings.TrimSpace(l.text))
	case aScope:
		remember(r, was.id, l.text)
	case anAnswer:
		if l.err != nil && !r.con.tty {
			r.command(event.Answer{ID: was.id, Nobody: true})
			break
		}
		r.answer(was.id, l.text)
	case aKey:
		if _, err := account.OneKey(l.text); err != nil {
			r.failed("/login", err)
			break
		}
		runWith(r, l.text, []string{"login", was.id})
	default:
		r.submit(l.text)
	}
}

// submit takes a prompt or a command.
func (r *repl) submit(text string) {
	if strings.TrimSpace(text) == "" {
		switch {
		case r.state.Retries.Retry != nil:
			r.program.Live.Send(event.RetryNow{})
		case r.state.Info.Interrupted && r.state.Running() == nil:
			r.command(event.Continue{})
		}
		return
	}
	if (r.state.Running() != nil || len(r.queue) > 0) && !atOnce(text) {
		r.queue = append(r.queue, text)
		r.say("queued (commands that run immediately: " + strings.Join(immediate, " ") + ")")
		return
	}
	r.send(text)
}

// send sends a prompt or runs a command.
func (r *repl) send(text string) {
	if !slash.Private(text) {
		r.lines.Add(text)
		r.con.earlier = append(r.con.earlier, text)
	}
	if r.slash(text) {
		return
	}
	if slash.ShellLine(text) {
		r.command(event.Submit{Text: text, Shell: true})
		return
	}
	images, err := input.Attached(text)
	if err != nil {
		r.say(err.Error())
		return
	}
	r.command(event.Submit{Text: text, Images: images})
}
