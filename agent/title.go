package agent

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"buddy/agent/event"
	"buddy/agent/model"
)

const (
	titleWidth   = 60 // columns
	titleTime    = 30 * time.Second
	titleQuoted  = 2_000 // bytes of the prompt, and of the answer, that the title is made from
	titleAnswer  = 1_000 // bytes that are read of what the model says
	minTitleRune = 3     // less is no title
)

// titlePrompt is what the small model is asked.
//
//go:embed title.md
var titlePrompt string

var errNoTitle = errors.New("the model gave no title")

// rename gives the session the title that a person wants.
func (r *Runtime) rename(title string) {
	if err := r.stream.ReadOnly(); err != nil {
		r.reject("the session was not renamed, because it can't be recorded: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.titles++
	r.emit(0, 0, event.SessionRenamed{Title: oneTitle(title)})
}

// entitle lets the small model give the session a title beside what else happens, unless it
// has one. That it can't is no news: there is the first prompt. The caller holds r.mu.
func (r *Runtime) entitle(t *task) {
	if r.opts.Small == nil || r.titles > 0 || t.talk.branch != 0 || r.stream.ReadOnly() != nil {
		return
	}
	r.titles++
	mine := r.titles
	prompt := r.opts.Redact.Text(titleRequest(t.talk.hist.Messages(), t.response))
	r.done.Add(1)
	go func() {
		defer r.done.Done()
		title, err := r.askTitle(prompt)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil && r.titles == mine && r.ctx.Err() == nil { // else a person was faster
			r.emit(0, 0, event.SessionRenamed{Title: title})
		}
	}()
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
	return strings.TrimSpace(titlePrompt) + "\n\n<conversation>\n[user]\n" + inert(clipped(undated(said), titleQuoted)) +
		"\n[assistant]\n" + inert(clipped(answer, titleQuoted)) + "\n</conversation>"
}

// askTitle sends one request, and counts it.
func (r *Runtime) askTitle(prompt string) (title string, err error) {
	defer func() {
		if recover() != nil { // of an adapter
			err = errNoTitle
		}
	}()
	ctx, cancel := context.WithTimeout(r.ctx, titleTime)
	defer cancel()
	small := r.opts.Small
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: prompt}}, Tokens: len(prompt) / bytesToken}
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
		used.Completion = said.Len() / bytesToken
	}
	r.ledger.Beside(used, answers.Price)
	title = oneTitle(r.opts.Redact.Text(bare(said.String())))
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
	s = strings.Join(strings.Fields(s), " ")
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
