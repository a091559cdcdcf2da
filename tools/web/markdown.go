package web

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"buddy/texts"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxMarkdown = 1 << 20  // bytes of Markdown per page
	maxCell     = 10 << 10 // bytes per table cell
	maxPrefix   = 60       // bytes before each line of nested lists
)

// markdown converts HTML to Markdown for a model. It makes a single pass, so that its time is proportional to the
// page's size. It escapes nothing.
type markdown struct {
	out      strings.Builder
	base     *url.URL
	limit    int
	prefix   string // before each line, for quotes and lists
	first    string // before the next line, such as a list item's marker; replaces prefix
	newlines int    // line ends before the next word; 2 make a blank line
	gap      string // prefix of that blank line
	space    bool   // a space before the next word
	before   string // markers of headings, links, bold before the next word
	cell     bool   // line ends become spaces
}

// render writes n and its content.
func (m *markdown) render(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		m.text(n.Data)
	case html.ElementNode:
		m.element(n)
	default:
		m.children(n)
	}
}

func (m *markdown) children(n *html.Node) {
	for c := n.FirstChild; c != nil && m.out.Len() < m.limit; c = c.NextSibling {
		m.render(c)
	}
}

func (m *markdown) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Select, atom.Button:
	case atom.Br:
		m.lines(1)
	case atom.Hr:
		m.lines(2)
		m.word("---")
		m.lines(2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		m.lines(2)
		m.around(n, strings.Repeat("#", int(n.Data[1]-'0'))+" ", "")
		m.lines(2)
	case atom.P, atom.Dl, atom.Figure:
		m.block(n, 2)
	case atom.Pre:
		m.fence(n)
	case atom.Blockquote:
		m.lines(2)
		m.indented(n, "> ", "> ")
		m.lines(2)
	case atom.Ul, atom.Ol, atom.Menu:
		m.list(n)
	case atom.Table:
		m.table(n)
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Form,
		atom.Dt, atom.Dd, atom.Tr, atom.Li, atom.Fieldset, atom.Details, atom.Summary, atom.Address, atom.Figcaption, atom.Caption:
		m.block(n, 1)
	default:
		m.inline(n)
	}
}

// inline writes an inline element.
func (m *markdown) inline(n *html.Node) {
	switch n.DataAtom {
	case atom.B, atom.Strong:
		m.around(n, "**", "**")
	case atom.I, atom.Em:
		m.around(n, "*", "*")
	case atom.Code, atom.Kbd, atom.Samp:
		m.around(n, "`", "`")
	case atom.A:
		m.link(n)
	case atom.Img:
		m.image(n)
	case atom.Td, atom.Th:
		m.space = true
		m.children(n)
	default:
		m.children(n)
	}
}

func (m *markdown) block(n *html.Node, lines int) {
	m.lines(lines)
	m.children(n)
	m.lines(lines)
}

// lines ensures that at least n line ends precede the next word.
func (m *markdown) lines(n int) {
	if m.newlines == 0 || len(m.prefix) < len(m.gap) {
		m.gap = m.prefix
	}
	m.newlines, m.space = max(m.newlines, n), false
}

// text writes running text, in which any white space becomes one space.
func (m *markdown) text(s string) {
	for i, w := range strings.Fields(s) {
		if i > 0 || strings.TrimLeftFunc(s, unicode.IsSpace) != s {
			m.space = true
		}
		m.word(w)
	}
	if strings.TrimRightFunc(s, unicode.IsSpace) != s {
		m.space = true
	}
}

// word writes all pending separators and markers, then the word.
func (m *markdown) word(w string) {
	m.start()
	m.out.WriteString(m.before)
	m.before = ""
	m.out.WriteString(w)
}

// start starts a new line, or a new word.
func (m *markdown) start() {
	switch {
	case m.newlines > 0 && m.cell:
		m.space = m.out.Len() > 0
	case m.newlines > 0:
		if m.out.Len() > 0 {
			m.out.WriteByte('\n')
			if m.newlines > 1 {
				m.out.WriteString(strings.TrimRight(m.gap, " "))
				m.out.WriteByte('\n')
			}
		}
		if m.first == "" {
			m.first = m.prefix
		}
		m.out.WriteString(m.first)
		m.space = false
	}
	if m.space {
		m.out.WriteByte(' ')
	}
	m.first, m.newlines, m.space = "", 0, false
}

// around writes the content of n between two markers. It writes nothing if the content is empty.
func (m *markdown) around(n *html.Node, before, after string) {
	held := m.before
	m.before += before
	length := m.out.Len()
	m.children(n)
	if m.out.Len() == length {
		m.before = held
		return
	}
	m.out.WriteString(after)
}

func (m *markdown) link(n *html.Node) {
	to := m.absolute(attr(n, "href"))
	if to == "" {
		m.children(n)
		return
	}
	m.around(n, "[", "]("+to+")")
}

func (m *markdown) image(n *html.Node) {
	alt := texts.OneLine(attr(n, "alt"))
	if from := m.absolute(attr(n, "src")); alt != "" && from != "" {
		m.word("![" + alt + "](" + from + ")")
	}
}

// absolute returns the absolute URL of a link, "" if it can't be fetched.
func (m *markdown) absolute(ref string) string {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || ref == "" || strings.HasPrefix(ref, "#") {
		return ""
	}
	if m.base != nil {
		u = m.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	return u.String()
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// fence writes preformatted text.
func (m *markdown) fence(n *html.Node) {
	var b strings.Builder
	language := ""
	plain(n, &b, &language)
	code := strings.Trim(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	if code == "" {
		return
	}
	sign := "```"
	for strings.Contains(code, sign) && len(sign) < 10 {
		sign += "`"
	}
	m.lines(2)
	m.word(sign + language)
	for l := range strings.SplitSeq(code, "\n") {
		if m.out.Len() > m.limit {
			break
		}
		m.lines(1)
		m.word(l)
	}
	m.lines(1)
	m.word(sign)
	m.lines(2)
}

// plain collects the text in n unchanged, and the language in its class.
func plain(n *html.Node, to *strings.Builder, language *string) {
	if n.Type == html.TextNode {
		to.WriteString(n.Data)
	}
	if n.DataAtom == atom.Br {
		to.WriteByte('\n')
	}
	for class := range strings.FieldsSeq(attr(n, "class")) {
		if l, ok := strings.CutPrefix(class, "language-"); ok && *language == "" && len(l) < 20 {
			*language = l
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		plain(c, to, language)
	}
}

// indented writes the content of n with a prefix before each line, and another before the
// first one.
func (m *markdown) indented(n *html.Node, first, rest string) {
	outer := m.prefix
	if m.first == "" {
		m.first = outer
	}
	if len(outer) < maxPrefix {
		m.first += first
		m.prefix += rest
	}
	m.newlines = max(m.newlines, 1)
	m.children(n)
	m.prefix = outer
	m.first = "" // if nothing was written
}

func (m *markdown) list(n *html.Node) {
	lines := 1
	if n.Parent == nil || n.Parent.DataAtom != atom.Li {
		lines = 2
	}
	m.lines(lines)
	number := 0
	for c := n.FirstChild; c != nil && m.out.Len() < m.limit; c = c.NextSibling {
		if c.DataAtom != atom.Li {
			m.render(c)
			continue
		}
		number++
		sign := "- "
		if n.DataAtom == atom.Ol {
			sign = fmt.Sprintf("%d. ", number)
		}
		m.newlines = min(max(m.newlines, 1), lines) // items stay close together
		m.indented(c, sign, strings.Repeat(" ", len(sign)))
		m.newlines, lines = 1, 1
	}
	m.lines(2)
}

// table writes a table of simple cells as a Markdown table. If a table is used for layout, it writes only the blocks in
// the cells.
func (m *markdown) table(n *html.Node) {
	if m.cell || contains(n, atom.Table) {
		m.block(n, 2)
		return
	}
	m.lines(2)
	rows := 0
	m.rows(n, &rows)
	m.lines(2)
}

func (m *markdown) rows(n *html.Node, rows *int) {
	for c := n.FirstChild; c != nil && m.out.Len() < m.limit; c = c.NextSibling {
		if c.DataAtom != atom.Tr {
			m.rows(c, rows)
			continue
		}
		cells := 0
		m.lines(1)
		for d := c.FirstChild; d != nil && m.out.Len() < m.limit; d = d.NextSibling {
			if d.DataAtom != atom.Td && d.DataAtom != atom.Th {
				continue
			}
			in := &markdown{base: m.base, limit: maxCell, cell: true}
			in.children(d)
			m.word("| " + strings.ReplaceAll(in.out.String(), "|", `\|`) + " ")
			cells++
		}
		if cells == 0 {
			continue
		}
		m.word("|")
		if *rows++; *rows == 1 {
			m.lines(1)
			m.word(strings.Repeat("|---", cells) + "|")
		}
	}
}

// contains reports whether n has a descendant of a kind.
func contains(n *html.Node, kind atom.Atom) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == kind || contains(c, kind) {
			return true
		}
	}
	return false
}
