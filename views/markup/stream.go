package markup

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/util"

	"buddy/texts"
)

const (
	// slowChunk limits an open chunk that is parsed at each delta, in bytes; a longer one is parsed when it has grown
	// by an eighth.
	slowChunk = 4 << 10
	// Text with a line longer than plainLine, with more than plainQuotes nested quotes, or with a paragraph whose
	// length times its links exceeds plainLinks is shown without parsing, because the parser's work grows with the
	// square of these numbers.
	plainLine   = 8 << 10
	plainQuotes = 48
	plainLinks  = 4 << 20
)

// Markdown renders an answer while it grows. Complete chunks (a paragraph, a list, a fence) are rendered once; only the
// open chunk is rendered at each delta. Finish renders the whole source at once if nothing was rendered yet or a line
// may affect earlier chunks, for example a link definition.
type Markdown struct {
	Text        Text
	Highlighter *Highlighter           // colours the visible code, if set; may be shared
	Files       func(path string) bool // whether the terminal may open a file; nil: none
	width       int

	done   int      // bytes of the source that are rendered for good
	seen   int      // bytes of the source that the scanner has read
	parsed int      // bytes of the source at the last parse of the open chunk; 0: none
	shown  int      // length of Text after that parse
	kept   textMark // the part of Text that stays
	scan   scanner

	blocks []*codeBlock // the code in Text, without fenced
	fenced *codeBlock   // the block whose fence is open; nil: none
	stay   int          // number of blocks that will not be rendered again
	gen    int          // grows when blocks move

	fenceAt fencePlace // start of the open fence
	from    int        // start of the changes of Text since Grow began
}

// fencePlace is the start of a fence in Text and in the source.
type fencePlace struct{ text, src int }

// textMark is a position in a Markdown.
type textMark struct{ bytes, links, blocks int }

// NewMarkdown returns an empty answer; tables are fitted to width.
func NewMarkdown(width int) *Markdown { return &Markdown{width: width} }

// Grow renders src, which must start with the earlier source, and returns the offset in Text.Bytes at which changes
// start.
func (m *Markdown) Grow(src []byte) (from int) {
	from = m.grow(src)
	m.stay = m.kept.blocks
	return from
}

func (m *Markdown) grow(src []byte) (from int) {
	m.readLines(src)
	if rest := len(src) - m.done; rest > slowChunk && m.parsed > 0 && len(src)-m.parsed < rest/8 {
		m.pending(src)
		return min(m.from, m.shown)
	}
	m.open(src)
	return m.from
}

// readLines reads the complete lines.
func (m *Markdown) readLines(src []byte) {
	m.from = m.kept.bytes
	for m.seen < len(src) {
		n := bytes.IndexByte(src[m.seen:], '\n')
		if n < 0 {
			break
		}
		m.readLine(src, m.seen+n+1)
	}
}

// Finish renders src as the whole answer and returns the offset at which Text changed.
func (m *Markdown) Finish(src []byte) (from int) {
	from = m.finish(src)
	m.stay = len(m.blocks)
	return from
}

func (m *Markdown) finish(src []byte) (from int) {
	whole := m.seen == 0 && tame(src) // nothing was rendered that could stay
	if !whole {
		m.readLines(src)
		if m.seen < len(src) {
			m.readLine(src, len(src))
		}
		whole = (m.scan.fence.open() || m.scan.nonlocal) && tame(src)
	}
	m.rewind()
	switch f := m.scan.fence; {
	case whole:
		*m = Markdown{width: m.width, Text: m.Text, Highlighter: m.Highlighter, Files: m.Files, gen: m.gen + 1}
		m.rewind()
		m.blocks = render(&m.Text, src, m.width, m.Files)
		return 0
	case f.open():
		m.endFence(f, src[m.fenceAt.src:])
	default:
		m.chunk(src[m.done:])
	}
	return m.from
}

// rewind drops the text of the open chunk, which is rendered again.
func (m *Markdown) rewind() {
	m.Text.truncate(m.kept.bytes)
	m.Text.Links = m.Text.Links[:m.kept.links]
	m.blocks = m.blocks[:m.kept.blocks]
}

func (m *Markdown) keep(done int) {
	m.done, m.parsed = done, 0
	m.kept = textMark{len(m.Text.Bytes), len(m.Text.Links), len(m.blocks)}
}

// readLine reads the line up to end, and renders the chunks that it completes.
func (m *Markdown) readLine(src []byte, end int) {
	line := bytes.TrimRight(src[m.seen:end], "\r\n")
	start := m.seen
	m.seen = end
	was := m.scan.fence
	switch m.scan.read(line) {
	case lineStarts, lineOpens:
		if start > m.done {
			m.rewind()
			m.chunk(src[m.done:start])
			m.keep(start)
		}
		if m.scan.fence.open() {
			m.rewind()
			m.fenced = &codeBlock{lang: m.scan.fence.lang}
			m.keep(end)
			m.fenceAt = fencePlace{len(m.Text.Bytes), end}
		}
	case lineCode:
		m.rewind()
		m.fenced.lines = append(m.fenced.lines, m.codeLine(was, line))
		m.keep(end)
	case lineCloses:
		m.rewind()
		m.endFence(was, src[m.fenceAt.src:start])
		m.keep(end)
	}
}

// endFence converts the open fence to a block; src holds its lines.
func (m *Markdown) endFence(f fence, src []byte) {
	if f.lines == 0 {
		m.codeLine(f, nil)
	}
	if isDiff(f.lang) && f.lines > 0 {
		m.closeDiff(f, src)
		return
	}
	m.blocks = append(m.blocks, m.fenced)
	m.fenced = nil
}

// closeDiff lays out the diff in a fence, in place of its plain lines.
func (m *Markdown) closeDiff(f fence, src []byte) {
	m.Text.truncate(m.fenceAt.text)
	m.from = min(m.from, m.fenceAt.text)
	m.fenced = nil
	r := renderer{text: &m.Text, clean: cleaner{text: &m.Text}, width: m.width}
	r.gap()
	var lines strings.Builder
	for line := range bytes.Lines(src) {
		lines.Write(f.unindent(line))
	}
	w := diffWriter{renderer: &r, indent: codeIndent}
	w.write(readDiff(lines.String()))
	m.blocks = append(m.blocks, r.found...)
}

// unindent removes the indentation of the fence from a line of code. If a tab is wider than the indentation, spaces
// replace its rest. Like the parser, unindent does not change a blank line that is shorter than the indentation.
func (f fence) unindent(line []byte) []byte {
	if len(line) < f.indent && util.IsBlank(line) && !bytes.ContainsRune(line, '\t') {
		return line
	}
	for col := 0; col < f.indent && len(line) > 0; {
		switch line[0] {
		case ' ':
			col++
		case '\t':
			col = codeTab
		default:
			return line
		}
		line = line[1:]
		if over := col - f.indent; over > 0 {
			return append(bytes.Repeat([]byte{' '}, over), line...)
		}
	}
	return line
}

// codeTab is the width of a tab at the start of a line (CommonMark). The indentation of a fence is smaller.
const codeTab = 4

// open renders the part after the last complete chunk provisionally.
func (m *Markdown) open(src []byte) {
	if f := m.scan.fence; f.open() {
		m.rewind()
		if last := texts.WholeRunes(src[m.seen:]); !f.mayClose(last) {
			m.codeLine(f, last)
			m.parsed, m.shown = len(src), len(m.Text.Bytes)
		}
		return
	}
	m.rewind()
	m.chunk(texts.WholeRunes(src[m.done:]))
	m.parsed = len(src)
	m.shown = len(m.Text.Bytes)
}

// pending shows the part of a long chunk that came after its last parse, as plain text.
func (m *Markdown) pending(src []byte) {
	m.Text.truncate(m.shown)
	m.Text.Put(string(texts.WholeRunes(src[m.parsed:])), Style{})
}

// chunk renders one chunk.
func (m *Markdown) chunk(src []byte) {
	if tame(src) {
		m.blocks = append(m.blocks, render(&m.Text, src, m.width, m.Files)...)
		return
	}
	r := renderer{text: &m.Text, clean: cleaner{text: &m.Text}, width: m.width}
	r.gap()
	for line := range bytes.Lines(src) {
		r.line(Words, "")
		r.put(bytes.TrimRight(line, "\r\n"), Style{})
	}
}

func (m *Markdown) codeLine(f fence, line []byte) extent {
	r := renderer{text: &m.Text, clean: cleaner{text: &m.Text}, width: m.width}
	if f.lines == 0 {
		r.gap()
	}
	return r.codeLine(f.lang, f.unindent(line))
}

// tame reports whether the parser's work on src is proportional to its length.
func tame(src []byte) bool {
	para, links := 0, 0 // length and possible links of the current paragraph
	for line := range bytes.Lines(src) {
		if len(line) > plainLine || line[0] == '>' && bytes.Count(line[:min(len(line), 2*plainQuotes)], []byte(">")) > plainQuotes {
			return false
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '|' || isItem(trimmed) {
			para, links = 0, 0
		}
		para += len(line)
		links += bytes.Count(line, []byte("]("))
		if para*links > plainLinks {
			return false
		}
	}
	return true
}

// lineKind is the effect of a line on chunks.
type lineKind uint8

const (
	lineIn     lineKind = iota // belongs to the previous chunk
	lineStarts                 // starts a chunk
	lineOpens                  // opens a fence, which is a chunk
	lineCode                   // code in a fence
	lineCloses                 // closes a fence
)

// scanner finds the starts of chunks in complete lines.
type scanner struct {
	fence fence
	blank bool // the previous line was blank
	list  bool // the chunk has a list item
	empty bool // the previous line was a list item without text

	// nonlocal reports whether a line read so far may affect other chunks: a link definition, HTML (which blank lines
	// do not end), or a line that may end a list.
	nonlocal bool
}

// fence is an open code fence, in which mark is repeated count times. The zero value is no fence.
type fence struct {
	mark   byte
	count  int
	indent int
	lang   string
	lines  int // lines of code so far
}

func (f fence) open() bool { return f.count > 0 }

func (s *scanner) read(line []byte) lineKind {
	switch {
	case s.fence.open():
		return s.readCode(line)
	case util.IsBlank(line):
		s.nonlocal = s.nonlocal || s.empty
		s.blank = true
		return lineIn
	}
	trimmed := bytes.TrimLeft(line, " ")
	indent := len(line) - len(trimmed)
	if s.opens(trimmed, indent) {
		return lineOpens
	}
	item := indent <= 3 && isItem(trimmed)
	s.note(trimmed, indent, item)
	starts := indent == 0 && line[0] != '\t' && s.blank && (!s.list || !item)
	s.blank = false
	if starts {
		s.list = item
		return lineStarts
	}
	s.list = s.list || item
	return lineIn
}

// opens starts a fence and reports true if a line opens one outside of lists and deep indentation, so that the fence is
// a chunk.
func (s *scanner) opens(trimmed []byte, indent int) bool {
	if indent > 3 || s.list && indent >= 2 {
		return false
	}
	f, ok := openingFence(trimmed)
	if ok {
		f.indent = indent
		*s = scanner{fence: f, nonlocal: s.nonlocal}
	}
	return ok
}

// note updates the scanner for a line outside of fences.
func (s *scanner) note(trimmed []byte, indent int, item bool) {
	s.empty = item && len(bytes.TrimSpace(trimmed)) < 3
	lazy := s.list && indent < 2 && !item && !s.blank
	s.nonlocal = s.nonlocal || lazy || trimmed[0] == '<' || bytes.Contains(trimmed, []byte("]:"))
}

func (s *scanner) readCode(line []byte) lineKind {
	if s.fence.closedBy(line) {
		s.fence, s.blank = fence{}, true
		return lineCloses
	}
	s.fence.lines++
	return lineCode
}

// closedBy reports whether a complete line is the closing fence.
func (f fence) closedBy(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	marks := bytes.TrimLeft(line, " ")
	return len(line)-len(marks) <= 3 && len(marks) >= f.count && len(bytes.Trim(marks, string(f.mark))) == 0
}

// mayClose reports whether an incomplete line can become the closing fence.
func (f fence) mayClose(line []byte) bool {
	return len(bytes.Trim(bytes.TrimLeft(line, " "), string(f.mark))) == 0
}

func openingFence(line []byte) (fence, bool) {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return fence{}, false
	}
	info := bytes.TrimLeft(line, string(line[0]))
	f := fence{mark: line[0], count: len(line) - len(info), lang: language(info)}
	if f.count < 3 || f.mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return fence{}, false
	}
	return f, true
}

// language returns the first word after the marks of a fence.
func language(info []byte) string {
	for word := range bytes.FieldsSeq(info) {
		return string(word)
	}
	return ""
}

// isItem reports whether a line starts a list item.
func isItem(line []byte) bool {
	n := 0
	for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	switch {
	case n == len(line):
		return false
	case n > 0 && (line[n] == '.' || line[n] == ')'), n == 0 && bytes.IndexByte([]byte("-+*"), line[0]) >= 0:
		return len(line) == n+1 || line[n+1] == ' ' || line[n+1] == '\t'
	}
	return false
}
