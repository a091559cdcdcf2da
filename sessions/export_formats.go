package sessions

import (
	"bufio"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

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

// markdownPage writes a transcript in Markdown.
type markdownPage struct{ w *bufio.Writer }

func (m *markdownPage) put(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, format, args...) // Flush returns the error at the end
}

func (m *markdownPage) head(e Entry) {
	title := oneLine(sanitize(e.Title))
	if title == "" {
		title = "Session " + e.ID
	}
	m.put("# %s\n\n", escapeMarkdown(title))
	m.put("Session %s · %s UTC · %s · %s\n", e.ID, utc(e.Header.Created), inlineCode(e.Header.Cwd), inlineCode(e.Header.Model))
}

func (m *markdownPage) exchange(n int, ms int64, text string) {
	m.put("\n## %d · %s UTC\n", n, utc(ms))
	m.prompt(text)
}

func (m *markdownPage) prompt(text string) {
	m.put("\n> %s\n", strings.ReplaceAll(strings.TrimSpace(sanitize(text)), "\n", "\n> "))
}

func (m *markdownPage) answer(text string) { m.put("\n%s\n", strings.TrimSpace(sanitize(text))) }

func (m *markdownPage) reasoning(text string) {
	m.put("\n<details><summary>Reasoning</summary>\n")
	m.fence("", text)
	m.put("\n</details>\n")
}

func (m *markdownPage) call(name, what string) {
	m.put("\n**%s**\n", escapeMarkdown(oneLine(sanitize(name))))
	m.fence("sh", what)
}

func (m *markdownPage) result(status, text string) {
	if strings.TrimSpace(text) == "" {
		m.put("\n%s, no output\n", status)
		return
	}
	m.put("\n%s:\n", status)
	m.fence("", text)
}

func (m *markdownPage) remark(text string) {
	m.put("\n*%s*\n", escapeMarkdown(oneLine(sanitize(text))))
}

func (m *markdownPage) foot() {}

// fence writes a code block whose fence is longer than any in text.
func (m *markdownPage) fence(language, text string) {
	text = strings.TrimRight(sanitize(text), "\n")
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	m.put("\n%s%s\n%s\n%s\n", marks, language, text, marks)
}

func inlineCode(text string) string {
	text = strings.ReplaceAll(oneLine(sanitize(text)), "`", "'")
	if text == "" {
		return "–"
	}
	return "`" + text + "`"
}

var markdownMarks = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `#`, `\#`, `|`, `\|`)

func escapeMarkdown(text string) string { return markdownMarks.Replace(text) }

// htmlPage writes a transcript as a page without scripts, links and external resources.
type htmlPage struct{ w *bufio.Writer }

const htmlHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
:root { color-scheme: light dark; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin-top: 2.5rem; opacity: .7; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; font: inherit; }
pre.code { font: .85rem/1.4 ui-monospace, monospace; padding: .6rem .8rem; background: #8881; border-radius: .4rem; }
.prompt { border-left: .25rem solid #47a; padding-left: .8rem; font-weight: 600; }
.remark, summary, .facts { opacity: .7; font-size: .9rem; }
</style>
`

func (h *htmlPage) put(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(sanitize(s))
		}
	}
	_, _ = fmt.Fprintf(h.w, format, args...) // Flush returns the error at the end
}

func (h *htmlPage) head(e Entry) {
	title := e.Title
	if title == "" {
		title = "Session " + e.ID
	}
	h.put(htmlHead, title)
	h.put("<h1>%s</h1>\n<p class=\"facts\">Session %s · %s UTC · %s · %s</p>\n", title, e.ID, utc(e.Header.Created), e.Header.Cwd, e.Header.Model)
}

func (h *htmlPage) exchange(n int, ms int64, text string) {
	h.put("<h2>%d · %s UTC</h2>\n", n, utc(ms))
	h.prompt(text)
}

func (h *htmlPage) prompt(text string) {
	h.put("<pre class=\"prompt\">%s</pre>\n", strings.TrimSpace(text))
}

func (h *htmlPage) answer(text string) { h.put("<pre>%s</pre>\n", strings.TrimSpace(text)) }

func (h *htmlPage) reasoning(text string) {
	h.put("<details><summary>Reasoning</summary><pre>%s</pre></details>\n", strings.TrimSpace(text))
}

func (h *htmlPage) call(name, what string) {
	h.put("<p><b>%s</b></p>\n<pre class=\"code\">%s</pre>\n", name, what)
}

func (h *htmlPage) result(status, text string) {
	if strings.TrimSpace(text) == "" {
		h.put("<p class=\"remark\">%s, no output</p>\n", status)
		return
	}
	h.put("<details><summary>%s</summary><pre class=\"code\">%s</pre></details>\n", status, strings.TrimRight(text, "\n"))
}

func (h *htmlPage) remark(text string) { h.put("<p class=\"remark\">%s</p>\n", text) }

func (h *htmlPage) foot() { h.put("</html>\n") }
