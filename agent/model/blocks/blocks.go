// Package blocks lets models that can't call tools write their calls as Markdown code blocks. A fenced shell block is a
// command, a fenced block after a file name is the new text of that file, and everything else is the answer. This
// serves small models that fail to write calls in JSON, and servers that accept no tools.
//
//	m := blocks.New(adapter, "it has 1.5 billion parameters")
//	for d, err := range m.Stream(ctx, req) { … } // a Done with a call of run_shell or write_file
//
// For example, the call
//
//	{"name": "run_shell", "arguments": {"command": "ls docs"}}
//
// is written by the model as
//
//	```sh
//	ls docs
//	```
//
// Earlier calls of the conversation are shown to the model in the same form, and their results as text. Calls are
// recognized only in the text of the model's answer; the answer is cut off after its first call.
package blocks

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"buddy/agent/model"
	"buddy/texts"
)

// Shell and Write are the tools that the model calls with blocks. Read is called by buddy, for files named in prompts.
const (
	Shell = "run_shell"
	Write = "write_file"
	Read  = "read_file"
)

//go:embed system.md
var system string

// System is the system prompt for models that use blocks.
var System = strings.TrimSpace(system)

// Has reports whether a session keeps a tool if its model uses blocks.
func Has(tool string) bool { return tool == Shell || tool == Write || tool == Read }

// Model is a model.Model that exchanges blocks. Create it with New or Auto.
type Model struct {
	next   model.Model
	why    atomic.Pointer[string] // nil: the model gets tools, not blocks
	unused atomic.Int32           // answers with unusable calls in their text
}

// New returns a model that uses blocks for all requests to next. why is the reason, for display.
func New(next model.Model, why string) *Model {
	m := Auto(next)
	m.why.Store(&why)
	return m
}

// Auto returns a model that sends requests to next unchanged. It switches to blocks once next's server refuses a
// request because of its tools, or two answers had unusable calls in their text.
func Auto(next model.Model) *Model { return &Model{next: next} }

// Info describes the model. Info.Blocks may be set later.
func (m *Model) Info() model.Info {
	i := m.next.Info()
	if why := m.why.Load(); why != nil {
		i.Blocks = *why
	}
	return i
}

// Stream sends a request with all calls and results converted to text, and yields the first block of the answer as a
// call. A request without tools is sent unchanged.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	if len(req.Tools) == 0 {
		return m.next.Stream(ctx, req)
	}
	return func(yield func(model.Delta, error) bool) {
		stays := true
		switch {
		case m.why.Load() != nil:
		case slices.ContainsFunc(req.Needs, m.learnt):
			stays = m.switchToBlocks(req, learnt, yield)
		default:
			stays = m.native(ctx, req, yield)
		}
		if stays {
			m.blocks(ctx, req, yield)
		}
	}
}

// blocks sends a request with all calls and results converted to text, and again with an objection if the answer is not
// useful.
func (m *Model) blocks(ctx context.Context, req model.Request, yield func(model.Delta, error) bool) {
	if call := unread(req.Messages); call != nil {
		answered(yield, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{*call}})
		return
	}
	past := pastOf(req.Messages)
	if past.vain >= 2*maxVain {
		yield(model.Delta{}, fmt.Errorf("%s made %d calls in a row that printed nothing and changed nothing: say what is missing, or choose another model with /model", m.Info().Model, past.vain))
		return
	}
	a := &answer{past: past, yield: yield, quoted: func(text string) bool { return occurs(req.Messages, text) }}
	var more []model.Message
	for tries := 1; ; tries++ {
		a.start()
		a.read(m.next.Stream(ctx, rendered(req, more...)))
		objection := a.objection()
		if a.stopped || objection == "" || tries > maxObjections && (a.scanner.call == nil || objection == script) {
			break
		}
		if tries > maxObjections {
			yield(model.Delta{}, fmt.Errorf("%s made the same call %d times in a row; it ran only once: say what is missing, or choose another model with /model", m.Info().Model, tries+1))
			return
		}
		if tries > 1 { // a small model repeats an answer that it reads, so the first one is omitted
			more = append(more, model.Message{Role: model.Assistant, Content: answerText(a.message())})
		}
		more = append(more, model.Message{Role: model.User, Content: objection})
	}
	a.finish()
}

const (
	// maxObjections limits how often the model is asked for a better answer to one request.
	maxObjections = 2

	// maxVain limits how many commands in a row may print nothing and change nothing, because small models try endless
	// variations of a wrong command. After this many, the model is asked to read the file; after twice as many, the
	// request fails.
	maxVain = 3
)

// Texts that ask the model to do better.
const (
	repeated = "You did that already, and it was not done again. If the task is done, say so in one sentence, without a block. Else do something else."
	useless  = "You did that already, and it changes nothing. It was not done again. Read the text again, and do something else."
	guessed  = "You have not looked yet. Run a command that shows it, then answer."
	onlyName = "You have seen names only, not what the files hold. Look with `grep -rn` or `cat` first, then answer."
	idled    = "No file was changed yet. If the task asks for a change, make it now, with one block."
	rewrite  = "No file was changed, so that command did not work. Write the file's whole new text with `cat > FILE <<'EOF'`, in one block."
	script   = "To write a file use `cat > FILE <<'EOF'`."
	reckoned = "Find that out with a command, in one block that begins with ```sh."
	unfenced = "To run a command, put it in a block that begins with ```sh. Do that now, or answer in a sentence."
	vain     = "Your last commands printed nothing and changed nothing, so what they look for is not there. Look at the file with `cat` first."
	failing  = "The last command failed. If the task is not done, do something else, with one block. If it is, say so."
)

// answer is an answer that is still streaming.
type answer struct {
	past    past
	quoted  func(text string) bool
	yield   func(model.Delta, error) bool
	scanner scanner
	guesses bool         // the text may be a guess
	held    string       // text held back because it may be a guess
	stopped bool         // the reader has stopped, or got an error
	warned  bool         // the objection vain was made
	done    *model.Delta // the end of the answer; nil: it was cut off after a block
}

func (a *answer) start() {
	a.scanner, a.guesses, a.held, a.done = scanner{quoted: a.quoted}, a.past.blind || a.past.names || a.past.idle || a.past.fails || a.past.reckons, "", nil
}

// read passes on an answer up to and including its first call.
func (a *answer) read(stream iter.Seq2[model.Delta, error]) {
	for d, err := range stream {
		switch {
		case err != nil:
			a.pass(model.Delta{}, err)
		case d.Kind == model.Text:
			a.emitText(a.scanner.write(d.Text))
			if a.scanner.open != nil && a.scanner.open.call {
				a.pass(model.Delta{Kind: model.CallDelta, CallID: "block", Text: d.Text}, nil)
			}
		case d.Kind == model.Done:
			if d.Finish != model.FinishLength {
				a.emitText(a.scanner.end())
			}
			a.done = &d
		case d.Kind == model.Stalled, d.Kind == model.Retry, d.Kind == model.Fallback: // the text so far is void
			a.start()
			a.pass(d, nil)
		case d.Kind != model.CallDelta && d.Kind != model.CallReady: // no tools were offered
			a.pass(d, nil)
		}
		if a.stopped || a.scanner.call != nil {
			return
		}
	}
}

// emitText passes on text. If the answer may be a guess, short text is held back, so that an objection can replace it
// before the user sees it.
func (a *answer) emitText(text string) {
	if a.guesses {
		a.held += text
		if len(a.held) <= maxGuess {
			return
		}
		text, a.held, a.guesses = a.held, "", false
	}
	if text != "" {
		a.pass(model.Delta{Kind: model.Text, Text: text}, nil)
	}
}

func (a *answer) pass(d model.Delta, err error) {
	a.stopped = a.stopped || !a.yield(d, err) || err != nil
}

// objection returns a text that asks the model for a better answer, or "" if the answer is fine. It objects to an
// answer that repeats the last call, guesses the contents of a file, computes something without running a command, or
// ends a task without making the requested change.
func (a *answer) objection() string {
	switch {
	case a.scanner.call != nil:
		return a.callObjection()
	case a.done == nil || !a.guesses:
	case bare.MatchString(strings.TrimSpace(a.held)):
		return unfenced
	case a.past.idle && a.past.vain > 0:
		return rewrite
	case a.past.idle:
		return idled
	case a.past.fails:
		return failing
	case a.past.reckons:
		return reckoned
	case !a.guessesFile():
	case a.past.blind:
		return guessed
	case a.past.names:
		return onlyName
	}
	return ""
}

// callObjection is like objection, for an answer that makes a call.
func (a *answer) callObjection() string {
	switch {
	case a.scanner.call.file == "" && strings.HasPrefix(a.scanner.call.text, "#!"):
		return script
	case a.past.last != "" && callText(a.call()) == a.past.last && a.past.idle:
		return useless
	case a.past.last != "" && callText(a.call()) == a.past.last:
		return repeated
	case a.past.vain == maxVain && !a.warned:
		a.warned = true
		return vain
	}
	return ""
}

// guessesFile reports whether the answer names a file that no result since the prompt mentions.
func (a *answer) guessesFile() bool {
	return slices.ContainsFunc(strings.Fields(a.held), func(word string) bool {
		word = strings.Trim(word, "`*\"'(),;:.!?")
		return isFile(word) && !strings.Contains(a.past.seen, path.Base(word))
	})
}

// call returns the call that the found block stands for.
func (a *answer) call() model.ToolCall {
	b := a.scanner.call
	name, args := Shell, map[string]string{"command": b.text}
	if b.file != "" {
		name, args = Write, map[string]string{"path": b.file, "content": b.text}
	}
	data, _ := texts.JSON(args) // of strings
	return model.ToolCall{Name: name, Arguments: string(data)}
}

// message returns the answer as a message for the history.
func (a *answer) message() model.Message {
	m := model.Message{Role: model.Assistant, Content: strings.TrimSpace(a.scanner.prose.String())}
	if a.scanner.call != nil {
		m.ToolCalls = []model.ToolCall{a.call()}
		if at := strings.LastIndexByte(m.Content, '\n') + 1; fileAlone(m.Content[at:]) != "" && fileAlone(m.Content[at:]) == a.scanner.call.file {
			m.Content = strings.TrimSpace(m.Content[:at]) // the call has the name
		}
	}
	return m
}

// finish yields the end of the answer.
func (a *answer) finish() {
	if a.stopped {
		return
	}
	m := a.message()
	if a.guesses = false; a.held != "" {
		a.pass(model.Delta{Kind: model.Text, Text: a.held}, nil)
	}
	if len(m.ToolCalls) == 0 {
		if a.done == nil { // the stream was cut off, which the caller reports
			return
		}
		end := *a.done
		if full := a.done.Message; full != nil && a.done.Finish == model.FinishLength {
			m.Content = full.Content // with an incomplete block
		}
		end.Message = &m
		a.yield(end, nil)
		return
	}
	answered(a.yield, m)
}

// answered yields the end of an answer that makes a call.
func answered(yield func(model.Delta, error) bool, m model.Message) {
	if yield(model.Delta{Kind: model.CallReady, Call: &m.ToolCalls[0]}, nil) {
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: model.FinishToolCalls}, nil)
	}
}
