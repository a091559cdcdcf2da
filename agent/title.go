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
	titleQuoted  = 2_000 // bytes of the prompt and of the answer in the request
	titleAnswer  = 1_000 // bytes read of the model's answer
	minTitleRune = 3     // characters; shorter answers are no title
)

// titlePrompt asks the small model for a title.
//
//go:embed title.md
var titlePrompt string

var errNoTitle = errors.New("the model gave no title")

// titles manages the title of the session.
type titles struct {
	life   *life
	small  model.Model // nil: only people set titles
	redact *redact.Redactor
	stream *stream.Stream
	ledger *usage.Ledger

	mu    sync.Mutex // guards given
	given int        // titles set or requested so far
}

func (t *titles) replay(e event.Event) {
	if _, ok := e.(event.SessionRenamed); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.given++
	}
}

// rename sets a title that a person chose.
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

// generate asks the small model for a title in the background, unless the session has one. Failures are ignored,
// because the first prompt serves as a title.
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
		if err == nil && t.given == mine && !t.life.ended() { // otherwise a person was faster
			t.stream.Publish(0, 0, event.SessionRenamed{Title: title})
		}
	})
}

// titleRequest returns the prompt that asks for a title. It quotes the conversation's first prompt and the answer.
func titleRequest(msgs []model.Message, answer string) string {
	prompt := ""
	for _, m := range msgs {
		if m.Role == model.User && m.Kind == model.Prompt {
			prompt = m.Content
			break
		}
	}
	return strings.TrimSpace(titlePrompt) + "\n\n<conversation>\n[user]\n" + compact.Inert(compact.Clip(conversation.Undated(prompt), titleQuoted)) +
		"\n[assistant]\n" + compact.Inert(compact.Clip(answer, titleQuoted)) + "\n</conversation>"
}

// ask sends one request and counts its usage.
func (t *titles) ask(prompt string) (title string, err error) {
	defer func() {
		if recover() != nil { // an adapter panicked
			err = errNoTitle
		}
	}()
	ctx, cancel := context.WithTimeout(t.life.ctx, titleTime)
	defer cancel()
	small := t.small
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: prompt}}, Tokens: len(prompt) / compact.BytesPerToken}
	answers, used := small.Info(), model.Usage{Prompt: req.Tokens}
	var text strings.Builder
	for d, err := range small.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		switch d.Kind {
		case model.Text:
			text.WriteString(d.Text)
		case model.Retry:
			text.Reset()
		case model.Fallback:
			text.Reset()
			answers = d.Fallback.To
		case model.Done:
			if d.Message != nil {
				text.Reset()
				text.WriteString(d.Message.Content)
			}
			if d.Usage != nil {
				used = *d.Usage
			}
		}
		if text.Len() > titleAnswer {
			break
		}
	}
	if used.Completion == 0 {
		used.Completion = text.Len() / compact.BytesPerToken
	}
	t.ledger.Request(usage.Asker{For: event.OfTitle}, answers, &used)
	title = oneTitle(t.redact.Text(bare(text.String())))
	if len([]rune(title)) < minTitleRune {
		return "", errNoTitle
	}
	return title, nil
}

// bare returns the title in an answer, without decoration around it.
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

// oneTitle returns one line of printable characters, at most titleWidth columns wide.
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

// cut shortens s to the title of a task, on one line and without splitting a character.
func cut(s string) string {
	return tools.Head(texts.OneLine(s), titleMax)
}
