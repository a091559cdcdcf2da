package agent

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/agent/usage"
	"buddy/texts"
	"buddy/tools"
)

const (
	titleWidth   = 60 // columns
	titleTime    = 30 * time.Second
	titleQuoted  = 2_000 // bytes of the prompt, and of the answer, that the title is made from
	titleAnswer  = 1_000 // bytes that are read of what the model says
	minTitleRune = 3     // less is no title
)

// titlePrompt asks the small model for a title.
//
//go:embed title.md
var titlePrompt string

var errNoTitle = errors.New("the model gave no title")

// titles gives the session its title.
type titles struct {
	life   *life
	small  model.Model // nil: only people give titles
	redact *redact.Redactor
	stream *stream.Stream
	ledger *usage.Ledger

	mu    sync.Mutex // guards given
	given int        // titles that the session got or is about to get
}

// replay feeds a stored event of an earlier process.
func (t *titles) replay(e event.Event) {
	if _, ok := e.(event.SessionRenamed); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.given++
	}
}

// rename gives the session the title that a person wants.
func (t *titles) rename(title string) {
	if err := t.stream.StoreError(); err != nil {
		t.stream.Reject("the session was not renamed, because it can't be saved: %v", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given++
	t.stream.Publish(0, 0, event.SessionRenamed{Title: oneTitle(title)})
}

// generate asks the small model for a title in the background, unless the session has one.
// Failures are ignored: there is the first prompt.
func (t *titles) generate(msgs []model.Message, answer string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.small == nil || t.given > 0 || t.stream.StoreError() != nil {
		return
	}
	t.given++
	mine := t.given
	prompt := t.redact.Text(titleRequest(msgs, answer))
	t.life.work.Go(func() {
		title, err := t.ask(prompt)
		t.mu.Lock()
		defer t.mu.Unlock()
		if err == nil && t.given == mine && !t.life.ended() { // else a person was faster
			t.stream.Publish(0, 0, event.SessionRenamed{Title: title})
		}
	})
}

// titleRequest is made from the first prompt and the last answer.
func titleRequest(msgs []model.Message, answer string) string {
	said := ""
	for _, m := range msgs {
		if m.Role == model.User && m.Kind == model.Prompt {
			said = m.Content
			break
		}
	}
	return strings.TrimSpace(titlePrompt) + "\n\n<conversation>\n[user]\n" + compact.Inert(compact.Clip(conversation.Undated(said), titleQuoted)) +
		"\n[assistant]\n" + compact.Inert(compact.Clip(answer, titleQuoted)) + "\n</conversation>"
}

// ask sends one request, and counts it.
func (t *titles) ask(prompt string) (title string, err error) {
	defer func() {
		if recover() != nil { // of an adapter
			err = errNoTitle
		}
	}()
	ctx, cancel := context.WithTimeout(t.life.ctx, titleTime)
	defer cancel()
	small := t.small
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: prompt}}, Tokens: len(prompt) / compact.BytesPerToken}
	answers, used := small.Info(), model.Usage{Prompt: req.Tokens}
	var said strings.Builder
	for d, err := range small.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		switch d.Kind {
		case model.Text:
			said.WriteString(d.Text)
		case model.Retry:
			said.Reset()
		case model.Fallback:
			said.Reset()
			answers = d.Fallback.To
		case model.Done:
			if d.Message != nil {
				said.Reset()
				said.WriteString(d.Message.Content)
			}
			if d.Usage != nil {
				used = *d.Usage
			}
		}
		if said.Len() > titleAnswer {
			break
		}
	}
	if used.Completion == 0 {
		used.Completion = said.Len() / compact.BytesPerToken
	}
	t.ledger.Request(usage.Asker{For: event.OfTitle}, answers, &used)
	title = oneTitle(t.redact.Text(bare(said.String())))
	if len([]rune(title)) < minTitleRune {
		return "", errNoTitle
	}
	return title, nil
}

// bare returns the title in an answer, without what models put around it.
func bare(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Trim(line, " \t\r\"'`*#_“”„«».")
		if _, after, ok := strings.Cut(line, "Title:"); ok {
			line = strings.Trim(after, " \"'`*“”")
		}
		if line != "" && !strings.HasPrefix(line, "<") {
			return line
		}
	}
	return ""
}

// oneTitle makes one line of at most titleWidth columns, of what can be seen.
func oneTitle(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsPrint(c):
			return c
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
	s = texts.OneLine(s)
	if uniseg.StringWidth(s) <= titleWidth {
		return s
	}
	var b strings.Builder
	width := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if width += g.Width(); width > titleWidth-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return strings.TrimSpace(b.String()) + "…"
}

// titleMax limits the title of a task, in bytes.
const titleMax = 80

// cut makes a title of s: without splitting a character, newlines to spaces.
func cut(s string) string {
	return tools.Head(texts.OneLine(s), titleMax)
}
