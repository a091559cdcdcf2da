package web

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"buddy/texts"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Text returns the page as text in UTF-8: HTML as Markdown below its title, everything else unchanged. The error names
// the type of a page that is not text.
func (p Page) Text() (string, error) {
	kind := p.mediaType()
	if strings.HasPrefix(kind, "image/") && kind != "image/svg+xml" || strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/") {
		return "", p.noText(kind)
	}
	body, err := p.utf8()
	if err != nil || strings.ContainsRune(body, 0) {
		return "", p.noText(kind)
	}
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return body, nil
	}
	return p.markdown(body)
}

func (p Page) noText(kind string) error {
	return fmt.Errorf("%s is not text: %d bytes of %s", p.URL, len(p.Body), kind)
}

// utf8 returns the body in UTF-8, whatever its encoding.
func (p Page) utf8() (string, error) {
	if utf8.Valid(p.Body) {
		return string(p.Body), nil // even if the server declares another encoding
	}
	from, err := charset.NewReader(bytes.NewReader(p.Body), p.Type)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(from)
	return strings.ToValidUTF8(string(text), "\ufffd"), err
}

// markdown converts a page of HTML to Markdown.
func (p Page) markdown(body string) (string, error) {
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return body, nil // nobody writes such deeply nested elements
	}
	m := &markdown{limit: maxMarkdown}
	if u, err := url.Parse(p.URL); err == nil {
		m.base = u
	}
	m.render(doc)
	out := m.out.String()
	if m.out.Len() >= m.limit {
		out += "\n\n" + tooLong
	}
	if title := titleOf(doc); title != "" && !strings.HasPrefix(out, "# "+title) {
		out = "# " + title + "\n\n" + out
	}
	return out + "\n", nil
}

// tooLong ends a page that was cut.
const tooLong = "[the page is longer than this]"

// titleOf returns the text of the first title element.
func titleOf(n *html.Node) string {
	if n.DataAtom == atom.Title && n.FirstChild != nil {
		return texts.OneLine(n.FirstChild.Data)
	}
	if n.DataAtom == atom.Body {
		return ""
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if title := titleOf(c); title != "" {
			return title
		}
	}
	return ""
}
