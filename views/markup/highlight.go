package markup

import (
	"bytes"
	"slices"
	"strings"

	"buddy/themes"
)

// maxKnown limits the code whose colours a Highlighter caches, in bytes.
const maxKnown = 4 << 20

// Highlighter colours code in the background, all queued code in one step. It caches the results, so that an answer
// keeps its colours when it is laid out again. It belongs to the goroutine that owns the answers.
type Highlighter struct {
	// Background calls work on another goroutine, then calls the function that work returned on the Highlighter's
	// goroutine. A test may call both at once.
	Background func(work func() (apply func()))

	queue []job
	busy  bool
	known map[code][]tint
	size  int // bytes of code in known
}

// code is source code to highlight; each line of text ends with a newline.
type code struct{ lang, text string }

// job is queued code with the receiver of its tints.
type job struct {
	code
	lines bool // highlight each line separately, because the block is incomplete
	done  func([]tint)
}

// ask queues code; done is called with its tints, at once if they are cached.
func (h *Highlighter) ask(j job) {
	h.queue = append(h.queue, j)
	h.next()
}

// next starts work on the queue unless work is in progress.
func (h *Highlighter) next() {
	var work []job
	for !h.busy && len(h.queue) > 0 {
		j := h.queue[0]
		h.queue = slices.Delete(h.queue, 0, 1)
		if ts, ok := h.known[j.code]; ok && !j.lines {
			j.done(ts)
			continue
		}
		work = append(work, j)
	}
	if len(work) == 0 {
		return
	}
	h.busy = true
	h.Background(func() func() {
		done := make([][]tint, len(work))
		for i, j := range work {
			done[i] = j.tints()
		}
		return func() {
			h.busy = false
			for i, j := range work {
				if !j.lines {
					h.remember(j.code, done[i])
				}
				j.done(done[i])
			}
			h.next()
		}
	})
}

func (j job) tints() []tint {
	if j.lines {
		return lineTints(j.lang, j.text)
	}
	return tints(j.lang, j.text)
}

func (h *Highlighter) remember(c code, ts []tint) {
	if h.known == nil || h.size+len(c.text) > maxKnown {
		h.known, h.size = make(map[code][]tint), 0
	}
	h.known[c] = ts
	h.size += len(c.text)
}

// codeBlock is code in a Text.
type codeBlock struct {
	lang  string
	lines []extent
	given bool // the colours are set or requested
	text  bool // uncoloured parts have the style of text, not of code

	// While its fence is open:
	asked  int  // lines passed to the highlighter
	asking bool // the highlighter works on some lines
}

// extent is the byte range of a line of code, without the indentation on the screen.
type extent struct{ from, to int32 }

// plain reports whether there is nothing to highlight.
func (b *codeBlock) plain() bool { return b.lang == "" || isDiff(b.lang) }

// codeOf returns the code of lines.
func (t *Text) codeOf(lang string, lines []extent) code {
	var b strings.Builder
	for _, l := range lines {
		b.Write(t.codeLine(l))
		b.WriteByte('\n')
	}
	return code{lang, b.String()}
}

// codeLine returns a line of code with tabs instead of their visible signs, padded to the same length.
func (t *Text) codeLine(l extent) []byte {
	line := t.Bytes[l.from:l.to]
	if !bytes.Contains(line, []byte(tabShown)) && !bytes.HasPrefix(line, []byte(tabBlank)) {
		return line
	}
	line = slices.Clone(line)
	for i, from := t.RunAt(int(l.from)), l.from; from < l.to; i++ {
		end := min(t.Runs[i].End, l.to)
		if t.Runs[i].Style.Role == tabRole {
			copy(line[from-l.from:], "\t"+strings.Repeat(" ", int(end-from)-1))
		}
		from = end
	}
	return line
}

// tint colours the lines of a block. Control characters, tab signs and highlighted changes of diffs keep their roles.
func (t *Text) tint(b *codeBlock, lines []extent, ts []tint) {
	if len(lines) == 0 || len(ts) == 0 {
		return
	}
	first := t.RunAt(int(lines[0].from))
	old := slices.Clone(t.Runs[first:])
	t.Runs = t.Runs[:first]
	pos := int32(0)
	if first > 0 {
		pos = t.Runs[first-1].End
	}
	brush := brush{lines: lines, tints: ts}
	for _, run := range old {
		for pos < run.End {
			end, st := run.End, run.Style
			to, role, ok := brush.at(pos)
			end = min(end, to)
			if ok && !keepsRole(st) {
				if st.Role = role; b.text && role == themes.Code {
					st.Role = themes.Text
				}
			}
			t.run(end, st)
			pos = end
		}
	}
}

// keepsRole reports whether the role of code must not be replaced by a colour of its language.
func keepsRole(st Style) bool {
	r, _ := st.BG.Role()
	return st.Role == themes.Control || st.Role == tabRole || r == themes.DiffAddWord || r == themes.DiffDeleteWord
}

// brush finds the tint of increasing positions.
type brush struct {
	lines []extent
	tints []tint
	base  int32 // offset of lines[0] in the code
}

// at returns the role of the code at pos, if there is code, and the end of that role.
func (b *brush) at(pos int32) (to int32, role themes.Role, ok bool) {
	for len(b.lines) > 0 && b.lines[0].to <= pos {
		b.base += b.lines[0].to - b.lines[0].from + 1
		b.lines = b.lines[1:]
	}
	if len(b.lines) == 0 {
		return 1<<31 - 1, 0, false
	}
	line := b.lines[0]
	if pos < line.from {
		return line.from, 0, false
	}
	off := b.base + pos - line.from
	for len(b.tints) > 0 && b.tints[0].end <= off {
		b.tints = b.tints[1:]
	}
	if len(b.tints) == 0 {
		return line.to, themes.Code, true
	}
	return min(line.to, pos+b.tints[0].end-off), b.tints[0].role, true
}

// Show requests and applies colours for the code in the bytes from..to, which are about to be drawn. People read only
// parts of long answers, so other code is not highlighted.
func (m *Markdown) Show(from, to int) {
	h := m.Highlighter
	if h == nil {
		return
	}
	for i, b := range m.blocks {
		if b.plain() || b.given || len(b.lines) == 0 || int(b.lines[len(b.lines)-1].to) < from {
			continue
		}
		if int(b.lines[0].from) > to {
			break
		}
		b.given = true
		if i < m.stay {
			m.ask(b)
		} else {
			m.Text.tint(b, b.lines, h.known[m.Text.codeOf(b.lang, b.lines)])
		}
	}
	if b := m.fenced; b != nil && len(b.lines) > 0 && int(b.lines[len(b.lines)-1].to) >= from {
		m.askLines()
	}
}

func (m *Markdown) ask(b *codeBlock) {
	gen := m.gen
	m.Highlighter.ask(job{code: m.Text.codeOf(b.lang, b.lines), done: func(ts []tint) {
		if m.gen == gen { // otherwise b has moved
			m.Text.tint(b, b.lines, ts)
		}
	}})
}

// askLines requests colours for the new complete lines of the open fence.
func (m *Markdown) askLines() {
	b := m.fenced
	if b == nil || b.plain() || b.asking || b.asked == len(b.lines) || b.asked > maxTintedLines {
		return
	}
	lines := b.lines[b.asked:]
	b.asked, b.asking = len(b.lines), true
	m.Highlighter.ask(job{code: m.Text.codeOf(b.lang, lines), lines: true, done: func(ts []tint) {
		b.asking = false
		if m.fenced == b {
			m.Text.tint(b, lines, ts)
			m.askLines()
		}
	}})
}
