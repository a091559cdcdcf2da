package sessions

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/texts"
)

// htmlPage writes a transcript as one page that loads nothing. It works without its script, which searches.
type htmlPage struct {
	document
	prompts []Exchange // the table of contents
	inside  bool       // a section is open
	pixels  int        // bytes of pictures so far
}

const (
	maxPagePictures = 16 << 20 // bytes of the pictures in a page
	summaryRunes    = 100      // of a command in the line of a closed call
	maxLink         = 2000     // bytes of an address that becomes a link
)

//go:embed export.css
var pageStyle string

//go:embed export.js
var pageScript string

// htmlHead ends where the title of the session follows. Its policy permits one style, one script, and pictures inside
// the page. The icon keeps browsers from asking a server for one.
const htmlHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
<header>
<h1>%s</h1>
<p class="facts">Session %s · %s UTC · %s · %s</p>
</header>
<div id="search" role="search" hidden>
<label for="field">Search</label>
<input id="field" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<button id="all" type="button">Open or close all</button>
<output id="found" for="field"></output>
</div>
`

// markup is HTML that put does not escape.
type markup string

// put writes a format with its arguments. It escapes strings, so they may be used in text and in quoted attributes, but
// not in addresses, styles and scripts.
func (h *htmlPage) put(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(h.clean(s))
		}
	}
	_, _ = fmt.Fprintf(h.w, format, args...) // Flush returns the error at the end
}

// permission returns the source in a content security policy that permits an inline style or script.
func permission(text string) markup {
	sum := sha256.Sum256([]byte(text))
	return markup("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))
}

func (h *htmlPage) head(e Entry) {
	title := e.Title
	if title == "" {
		title = "Session " + e.ID
	}
	escaped := markup(html.EscapeString(sanitize(title)))
	h.put(htmlHead, permission(pageStyle), permission(pageScript), escaped, markup(pageStyle), title,
		e.ID, utc(e.Header.Created), e.Header.Cwd, e.Header.Model)
	if len(h.prompts) > 0 {
		h.put("<nav aria-labelledby=\"prompts\">\n<h2 id=\"prompts\">Prompts</h2>\n<ol>\n")
		for _, x := range h.prompts {
			h.put("<li value=\"%d\"><a href=\"#p%d\">%s</a>", x.Number, x.Number, markup(html.EscapeString(sanitize(x.Prompt))))
			if x.Outcome != "" && x.Outcome != event.Completed {
				h.put(" <span class=\"failed\">%s</span>", string(x.Outcome))
			}
			h.put("</li>\n")
		}
		h.put("</ol>\n</nav>\n")
	}
	h.put("<main>\n")
}

// section opens a section for texts before the first exchange.
func (h *htmlPage) section() {
	if !h.inside {
		h.inside = true
		h.put("<section>\n")
	}
}

func (h *htmlPage) closeSection() {
	if h.inside {
		h.inside = false
		h.put("</section>\n")
	}
}

func (h *htmlPage) exchange(n int, ms int64, text string) {
	h.closeSection()
	h.inside = true
	h.put("<section id=\"p%d\" aria-labelledby=\"h%d\">\n<h2 id=\"h%d\">%d · %s UTC</h2>\n", n, n, n, n, utc(ms))
	h.prompt(text)
}

func (h *htmlPage) prompt(text string) { h.prose("text prompt", text) }

func (h *htmlPage) answer(text string) { h.prose("text", text) }

func (h *htmlPage) prose(class, text string) {
	h.section()
	h.put("<div class=\"%s\">%s</div>\n", class, withLinks(strings.TrimSpace(h.clean(text))))
}

func (h *htmlPage) reasoning(text string) {
	h.section()
	h.put("<details><summary>Reasoning</summary>\n<div class=\"text\">%s</div>\n</details>\n", strings.TrimSpace(text))
}

func (h *htmlPage) pictures(all []model.Image) {
	for _, i := range all {
		err := i.Check()
		if err == nil && h.pixels+len(i.Data) > maxPagePictures {
			err = fmt.Errorf("a page has at most %s of pictures", texts.ByteCount(maxPagePictures))
		}
		if err != nil {
			h.remark("a picture is left out: " + err.Error())
			continue
		}
		h.pixels += len(i.Data)
		h.section()
		h.put("<p><img alt=\"Picture, %s, %s\" src=\"data:%s;base64,", i.MediaType, texts.ByteCount(int64(len(i.Data))), i.MediaType)
		to := base64.NewEncoder(base64.StdEncoding, h.w)
		_, _ = to.Write(i.Data)
		_ = to.Close()
		h.put("\"></p>\n")
	}
}

// call writes a call as a line that opens. Changes of files and failed calls are open.
func (h *htmlPage) call(c toolCall) {
	h.section()
	class, open := "call", ""
	if c.failed {
		class = "call failed"
	}
	if c.failed || c.diff != "" {
		open = " open"
	}
	what := strings.TrimSpace(h.clean(c.what))
	short := texts.Clip(texts.OneLine(what), summaryRunes)
	h.put("<details class=\"%s\"%s><summary><b>%s</b> <code>%s</code> <span class=\"status\">%s</span></summary>\n",
		class, open, c.name, markup(html.EscapeString(short)), c.status)
	if short != what {
		h.put("<pre>%s</pre>\n", markup(html.EscapeString(what)))
	}
	if c.diff != "" {
		h.put("<pre class=\"diff\">%s</pre>\n", changedLines(h.clean(c.diff)))
	}
	if c.output != "" {
		h.put("<pre>%s</pre>\n", strings.TrimRight(c.output, "\n"))
	}
	h.put("</details>\n")
}

// changedLines marks the added and deleted lines of a diff.
func changedLines(diff string) markup {
	var b strings.Builder
	counts, lines, _ := strings.Cut(strings.TrimRight(diff, "\n"), "\n")
	b.WriteString(html.EscapeString(counts))
	for line := range strings.SplitSeq(lines, "\n") {
		b.WriteByte('\n')
		switch line = html.EscapeString(line); {
		case strings.HasPrefix(line, "+"):
			b.WriteString("<ins>" + line + "</ins>")
		case strings.HasPrefix(line, "-"):
			b.WriteString("<del>" + line + "</del>")
		default:
			b.WriteString(line)
		}
	}
	return markup(b.String())
}

func (h *htmlPage) remark(text string) {
	h.section()
	h.put("<p class=\"remark\">%s</p>\n", text)
}

func (h *htmlPage) foot() int {
	h.closeSection()
	h.put("</main>\n<footer><p>Exported by buddy: %s.</p></footer>\n<script>%s</script>\n</body>\n</html>\n",
		Exported{Secrets: h.secrets}.Note(), markup(pageScript))
	return h.secrets
}

// address matches the addresses that may become links.
var address = texts.Regexp(`(?i)\b(?:https?://|mailto:)[!#-;=?-_a-~]+`)

// withLinks escapes a text and makes links of its addresses. The text of a link is its address, so that it can't imitate
// another.
func withLinks(text string) markup {
	var b strings.Builder
	done := 0
	for _, at := range address().FindAllStringIndex(text, -1) {
		if at[1]-at[0] > maxLink || at[1] < len(text) && text[at[1]] >= utf8.RuneSelf {
			continue // an address with other characters could imitate another
		}
		link := withoutPunctuation(text[at[0]:at[1]])
		if !opens(link) {
			continue
		}
		b.WriteString(html.EscapeString(text[done:at[0]]))
		done = at[0] + len(link)
		link = html.EscapeString(link)
		b.WriteString(`<a href="` + link + `" rel="noopener noreferrer">` + link + `</a>`)
	}
	b.WriteString(html.EscapeString(text[done:]))
	return markup(b.String())
}

// withoutPunctuation removes the characters after an address in a sentence, and brackets that it doesn't open.
func withoutPunctuation(link string) string {
	for n := len(link); n > 0; n-- {
		switch last := link[n-1 : n]; {
		case strings.Contains(`.,;:!?'*_`, last):
		case last == ")" && strings.Count(link[:n], ")") > strings.Count(link[:n], "("):
		case last == "]" && strings.Count(link[:n], "]") > strings.Count(link[:n], "["):
		default:
			return link[:n]
		}
	}
	return ""
}

// opens reports whether a reader may open an address: a mail or web address without a user name, which could imitate a
// host.
func opens(link string) bool {
	u, err := url.Parse(link)
	return err == nil && u.User == nil && (u.Hostname() != "" || u.Scheme == "mailto" && u.Opaque != "")
}
