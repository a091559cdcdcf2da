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

// asking holds the state of reading lines.
type asking struct {
	reading   bool     // a line is being read
	wants     wants    // the purpose of the line
	shown     wants    // the question that was asked last
	announced wants    // the question that was announced while a line was typed
	queue     []string // lines to send after the work
	ahead     []string // at most one line of a pipe, which was read while a task ran; it is used after the task, or answers its question
	edited    edited   // the edited call or plan
	reason    string   // for denying a call, while the scope to remember it in is asked
}

// typedLine holds a line or the error of reading it.
type typedLine struct {
	text string
	err  error
}

// wants describes what the next line is for.
type wants struct {
	kind wanted
	id   string // of the approval, or the account of the API key
}

type wanted uint8

const (
	aPrompt wanted = iota
	anApproval
	aReason
	aScope // to remember a reason in
	anAnswer
	aKey
)

// ask starts reading a line when it is the user's turn.
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
	if w.kind == aKey { // earlier text may be a key: it must not become a prompt
		r.con.flush()
	}
	r.wants, r.reading = w, true
	if len(r.ahead) > 0 {
		r.typed <- typedLine{text: r.ahead[0]}
		r.ahead = nil
		return
	}
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

// reread updates the line that is being read after an event. When the work has ended, it shows the line's prompt. In a
// pipe, it makes the line the answer to a question that has been asked in the meantime.
func reread(r *repl) {
	if !r.con.tty && r.wants.kind == aPrompt {
		if w := r.question(); w.id != "" && r.put(w) {
			r.wants = w
		}
		if r.eof && r.state.Running() == nil { // interrupted: no line is wanted any more
			r.endOfInput()
		}
		return
	}
	if r.wants.kind != aPrompt || r.state.Running() != nil {
		return
	}
	if len(r.queue) == 0 || !r.con.yield() { // otherwise the queue is sent next
		r.con.reveal(prompt(r.program.Targets.Current()))
	}
}

// turn returns the purpose and the prompt of the next line. The prompt is "" if no line is to be read now.
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
	if r.state.Running() != nil && !r.con.tty && (len(r.ahead) > 0 || r.eof) {
		return wants{}, ""
	}
	return wants{}, working
}

// sendQueued sends the first line of the queue when nothing runs.
func (r *repl) sendQueued() bool {
	if len(r.queue) == 0 || r.state.Running() != nil {
		return false
	}
	line := r.queue[0]
	r.queue = r.queue[1:]
	if !slash.Private(line) {
		r.printLine("> " + strings.ReplaceAll(line, "\n", "\n"+continuation))
	}
	r.send(line)
	return true
}

// prompt returns the prompt for a target. It names the target unless that is this machine.
func prompt(name string) string {
	if name != slash.ThisMachine {
		return markup.Plain(draw.BeforePrompt(name)) + "> "
	}
	return "> "
}

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

// submit handles a line that is a prompt or a command: it sends the line, or queues it while the agent works.
func (r *repl) submit(text string) {
	if !r.con.tty && r.state.Running() != nil && !atOnce(text, pipeImmediate) {
		r.ahead = append(r.ahead, text)
		return
	}
	if strings.TrimSpace(text) == "" {
		switch {
		case r.state.Retries.Retry != nil:
			r.program.Live.Send(event.RetryNow{})
		case r.state.Info.Interrupted && r.state.Running() == nil:
			r.command(event.Continue{})
		}
		return
	}
	if (r.state.Running() != nil || len(r.queue) > 0) && !atOnce(text, immediate) {
		r.queue = append(r.queue, text)
		r.printLine("queued (commands that run immediately: " + strings.Join(immediate, " ") + ")")
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
		r.printLine(err.Error())
		return
	}
	r.command(event.Submit{Text: text, Images: images})
}
