package sessions

import (
	"bufio"
	"bytes"
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/redact"
)

var update = flag.Bool("update", false, "write golden files")

// dot is a picture of one pixel.
var dot = model.Image{MediaType: "image/gif", Data: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}

// written creates a session of these events and returns its id.
func written(t testing.TB, s Store, events ...event.Event) (id string) {
	t.Helper()
	const created = 1_780_000_000_000
	j, err := s.Create(Header{ID: "7f3a-1111-1111-1111", Created: created, Cwd: "/srv/shop", Target: "local", Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	id = j.Info().Header.ID
	for i, p := range events {
		env := event.Envelope{Seq: uint64(i) + 1, Time: created + int64(i)*1000, Session: id, Task: 1, Payload: p}
		if err := j.Append(env); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	return id
}

func said(text string) event.ModelMessage {
	return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
}

// shop is a session that has every part of a page.
func shop() []event.Event {
	run := func(id, command string) event.ToolRequested {
		return event.ToolRequested{CallID: id, Name: "run_shell", Arguments: "{}", Action: action.Action{Kind: action.Shell, Command: command}}
	}
	ok, bad := 0, 1
	return []event.Event{
		event.PromptSubmitted{ID: 1, Text: "!git status", Kind: event.Typed},
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.TaskFinished{ID: 1, Outcome: event.Completed},
		event.PromptSubmitted{ID: 2, Text: "Why do the tests fail?\nThe tax looks wrong, see (https://example.com/tax?a=1&b=2).", Kind: event.Opening, Images: []model.Image{dot}},
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.ModelMessage{Message: model.Message{Content: "I run the tests."}, Reasoning: "The tests tell more than the code."},
		run("a", "go test ./...\ngo vet ./..."),
		run("b", "git log -1"),
		event.ToolResult{CallID: "b", Name: "run_shell", Tail: "\x1b[33mcommit 1\x1b[0m", ExitCode: &ok},
		event.ToolResult{CallID: "a", Name: "run_shell", Tail: "\x1b[31mFAIL\x1b[0m tax_test.go:7: got 8 < 9", ExitCode: &bad},
		event.ToolRequested{CallID: "c", Name: "edit_file", Arguments: "{}", Action: action.Action{
			Kind: action.FileWrite, Path: "/srv/shop/tax.go", Preview: "+1 -1 lines, 40 → 40 bytes\n--- tax.go\n+++ tax.go\n@@ -1,2 +1,2 @@\n // tax rounds\n-return x < 8\n+return x < 9\n",
		}},
		event.ToolResult{CallID: "c", Name: "edit_file", Result: "written"},
		event.ToolRequested{CallID: "d", Name: "grep", Arguments: `{"pattern":"token=hunter2hunter2","path":"."}`},
		event.ToolResult{CallID: "d", Name: "grep"},
		said("Fixed: **tax** rounds up.\n\n```go\nreturn x < 9\n```\nMail mailto:tax@example.com, not javascript:alert(1)."),
		event.Notice{Text: "context is 80% full"},
		event.TaskFinished{ID: 1, Outcome: event.Completed},
		event.PromptSubmitted{ID: 3, Text: "Deploy it", Kind: event.Opening},
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		run("e", "make deploy"),
		event.ApprovalAnswered{CallID: "e", Decision: event.Deny, Reason: "not on Friday"},
		event.TaskFinished{ID: 1, Outcome: event.Cancelled},
	}
}

// A page has its parts in order: prompts as a table of contents, calls with their results, failed ones and changes open.
func TestPage(t *testing.T) {
	s := newStore(t)
	var out bytes.Buffer
	done, err := s.Export(&out, written(t, s, shop()...), HTML, redact.New().Text)
	if err != nil || done.Secrets != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	page := strings.NewReplacer(pageStyle, "STYLE\n", pageScript, "SCRIPT\n", string(permission(pageStyle)), "HASH OF STYLE",
		string(permission(pageScript)), "HASH OF SCRIPT").Replace(out.String())
	golden := filepath.Join("testdata", "session.html")
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(readFile(t, golden)); page != want {
		t.Errorf("%s differs; if you meant to change it: make golden\ngot:\n%s\nwant:\n%s", golden, page, want)
	}
	if all := violations(t, out.String()); len(all) > 0 {
		t.Errorf("the page: %q", all)
	}
}

// elements may be in a page, with these attributes.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "link": "rel href", "title": "", "style": "", "body": "",
	"header": "", "h1": "", "h2": "id", "p": "class", "div": "id class role hidden", "label": "for", "button": "id type",
	"input": "id type autocomplete spellcheck aria-keyshortcuts", "output": "id for", "nav": "aria-labelledby", "ol": "", "li": "value", "a": "href rel",
	"span": "class", "main": "", "section": "id aria-labelledby", "details": "class open", "summary": "", "pre": "class", "code": "", "b": "",
	"ins": "", "del": "", "img": "alt src", "footer": "", "script": "",
}

// violations lists what a browser would run or load because of a page, and broken links in it.
func violations(t testing.TB, page string) (all []string) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	doc.Find("*").Each(func(_ int, e *goquery.Selection) {
		node := e.Get(0)
		attributes, known := elements[node.Data]
		if !known {
			all = append(all, "element "+node.Data)
		}
		for _, a := range node.Attr {
			if !slices.Contains(strings.Fields(attributes), a.Key) {
				all = append(all, "attribute "+a.Key)
			}
			if a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") {
				all = append(all, "resource "+a.Val)
			}
			if a.Key == "id" && doc.Find(`[id="`+a.Val+`"]`).Length() != 1 {
				all = append(all, "two elements are "+a.Val)
			}
		}
		href, ok := e.Attr("href")
		switch {
		case !ok || node.Data == "link" && href == "data:,":
		case strings.HasPrefix(href, "#"):
			if doc.Find(href).Length() != 1 {
				all = append(all, "broken link "+href)
			}
		case e.AttrOr("rel", "") != "noopener noreferrer" || !regexp.MustCompile(`^(https?://|mailto:)`).MatchString(href):
			all = append(all, "link "+href)
		}
	})
	policy := "default-src 'none'; style-src '" + string(permission(doc.Find("style").Text())) + "'; script-src '" + string(permission(doc.Find("script").Text())) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
	if got := doc.Find("head > meta[charset] + meta[http-equiv='Content-Security-Policy']").AttrOr("content", ""); got != policy {
		all = append(all, "policy "+got)
	}
	if n := doc.Find("meta").Length(); n != strings.Count(htmlHead, "<meta") {
		all = append(all, strconv.Itoa(n)+" meta elements")
	}
	if regexp.MustCompile(`(?i)url\(|@import|fetch|XMLHttp|import\(|innerHTML|eval|sendBeacon|WebSocket|://`).MatchString(doc.Find("style").Text() + doc.Find("script").Text()) {
		all = append(all, "the style or the script can load something")
	}
	return all
}

// hostileTexts would act in a page that doesn't escape them.
var hostileTexts = []string{
	"<script>alert(1)</script>", "</script><script>alert(2)</script>", "</style><style>@import url(//evil.example)</style>",
	"</pre></details></section></main><iframe src=//evil.example></iframe>", `<img src="https://evil.example/p.png" onerror=alert(3)>`,
	`"><svg onload=alert(4)>`, `<a href="javascript:alert(5)">x</a>`, "<!-- <base href=//evil.example>", "<link rel=prefetch href=//evil.example>",
	`<meta http-equiv=refresh content="0;url=//evil.example">`,
}

// hostileEvents have a text everywhere, and a name of tools and types.
func hostileEvents(name, text string) []event.Event {
	change := action.Action{Kind: action.FileWrite, Path: text, Preview: text + "\n+" + text + "\n-" + text}
	code := 1
	return []event.Event{
		event.SessionRenamed{Title: text},
		event.PromptSubmitted{ID: 1, Text: text, Kind: event.Opening, Images: []model.Image{{MediaType: name, Data: []byte(name)}, {MediaType: "image/gif", Data: []byte("GIF89a" + name)}}},
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: text},
		event.ModelMessage{Message: model.Message{Content: text}, Reasoning: text},
		event.ToolRequested{CallID: "a", Name: name, Arguments: text},
		event.ToolResult{CallID: "a", Name: name, Tail: text, ExitCode: &code},
		event.ToolRequested{CallID: "b", Name: name, Action: change},
		event.ToolRequested{CallID: "c", Name: name, Action: action.Action{Command: text + "\n" + text}},
		event.ToolResult{CallID: "c", Result: text, IsError: true},
		event.ApprovalAnswered{CallID: "b", Decision: event.Deny, Reason: text},
		event.Notice{Text: text},
		event.TaskFinished{ID: 1, Outcome: event.Failed, Error: text},
	}
}

// No text of a session acts in a page. The same page acts if it has the text without escapes.
func TestPageRunsNothingOfTheSession(t *testing.T) {
	for _, text := range hostileTexts {
		s := newStore(t)
		page := export(t, s, written(t, s, hostileEvents(text, text)...), HTML)
		if all := violations(t, page); len(all) > 0 {
			t.Errorf("%s: %q", text, all)
		}
		if n := strings.Count(page, html.EscapeString(text)); n < 15 {
			t.Errorf("%s is %d times in the page", text, n)
		}
		acts := false
		for at := range strings.Count(page, html.EscapeString(text)) {
			parts := strings.SplitN(page, html.EscapeString(text), at+2)
			acts = acts || len(violations(t, strings.Join(parts[:at+1], html.EscapeString(text))+text+parts[at+1])) > 0
		}
		if !acts {
			t.Errorf("%s does not act without escapes", text)
		}
	}
}

// The policy names the hash of the style and the script: no other content is accepted.
func TestPagePolicyPermitsOnlyItsOwnScript(t *testing.T) {
	s := newStore(t)
	page := export(t, s, written(t, s, shop()...), HTML)
	for _, end := range []string{"</script>", "</style>"} {
		if all := violations(t, strings.Replace(page, end, " "+end, 1)); len(all) != 1 || !strings.HasPrefix(all[0], "policy ") {
			t.Errorf("a space before %s: %q", end, all)
		}
	}
	for _, add := range []string{"<script>1</script>", "<p style=color:red>", "<img src=https://evil.example>", "<a href=javascript:1>x</a>", `<a href="#p9">x</a>`} {
		if all := violations(t, strings.Replace(page, "</main>", add+"</main>", 1)); len(all) == 0 {
			t.Errorf("%s is no violation", add)
		}
	}
}

// Only complete web and mail addresses become links.
func TestAddressesBecomeLinks(t *testing.T) {
	for text, want := range map[string]string{
		"see https://example.com/a?b=1&c=2.": "https://example.com/a?b=1&c=2",
		"(http://example.com/Tax_(law))":     "http://example.com/Tax_(law)",
		"<https://example.com>":              "https://example.com",
		"[x](https://example.com/y)":         "https://example.com/y",
		"HTTPS://EXAMPLE.COM":                "HTTPS://EXAMPLE.COM",
		"mailto:a@example.com, please":       "mailto:a@example.com",
		"javascript:alert(1)":                "",
		"[x](javascript:alert(1))":           "",
		"data:text/html,<script>":            "",
		"file:///etc/passwd":                 "",
		"https://example.com/" + strings.Repeat("(", 9999) + strings.Repeat(")", 9999): "",
		"https://good.example@evil.example/":                                           "",
		"https://exаmple.com/":                                                         "", // a Cyrillic letter
		"https:///nothing mailto: https:// xhttp:":                                     "",
		`https://example.com/"onclick="alert(1)`:                                       "https://example.com/",
	} {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(withLinks(text))))
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Find("a").AttrOr("href", ""); got != want || doc.Find("a").Length() > 1 || doc.Text() != text {
			t.Errorf("%s: link %q, text %q, want %q", text, got, doc.Text(), want)
		}
	}
}

// Pictures are in the page up to a limit, and only files of the types that they claim to be.
func TestPicturesAreBounded(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	page := &htmlPage{document: document{w: w}}
	large := model.Image{MediaType: "image/png", Data: append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, model.MaxImage-8)...)}
	page.pictures([]model.Image{large, large, large, large, large, dot, {MediaType: "image/svg+xml", Data: []byte("<svg/>")}, {MediaType: "image/png", Data: dot.Data}})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n, left := strings.Count(text, "<img "), strings.Count(text, "a picture is left out"); n != 5 || left != 3 || len(text) > maxPagePictures*3/2 {
		t.Errorf("%d pictures in %d bytes, %d left out", n, len(text), left)
	}
	if !strings.Contains(text, `alt="Picture, image/gif, 35 bytes" src="data:image/gif;base64,R0lGODlh`) || !strings.Contains(text, "a page has at most") {
		t.Errorf("the small picture or the reason is missing: %.300s", text[len(text)-900:])
	}
}

// All formats hide secrets by their shape and by their randomness, also where escape sequences divide them, and say in
// how many places.
func TestExportsHideSecrets(t *testing.T) {
	secrets := []string{"sk-abcdefghij0123456789klmn", "Zk3pQ9vXw7LmT2bRf8HdYq4", "AKIA2E0A8F3B244C9986"}
	hides := func(s string) string { return redact.Entropy(redact.New().Text(s)) }
	keeps := func(s string) string { return s }
	for _, secret := range secrets {
		divided := secret[:9] + "\x1b[01;31m\x1b[K" + secret[9:15] + "\x1b[m\x1b[K" + secret[15:]
		for _, text := range []string{"the key: " + secret, "a\n" + secret + "\nb", "the key: " + divided} {
			s := newStore(t)
			id := written(t, s, hostileEvents("tool", text)...)
			for _, as := range ExportFormats {
				var out, control bytes.Buffer
				done, err := s.Export(&out, id, as, hides)
				if err != nil || done.Secrets < 10 || done.Note() != "secrets replaced in "+strconv.Itoa(done.Secrets)+" places" {
					t.Errorf("%s: %+v, %v", as, done, err)
				}
				if strings.Contains(out.String(), secret[:15]) || strings.Contains(out.String(), secret[9:]) {
					t.Errorf("%s has %q:\n%s", as, text, out.String())
				}
				if as != JSON && !strings.Contains(strings.ToLower(out.String()), done.Note()) {
					t.Errorf("%s has no note %q", as, done.Note())
				}
				if done, err := s.Export(&control, id, as, keeps); err != nil || done.Secrets != 0 || as != JSON && !strings.Contains(control.String(), secret) {
					t.Errorf("without redaction, %s lacks %q: %+v, %v", as, secret, done, err)
				}
			}
		}
	}
}

// The start of a prompt does not end within a secret, however much space the prompt has.
func TestStartOfAPromptHasNoPartOfASecret(t *testing.T) {
	const secret = "sk-abcdefghij0123456789klmn"
	for _, prompt := range []string{"x" + strings.Repeat(" ", 470) + secret, strings.Repeat("word ", 10) + secret + " and more words"} {
		s := newStore(t)
		var out bytes.Buffer
		events := []event.Event{event.PromptSubmitted{ID: 1, Text: prompt, Kind: event.Opening}, event.TaskStarted{ID: 1, Kind: event.MainTask}}
		if _, err := s.Export(&out, written(t, s, events...), HTML, redact.New().Text); err != nil {
			t.Fatal(err)
		}
		if page := out.String(); strings.Contains(page, "sk-abc") || !strings.Contains(page, `<a href="#p1">`) {
			t.Errorf("the page has a part of the secret:\n%s", page)
		}
	}
}

// After a rewind, the table of contents has the prompts that the page has.
func TestContentsAfterARewind(t *testing.T) {
	s := newStore(t)
	var events []event.Event
	for _, text := range []string{"first", "abandoned", "last"} {
		if text == "last" {
			events = append(events, event.HistoryRewound{ToSeq: 5, Prompt: "abandoned"})
		}
		events = append(events, event.PromptSubmitted{ID: 1, Text: text, Kind: event.Opening}, event.TaskStarted{ID: 1, Kind: event.MainTask},
			said("done"), event.TaskFinished{ID: 1, Outcome: event.Completed})
	}
	page := export(t, s, written(t, s, events...), HTML)
	if all := violations(t, page); len(all) > 0 || strings.Count(page, "<section") != 2 || strings.Count(page, "<li ") != 2 || strings.Contains(page, ">abandoned<") {
		t.Errorf("%q\n%s", all, page)
	}
}

// A call that ran while its answer streamed follows the answer, and is written even if the answer never ends.
func TestCallsFollowTheirAnswer(t *testing.T) {
	call := []event.Event{
		event.ModelPrefix{Message: model.Message{Content: "I lo"}}, event.ToolRequested{CallID: "a", Name: "early"}, event.ToolResult{CallID: "a", Result: "haystack"},
	}
	for _, as := range []ExportFormat{Markdown, HTML} {
		s := newStore(t)
		text := export(t, s, written(t, s, append(call, said("I look."), event.ToolRequested{CallID: "b", Name: "later"}, event.ToolResult{CallID: "b"})...), as)
		last := 0
		for _, part := range []string{"I look.", "early", "haystack", "later"} {
			at := strings.Index(text, part)
			if at < last || strings.Count(text, part) != 1 {
				t.Errorf("%s: %q is not in its place:\n%s", as, part, text)
			}
			last = at
		}
		s = newStore(t)
		if text := export(t, s, written(t, s, call...), as); !strings.Contains(text, "haystack") {
			t.Errorf("%s lacks the call of an answer without an end:\n%s", as, text)
		}
	}
}

// A page is written while its session is read.
func TestPageIsWrittenInPieces(t *testing.T) {
	s := newStore(t)
	var pieces pieceCounter
	id := stored(t, s, 500)
	if _, err := s.Export(&pieces, id, HTML, hide); err != nil || pieces.largest > 2*blockSize || pieces.n < 3 {
		t.Errorf("%+v, %v", pieces, err)
	}
}

type pieceCounter struct{ n, largest int }

func (p *pieceCounter) Write(b []byte) (int, error) {
	p.n, p.largest = p.n+1, max(p.largest, len(b))
	return len(b), nil
}
