package transcript

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"buddy/agent/event"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

const (
	maxShown    = 2 << 20 // bytes of one block that are shown; the session file has the whole text
	excerptRows = 10      // rows of a failed call's excerpt
	gutterWidth = 2
)

// part is a Text wrapped at the width of its view.
type part struct {
	text   *markup.Text
	layout markup.Layout
}

// folding is the fold state of a block.
type folding uint8

const (
	foldAuto folding = iota // failed calls and changes of files show an excerpt, other blocks one line
	folded
	unfolded
)

// blockView is a block of the state with its layout: a blank row if gap is 1, a head of one row if the block can be
// folded, and the rows of its parts.
type blockView struct {
	block  *state.Block
	cwd    string // paths below it are shown relative to it
	shared *shared
	gap    int // 0 or 1
	n      int // index in the viewport
	run    *looks
	loud   bool // a call that failed or did not run, so it stays visible when its run is folded
	fold   folding
	laid   *laidBlock // nil if not laid out yet, or evicted
	found  found
}

// laidBlock is the layout of a block at one width.
type laidBlock struct {
	width, gen int
	seen       int  // bytes of the block's text that are laid out
	open       bool // the block was incomplete when it was laid out
	fold       folding
	head       []draw.Span
	gain       string // outcome of a call
	much       bool   // gain is the amount of output
	parts      []part
	skip       int    // rows of the parts omitted by an excerpt
	lines      int    // newlines in the text of a folded trace
	row        int    // generation of the line if the block shows the line of a run of calls; else 0
	works      bool   // the call's subagent is working, so a row below the head shows its progress
	wait       string // remaining wait before a retry, or ""

	answer *markup.Markdown // a block with text has one of these three
	writer *markup.Writer
	output *tailText

	diff   *markup.Diff // of a call that changes files; its text is one of the parts
	diffAt int          // index of that part
}

// foldable reports whether the block is one line that can be unfolded.
func (v *blockView) foldable() bool {
	return v.block.Kind == state.ToolBlock || isTrace(v.block.Kind)
}

// isTrace reports whether blocks of a kind are folded because few people read them.
func isTrace(k state.Kind) bool { return k == state.ReasoningBlock || k == state.SkillBlock }

// shown returns whether the block is folded or unfolded, which foldAuto leaves to the kind of the block.
func (v *blockView) shown() folding {
	if v.summarizes() {
		return folded
	}
	if v.fold == foldAuto && (!v.foldable() || isTrace(v.block.Kind) || v.block.Call.State != state.CallFailed && !changed(v.block.Call)) {
		return folded
	}
	return v.fold
}

func (v *blockView) toggle() {
	switch {
	case !v.foldable() && v.block.Raw == "", v.toggleRow():
	case v.fold == unfolded:
		v.fold = folded
	default:
		v.fold = unfolded
	}
}

// asIn reports whether l was laid out under the same conditions as o, so that only new text must be laid out.
func (l *laidBlock) asIn(o *laidBlock) bool {
	return l.width == o.width && l.gen == o.gen && l.fold == o.fold && l.works == o.works && l.row == o.row && l.wait == o.wait
}

// lay updates the layout of the block and returns it.
func (v *blockView) lay(width int) *laidBlock {
	b, l := v.block, v.laid
	row := 0 // generation of the line, for a run of calls shown as one line
	if v.summarizes() {
		row = v.run.gen
	}
	wait := v.retryWait()
	now := laidBlock{width: width, gen: b.Gen, seen: -1, fold: v.shown(), works: works(b.Call), row: row, wait: wait}
	if l == nil || !l.asIn(&now) {
		l = &now
		v.laid = l
	}
	switch {
	case row > 0 && l.seen < 0:
		l.seen, l.head = 0, draw.Untrusted(themes.Text, v.run.summary())
	case row > 0:
	case b.Kind == state.RetryBlock || b.Raw != "":
		l.layFault(v)
	case b.Kind == state.ToolBlock:
		l.layCall(b.Call, v.cwd, v.shared)
	case l.seen == len(b.Text) && l.open == b.Open:
	case v.foldable() && l.fold == folded:
		l.lines += bytes.Count(b.Text[max(l.seen, 0):], []byte("\n"))
		l.seen, l.open = len(b.Text), b.Open
	default:
		l.layText(b, v.shared)
	}
	return l
}

// layText lays out the new text of a block.
func (l *laidBlock) layText(b *state.Block, with *shared) {
	src := b.Text
	if len(src) > maxShown {
		src = texts.WholeRunes(src[:maxShown])
	}
	var from int
	if b.Kind == state.AssistantBlock {
		from = l.layAnswer(b, src, with)
	} else {
		from = l.layPlain(b, src)
	}
	l.parts[0].layout.Wrap(l.parts[0].text, l.width-gutter(b.Kind), from)
	if len(src) < len(b.Text) {
		l.addCut(len(b.Text) - len(src))
	}
	l.seen, l.open = len(b.Text), b.Open
}

func (l *laidBlock) layAnswer(b *state.Block, src []byte, with *shared) (from int) {
	if l.answer == nil {
		l.answer = markup.NewMarkdown(l.width)
		l.answer.Highlighter, l.answer.Files = with.lexers, with.files
		l.parts = []part{{text: &l.answer.Text}}
	}
	if b.Open {
		return l.answer.Grow(src)
	}
	from = l.answer.Finish(src)
	if with.words {
		for i := range l.answer.Text.Paras {
			l.answer.Text.Paras[i].Wrap = markup.Words
		}
	}
	return from
}

func (l *laidBlock) layPlain(b *state.Block, src []byte) (from int) {
	if l.writer == nil {
		l.writer = &markup.Writer{}
		l.writer.Text.Wrap = markup.Words
		l.parts = []part{{text: &l.writer.Text}}
		switch b.Kind {
		case state.ReasoningBlock, state.SkillBlock:
			l.writer.Role = themes.Reasoning
		case state.NoticeBlock:
			l.writer.Role = themes.Notice
		case state.StoppedBlock:
			l.writer.Role = themes.Warning
		case state.WarningBlock:
			l.writer.Text.Put("warning  ", markup.Style{Role: themes.Warning})
		case state.ErrorBlock:
			l.writer.Text.Put("error  ", markup.Style{Role: themes.Error})
		}
	}
	if b.Kind == state.WorkflowBlock {
		l.layWorkflow(src)
		return 0
	}
	from = l.writer.Write(src[min(max(l.seen, 0), len(src)):])
	if !b.Open {
		from = min(from, l.writer.Close())
		if b.Kind == state.NoticeBlock || b.Kind == state.StoppedBlock {
			l.writer.Text.Hang()
		}
	}
	return from
}

// layWorkflow colours the lines of a workflow by the state of their steps.
func (l *laidBlock) layWorkflow(src []byte) {
	for i, line := range strings.Split(string(src), "\n") {
		role := themes.Muted
		switch sign, _, _ := strings.Cut(line, " "); {
		case i == 0:
			role = themes.Strong
		case sign == event.WorkflowCompleted.Sign():
			role = themes.ToolOK
		case sign == event.WorkflowRunning.Sign():
			role = themes.Running
		case sign == event.WorkflowWaiting.Sign():
			role = themes.Warning
		case sign == event.WorkflowFailed.Sign():
			role = themes.ToolError
		}
		if i > 0 {
			l.writer.Text.Put("\n", markup.Style{})
		}
		l.writer.Text.Put(markup.Inline(line), markup.Style{Role: role})
	}
}

// layPart adds and wraps a part with a text.
func (l *laidBlock) layPart(t *markup.Text) {
	l.parts = append(l.parts, part{text: t})
	l.parts[len(l.parts)-1].layout.Wrap(t, l.width-gutterWidth, 0)
}

// addCut adds a line about the bytes that are not shown.
func (l *laidBlock) addCut(bytes int) {
	t := &markup.Text{Wrap: markup.Words}
	t.Put(fmt.Sprintf("… %s more, not shown; the session file has the whole text", texts.ByteCount(int64(bytes))), markup.Style{Role: themes.Warning})
	l.parts = append(l.parts[:1], part{text: t})
	l.parts[1].layout.Wrap(t, l.width, 0)
}

func rowCount(parts []part) (n int) {
	for i := range parts {
		n += len(parts[i].layout.Rows)
	}
	return n
}

// above counts the rows above the parts: a blank one, the head, the progress of a subagent, and the note about rows
// that an excerpt omits.
func (v *blockView) above() int {
	n := v.gap
	if v.foldable() {
		n++
	}
	if v.laid != nil && v.laid.skip > 0 {
		n++
	}
	if v.laid != nil && v.laid.works {
		n++
	}
	return n
}

// height returns the number of rows of the block.
func (v *blockView) height(width int) int {
	if v.hidden() {
		return 0
	}
	l := v.lay(width)
	return v.above() + rowCount(l.parts) - l.skip
}

// rowOffset returns the part and the byte that a row shows, so that the row can be found again at another width; part
// is -1 for rows above the text.
func (v *blockView) rowOffset(row int) (part, off int) {
	if v.laid == nil {
		return -1, 0
	}
	if row -= v.above(); row < 0 {
		return -1, 0
	}
	if part, row = partAt(v.laid.parts, row+v.laid.skip); part < 0 {
		return -1, 0
	}
	return part, int(v.laid.parts[part].layout.Rows[row].From)
}

// rowOf returns the row with a part and byte, as returned by rowOffset, at any width; it returns row if the part is
// missing.
func (v *blockView) rowOf(part, off, row, width int) int {
	l := v.lay(width)
	if part < 0 || part >= len(l.parts) {
		return max(min(row, v.height(width)-1), 0)
	}
	n := v.above() - l.skip + rowCount(l.parts[:part])
	rows := l.parts[part].layout.Rows
	at := sort.Search(len(rows), func(i int) bool { return int(rows[i].From) > off })
	return min(max(n+at-1, 0), v.height(width)-1)
}

// gutter returns the columns left of a block's text.
func gutter(k state.Kind) int {
	if k == state.AssistantBlock {
		return 0
	}
	return gutterWidth
}

// compact reports whether blocks of a kind follow each other without a blank row.
func compact(k state.Kind) bool { return k != state.UserBlock && k != state.AssistantBlock }

func gapBetween(before, after state.Kind) int {
	if compact(before) && compact(after) || before == state.UserBlock && after == state.SkillBlock {
		return 0
	}
	return 1
}

// paint draws row i of the block, which was laid out at the canvas's width.
func (v *blockView) paint(c draw.Canvas, i int, now int64, m *marker) {
	l := v.laid
	blank := c.Palette[themes.Text]
	if i < v.gap {
		c.Fill(0, c.W, blank)
		return
	}
	i -= v.gap
	if v.foldable() {
		if i == 0 {
			v.paintHead(c, l, now, m)
			return
		}
		i--
	}
	if l.works {
		if i == 0 {
			c.Fill(c.Spans(gutterWidth, draw.Clip(draw.Untrusted(themes.Muted, progress(v.block.Call.Agent, v.cwd)), c.W-gutterWidth)...), c.W, blank)
			c.Fill(0, gutterWidth, blank)
			return
		}
		i--
	}
	if l.skip > 0 {
		if i == 0 {
			c.Fill(c.Say(0, fmt.Sprintf("  … %d rows above · %s shows all", l.skip, v.shared.unfold()), themes.Muted), c.W, blank)
			return
		}
		i += l.skip - 1
	}
	g := gutter(v.block.Kind)
	v.paintGutter(c, i)
	paintPart(c.At(g), l.parts, i)
	m.row(c.At(g), l.parts, i)
}

// show requests the colours of code for n rows of the block that are about to be drawn.
func (v *blockView) show(row, n int) {
	l := v.laid
	show, at := (func(from, to int))(nil), 0
	switch {
	case l.answer != nil:
		show = l.answer.Show
	case l.diff != nil:
		show, at = l.diff.Show, l.diffAt
	default:
		return
	}
	rows := l.parts[at].layout.Rows
	first := row - v.above() - rowCount(l.parts[:at])
	last := min(first+n, len(rows)) - 1
	if first = max(first, 0); first <= last {
		show(int(rows[first].From), int(rows[last].To))
	}
}

// partAt returns the part with row i of parts stacked vertically, and the row in it; the part is -1 below the last one.
func partAt(parts []part, i int) (n, row int) {
	for n := range parts {
		rows := len(parts[n].layout.Rows)
		if i < rows {
			return n, i
		}
		i -= rows
	}
	return -1, 0
}

// paintPart draws row i of parts stacked vertically.
func paintPart(c draw.Canvas, parts []part, i int) {
	n, i := partAt(parts, i)
	if n < 0 {
		c.Fill(0, c.W, c.Palette[themes.Text])
		return
	}
	c.Row(parts[n].text, &parts[n].layout, i)
}

// paintGutter draws the mark left of body row i.
func (v *blockView) paintGutter(c draw.Canvas, i int) {
	mark, role := "", themes.Text
	switch v.block.Kind {
	case state.UserBlock:
		mark, role = "▌", themes.User
	case state.WorkflowBlock:
		mark, role = "≡", themes.Running
	case state.NoticeBlock:
		mark, role = "·", themes.Notice
	case state.WarningBlock, state.StoppedBlock:
		mark, role = "!", themes.Warning
	case state.ErrorBlock:
		mark, role = "✗", themes.Error
	case state.RetryBlock:
		mark, role = "↻", retryRole(v.laid)
	}
	if i > 0 && v.block.Kind != state.UserBlock {
		mark = ""
	}
	g := min(gutter(v.block.Kind), c.W)
	c.Fill(c.Say(0, mark, role), g, c.Palette[themes.Text])
}

// paintHead draws the head of a block that can be folded.
func (v *blockView) paintHead(c draw.Canvas, l *laidBlock, now int64, m *marker) {
	if l.row > 0 {
		m.head(paintLooks(c, v.run, l.head, now), l.head)
		return
	}
	if v.block.Kind == state.ToolBlock {
		gain := l.gain
		if hint := gain + allOutput; l.much && l.fold != unfolded && v.shared.newest == v.block.Call && draw.Width(l.head)+draw.TextWidth(hint)+12 <= c.W {
			gain = hint
		}
		if call := v.block.Call; call.Agent != nil && call.State == state.CallDone && !l.works && l.fold != unfolded {
			gain = v.withReport(gain, c.W-draw.Width(l.head)-12)
		}
		m.head(paintCall(c, v.block.Call, l.head, gain, l.fold == unfolded, now), l.head)
		return
	}
	c.Fill(0, c.W, c.Palette[themes.Text])
	col := c.Say(0, v.traceHead(l)+"  ", themes.Reasoning)
	if v.block.Kind == state.ReasoningBlock {
		return
	}
	lines := l.lines
	if l.fold != folded {
		lines = bytes.Count(v.block.Text, []byte("\n"))
	}
	if !bytes.HasSuffix(v.block.Text, []byte("\n")) {
		lines++
	}
	c.At(col).Say(0, texts.Plural(lines, "line"), themes.Muted)
}

// traceHead describes a trace: the model's thinking time, or the name of the skill.
func (v *blockView) traceHead(l *laidBlock) string {
	sign := "▸ "
	if l.fold != folded {
		sign = "▾ "
	}
	switch b := v.block; {
	case b.Kind != state.ReasoningBlock:
	case b.Open:
		return sign + "Thinking"
	case b.Took == 0: // not measured
		return sign + "Thought"
	default:
		return sign + "Thought for " + draw.Seconds(b.Took)
	}
	line, _, _ := bytes.Cut(v.block.Text, []byte("\n"))
	return sign + markup.Shorten(string(line), 60)
}

// endOf returns the end of the first occurrence of code in the block's first part, at or after an offset. It ignores
// lines that are shown differently from their source.
func (v *blockView) endOf(code string, at int) int {
	l := v.laid
	if l == nil || len(l.parts) == 0 {
		return at
	}
	text := l.parts[0].text.Bytes
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if i := bytes.Index(text[at:], []byte(line)); i >= 0 && line != "" {
			at += i + len(line)
		}
	}
	return max(at-1, 0)
}
