package sessions

import (
	"bufio"
	"fmt"
	"strings"
	"time"
	"unicode"

	"buddy/agent/model"
	"buddy/agent/redact"
	"buddy/texts"
	"buddy/texts/ansi"
)

// timeFormat is the format of times in exports, which are in UTC because readers may be anywhere.
const timeFormat = "2006-01-02 15:04"

func utc(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeFormat) }

// sanitize removes characters that would control a terminal, reorder or hide text: escape sequences, control characters
// except newline and tab, direction marks, line separators, tags.
func sanitize(text string) string {
	text = ansi.Strip(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.In(r, unicode.Zl, unicode.Zp), r >= 0xe0000 && r < 0xe0080:
			return -1
		}
		return r
	}, text)
}

// document is written for people. It counts the secrets that were removed from its texts.
type document struct {
	w       *bufio.Writer
	secrets int // places with the mark of a secret
}

// clean sanitizes a text of the session.
func (d *document) clean(text string) string {
	text = sanitize(text)
	d.secrets += redact.Marks(text)
	return text
}

// markdownPage writes a transcript in Markdown.
type markdownPage struct{ document }

func (m *markdownPage) put(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, format, args...) // Flush returns the error at the end
}

func (m *markdownPage) head(e Entry) {
	title := oneLine(m.clean(e.Title))
	if title == "" {
		title = "Session " + e.ID
	}
	m.put("# %s\n\n", escapeMarkdown(title))
	m.put("Session %s · %s UTC · %s · %s\n", e.ID, utc(e.Header.Created), m.inlineCode(e.Header.Cwd), m.inlineCode(e.Header.Model))
}

func (m *markdownPage) exchange(n int, ms int64, text string) {
	m.put("\n## %d · %s UTC\n", n, utc(ms))
	m.prompt(text)
}

func (m *markdownPage) prompt(text string) {
	m.put("\n> %s\n", strings.ReplaceAll(strings.TrimSpace(m.clean(text)), "\n", "\n> "))
}

func (m *markdownPage) answer(text string) { m.put("\n%s\n", strings.TrimSpace(m.clean(text))) }

func (m *markdownPage) reasoning(text string) {
	m.put("\n<details><summary>Reasoning</summary>\n")
	m.fence("", text)
	m.put("\n</details>\n")
}

func (m *markdownPage) pictures(all []model.Image) {
	for _, i := range all {
		m.prompt("[" + i.MediaType + "]")
	}
}

func (m *markdownPage) call(c toolCall) {
	m.put("\n**%s**\n", escapeMarkdown(oneLine(m.clean(c.name))))
	if c.diff == "" {
		m.fence("sh", c.what)
	} else {
		m.put("\n%s\n", m.inlineCode(c.what))
		m.fence("diff", c.diff)
	}
	if c.output == "" {
		m.put("\n%s\n", c.status)
		return
	}
	m.put("\n%s:\n", c.status)
	m.fence("", c.output)
}

func (m *markdownPage) remark(text string) {
	m.put("\n*%s*\n", escapeMarkdown(oneLine(m.clean(text))))
}

func (m *markdownPage) foot() int {
	m.put("\n---\n\n%s.\n", texts.Capital(Exported{Secrets: m.secrets}.Note()))
	return m.secrets
}

// fence writes a code block.
func (m *markdownPage) fence(language, text string) {
	m.put("\n%s\n", texts.Fenced(language, m.clean(text)))
}

func (m *markdownPage) inlineCode(text string) string {
	text = strings.ReplaceAll(oneLine(m.clean(text)), "`", "'")
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

var markdownMarks = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `#`, `\#`, `|`, `\|`)

func escapeMarkdown(text string) string { return markdownMarks.Replace(text) }
