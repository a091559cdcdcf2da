package markup

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"buddy/themes"
)

var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
})

const (
	codeIndent = "  "
	quoteBar   = "│ "
	bullet     = "• "
	ruleLine   = "────────────────────────"
	maxNesting = 16 // levels of containers that indent; deeper ones do not
)

// renderer appends parsed markdown to a Text.
type renderer struct {
	text  *Text
	clean cleaner
	src   []byte
	width int
	files func(path string) bool // whether the terminal may open a file; nil: none

	rest  string // prefix of rows in the current containers
	first string // prefix of the next line, such as a list marker; replaces rest
	depth int

	found []*codeBlock
}

// render appends a piece of markdown to t and returns its code blocks.
func render(t *Text, src []byte, width int, files func(string) bool) []*codeBlock {
	src = slices.Clip(src) // Segment.Value may append a newline to the slice
	doc := markdownParser().Parse(text.NewReader(src))
	r := renderer{text: t, clean: cleaner{text: t}, src: src, width: width, files: files}
	r.blocks(doc, false)
	return r.found
}

// line starts a line. more is additional indentation of this line only.
func (r *renderer) line(wrap Wrap, more string) {
	first, rest := r.first, r.rest+more
	if first == "" {
		first = r.rest
	}
	r.first = ""
	r.rawLine(first+more, rest, wrap)
}

func (r *renderer) rawLine(first, rest string, wrap Wrap) {
	r.text.Line(wrap, rest)
	r.text.addString(first, Style{Role: themes.Muted})
	r.clean.last = '\n'
}

// put writes foreign bytes on the current line.
func (r *renderer) put(p []byte, st Style) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		r.clean.put(bytes.TrimSuffix(p[:i], []byte("\r")), st)
		r.clean.put([]byte(" "), st)
		p = p[i+1:]
	}
	r.clean.put(p, st)
}

// gap adds a blank line between two blocks.
func (r *renderer) gap() {
	if len(r.text.Bytes) > 0 {
		r.rawLine(strings.TrimRight(r.rest, " "), "", Hard)
	}
}

// blocks renders the children of a container, with blank lines between them unless it is tight.
func (r *renderer) blocks(n ast.Node, tight bool) {
	some := false
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindLinkReferenceDefinition {
			continue
		}
		if !tight && (some || r.top() && r.first == "") {
			r.gap()
		}
		some = true
		r.block(c)
	}
}

// top reports whether the renderer is in no container.
func (r *renderer) top() bool { return r.depth == 0 }

func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.line(Words, "")
		r.inlines(n, headingStyle(n.Level))
	case *ast.Paragraph, *ast.TextBlock:
		r.line(Words, "")
		r.inlines(n, Style{})
	case *ast.FencedCodeBlock:
		lang := ""
		if n.Info != nil {
			lang = language(n.Info.Segment.Value(r.src))
		}
		r.code(n, lang)
	case *ast.CodeBlock:
		r.code(n, "")
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.ThematicBreak:
		r.line(Words, "")
		r.put([]byte(ruleLine), Style{Role: themes.Muted})
	case *ast.Blockquote:
		r.quote(n)
	case *ast.List:
		r.list(n)
	case *east.Table:
		r.table(n)
	default:
		r.line(Words, "")
		r.inlines(n, Style{})
	}
}

// headingStyle returns the style of a heading: underlined for the first level, italic below the second.
func headingStyle(level int) Style {
	st := Style{Role: themes.Heading}
	switch {
	case level == 1:
		st.Attr = Underline
	case level > 2:
		st.Attr = Italic
	}
	return st
}

// inside renders a container. Its first line starts with first, the others with more.
func (r *renderer) inside(n ast.Node, first, more string, tight bool) {
	rest, depth := r.rest, r.depth
	if r.first == "" {
		r.first = rest
	}
	if r.depth++; r.depth <= maxNesting {
		r.first += first
		r.rest += more
	}
	before := len(r.text.Paras)
	r.blocks(n, tight)
	if len(r.text.Paras) == before { // an empty item keeps its marker
		r.line(Words, "")
	}
	r.rest, r.depth = rest, depth
}

func (r *renderer) quote(n *ast.Blockquote) { r.inside(n, quoteBar, quoteBar, false) }

func (r *renderer) list(n *ast.List) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c != n.FirstChild() && !n.IsTight {
			r.gap()
		}
		marker := bullet
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		r.inside(c, marker, strings.Repeat(" ", len([]rune(marker))), n.IsTight)
	}
}

func (r *renderer) html(n *ast.HTMLBlock) {
	put := func(p []byte) {
		r.line(Words, "")
		r.put(bytes.TrimRight(p, "\r\n"), Style{Role: themes.Muted})
	}
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		put(line.Value(r.src))
	}
	if n.HasClosure() {
		put(n.ClosureLine.Value(r.src))
	}
}

func (r *renderer) code(n ast.Node, lang string) {
	lines := n.Lines()
	if isDiff(lang) && lines.Len() > 0 {
		w := diffWriter{renderer: r, indent: codeIndent}
		w.write(readDiff(string(lines.Value(r.src))))
		return
	}
	block := &codeBlock{lang: lang}
	for i := range lines.Len() {
		line := lines.At(i)
		block.lines = append(block.lines, r.codeLine(lang, bytes.TrimRight(line.Value(r.src), "\r\n")))
	}
	r.found = append(r.found, block)
	if lines.Len() == 0 {
		r.codeLine(lang, nil)
	}
}

// codeLine adds a line of code. Only lines of an incomplete diff are coloured here.
func (r *renderer) codeLine(lang string, line []byte) extent {
	r.line(Hard, codeIndent)
	from := len(r.text.Bytes)
	st := Style{Role: themes.Code}
	if isDiff(lang) && len(line) > 0 {
		switch line[0] {
		case '+':
			st.Role = themes.DiffAdd
		case '-':
			st.Role = themes.DiffDelete
		case '@':
			st.Role = themes.DiffHunk
		}
	}
	r.codeText(line, from, st)
	return extent{int32(from), int32(len(r.text.Bytes))}
}

// codeText writes code with tab stops counted from its start. Leading tabs have a role of their own, so that copied
// text has tabs.
func (r *renderer) codeText(line []byte, from int, st Style) {
	rest := bytes.TrimLeft(line, "\t")
	r.text.addString(strings.Repeat(tabBlank, len(line)-len(rest)), Style{Role: tabRole})
	for i, part := range bytes.Split(rest, []byte("\t")) {
		if i > 0 {
			r.text.addString(tabBlank[Width(r.text.Bytes[from:])%len(tabBlank):], st)
			r.clean.last = ' '
		}
		r.put(part, st)
	}
}

// inlines renders the inline children of a node.
func (r *renderer) inlines(n ast.Node, st Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.inline(c, st)
	}
}

func (r *renderer) inline(n ast.Node, st Style) {
	switch n := n.(type) {
	case *ast.Text:
		r.inlineText(n, st)
	case *ast.String:
		r.put(n.Value, st)
	case *ast.CodeSpan:
		st.Role = themes.Code
		r.codeSpan(n, st)
	case *ast.Emphasis:
		r.inlines(n, emphasize(st, n.Level))
	case *east.Strikethrough:
		st.Attr |= Strike
		r.inlines(n, st)
	case *ast.Link:
		r.link(string(n.Destination), st, func(st Style) { r.inlines(n, st) })
	case *ast.Image:
		r.put([]byte("image: "), Style{Role: themes.Muted})
		r.link(string(n.Destination), st, func(st Style) { r.inlines(n, st) })
	case *ast.AutoLink:
		r.link(string(n.URL(r.src)), st, func(st Style) { r.put(n.Label(r.src), st) })
	case *ast.RawHTML:
		st.Role = themes.Muted
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			r.put(s.Value(r.src), st)
		}
	case *east.TaskCheckBox:
		box := "☐ "
		if n.IsChecked {
			box = "☑ "
		}
		r.put([]byte(box), st)
	default:
		r.inlines(n, st)
	}
}

func (r *renderer) codeSpan(n ast.Node, st Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			r.put(t.Segment.Value(r.src), st)
		}
	}
}

func emphasize(st Style, level int) Style {
	switch {
	case st.Role != themes.Text && level > 1:
		st.Attr |= Bold
	case st.Role != themes.Text:
		st.Attr |= Italic
	case level > 1:
		st.Role = themes.Strong
	default:
		st.Role = themes.Emphasis
	}
	return st
}

func (r *renderer) inlineText(n *ast.Text, st Style) {
	value := n.Segment.Value(r.src)
	if !n.IsRaw() {
		value = unescape(value)
	}
	r.put(bytes.TrimSuffix(value, []byte("\r")), st)
	switch {
	case n.HardLineBreak():
		r.line(Words, "")
	case n.SoftLineBreak():
		r.put([]byte(" "), st)
	}
}

// unescape resolves backslashes and entities.
func unescape(p []byte) []byte {
	if bytes.IndexByte(p, '\\') < 0 && bytes.IndexByte(p, '&') < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) && util.IsPunct(p[i+1]) {
			i++
		} else if p[i] == '&' {
			if n := bytes.IndexByte(p[i:min(len(p), i+40)], ';'); n > 0 {
				out = append(out, util.ResolveEntityNames(util.ResolveNumericReferences(p[i:i+n+1]))...)
				i += n
				continue
			}
		}
		out = append(out, p[i])
	}
	return out
}
