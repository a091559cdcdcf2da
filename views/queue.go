package views

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
)

// Queue shows the queued prompts above the status line, one line each.
type Queue struct {
	draw.Frame
	prompts []event.PromptSubmitted // oldest first
	locked  bool                    // the key that unqueues a prompt has another meaning now
}

// NewQueue returns an empty queue.
func NewQueue(theme *themes.Theme, keys *keymap.Map) *Queue {
	return &Queue{Frame: draw.NewFrame(theme, keys)}
}

// leastQueued is the minimum width, in columns, of a queued prompt on the same row as a key hint.
const leastQueued = 20

// maxQueued limits the displayed prompts; the others are counted.
const maxQueued = 3

// Update processes changes of the state.
func (q *Queue) Update(s *state.State, ch state.Changed) {
	if ch&state.Queue != 0 {
		q.prompts = slices.Clone(s.Queued)
	}
}

// Rows returns the number of rows of the queue.
func (q *Queue) Rows() int {
	if n := len(q.prompts); n <= maxQueued {
		return n
	}
	return maxQueued + 1
}

// Draw draws the oldest prompts, which are sent first, and the number of others if rows are missing.
func (q *Queue) Draw(screen tcell.Screen) {
	in := q.Whole(screen).Cleared()
	n := len(q.prompts)
	shown := n
	if n > maxQueued || n > in.H {
		shown = min(maxQueued, in.H-1)
	}
	for i := range max(shown, 0) {
		q.drawPrompt(in.Down(i), q.prompts[i], i == n-1)
	}
	if more := n - shown; more > 0 && shown >= 0 && in.H > 0 {
		q.drawKey(in.Down(shown), in.Down(shown).Say(0, fmt.Sprintf("+%d more", more), themes.Muted))
	}
}

// drawPrompt draws a prompt and, next to the last prompt, the key that edits it.
func (q *Queue) drawPrompt(c draw.Canvas, p event.PromptSubmitted, last bool) {
	text := texts.OneLine(p.Text)
	if n := len(p.Images); n > 0 {
		text += " [" + texts.Plural(n, "image") + "]"
	}
	col := c.Spans(0, draw.Text(themes.Notice, "⏎ queued"), draw.Text(themes.Text, "  "))
	room := c.W - col
	named := last && room >= leastQueued+itemGap+q.keyWidth()
	if named {
		room -= itemGap + q.keyWidth()
	}
	col += c.At(col).Spans(0, draw.Clip(draw.Untrusted(themes.Text, text), room)...)
	if named {
		q.drawKey(c, col)
	}
}

// SetLocked sets whether a dialog receives the keys. While it does, no key unqueues a prompt.
func (q *Queue) SetLocked(locked bool) { q.locked = locked }

// key returns the key that unqueues the last prompt, or nil.
func (q *Queue) key() []draw.Span {
	keys := q.Keys.Keys(keymap.LineUp)
	if len(keys) == 0 || q.locked {
		return nil
	}
	what := " edits it"
	if len(q.prompts) > 1 {
		what = " edits the last one"
	}
	return draw.Clickable(keys[0], draw.Text(themes.Key, keys[0].String()), draw.Text(themes.Muted, what))
}

func (q *Queue) keyWidth() int { return draw.Width(q.key()) }

// drawKey draws the key on the right, if there is room after column col.
func (q *Queue) drawKey(c draw.Canvas, col int) {
	if at := c.W - q.keyWidth(); at >= col+itemGap {
		c.At(at).Spans(0, q.key()...)
	}
}
