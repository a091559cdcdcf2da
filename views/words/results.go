package words

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/views/markup"
)

// Result holds what a call gave.
type Result struct {
	Text   string // as the model reads it
	Failed bool
}

// cut stands for a result of which the model has only parts.
const cut = "the result was shortened"

// Result returns a result as people read it, "" for one that says nothing: without its envelope, numbers for
// programs, and what the model is told beside it. Where a call has printed something, that is what people read.
func (c Call) Result(r Result) string {
	text := withoutRemarks(r.Text)
	wrapped := strings.HasPrefix(text, `{"harness_timestamp"`) // a command that failed has its output in there, too
	if r.Failed && !wrapped {
		return problem(text)
	}
	all, ok := c.members(text)
	switch {
	case ok:
		return c.read(all)
	case wrapped:
		return cut
	}
	if list, ok := texts.Listed(text); ok {
		return list
	}
	return text
}

// members returns those of a result, without its envelope. What other programs return is a text.
func (c Call) members(result string) ([]texts.Member, bool) {
	var e struct {
		Stamp  json.RawMessage `json:"harness_timestamp"`
		Result json.RawMessage `json:"result"`
	}
	// What follows the object is for the model.
	if err := json.NewDecoder(strings.NewReader(result)).Decode(&e); err == nil && e.Stamp != nil {
		return texts.Members(string(e.Result))
	}
	if _, ours := tools[c.Tool()]; ours {
		return texts.Members(result)
	}
	return nil, false
}

// read returns the members that people read.
func (c Call) read(all []texts.Member) string {
	only := tools[c.Tool()].text
	var said []string
	for _, m := range all {
		switch {
		case m.Value == "" || m.Value == "none" || only != nil && !slices.Contains(only, m.Name):
		case len(only) > 0:
			said = append(said, strings.TrimRight(advice.ReplaceAllString(m.Value, ""), "\n"))
		case strings.Contains(m.Value, "\n"):
			said = append(said, m.Name+":\n  "+strings.ReplaceAll(strings.TrimRight(m.Value, "\n"), "\n", "\n  "))
		default:
			said = append(said, m.Name+": "+m.Value)
		}
	}
	if len(said) == 0 {
		return goesOn(all)
	}
	return strings.Join(said, "\n")
}

// goesOn says that a command runs on, "" if it does not.
func goesOn(all []texts.Member) string {
	id := ""
	for _, m := range all {
		switch {
		case m.Name == "running" && m.Value != "true":
			return ""
		case m.Name == "id":
			id = m.Value
		}
	}
	if id == "" || all[0].Name != "running" {
		return ""
	}
	return "in background (#" + id + ")"
}

// remarks lists how lines in brackets begin that are added to results for the model alone.
var remarks = []string{"buddy:", "hint: ", "the user changed ", "a hook changed ", "the whole result ", "the rest is "}

// advice matches what the notice of a sandbox tells the model to do.
var advice = regexp.MustCompile(` If that is why it failed: [^\n]*`)

// noteLine matches a note about a call that was corrected, after the reason why it failed.
var noteLine = regexp.MustCompile(`\n\[[^\n]*\]$`)

// listOfTools matches what an unknown name is answered with.
var listOfTools = regexp.MustCompile(` \((?:have|it may mean)[: ].*\)$`)

// withoutRemarks cuts off what the end of a result tells the model alone. A search goes through the results of a whole
// session, so it does without a regexp, which costs half of that.
func withoutRemarks(text string) string {
	if i := strings.Index(text, "<system-reminder>"); i >= 0 {
		text = strings.TrimRight(text[:i], "\n")
	}
	for at := 0; ; at += 2 {
		i := strings.Index(text[at:], "\n[")
		if i < 0 {
			return text
		}
		at += i
		line := text[at+2:]
		if slices.ContainsFunc(remarks, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			return text[:at]
		}
	}
}

// problem returns why a call failed, without what the model shall do about it.
func problem(text string) string {
	text = noteLine.ReplaceAllString(text, "")
	for again := true; again; {
		again = false
		for _, before := range []string{"Tool error: ", "Tool call skipped: ", "execution failed: "} {
			if rest, ok := strings.CutPrefix(text, before); ok {
				text, again = rest, true
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "not run: the same call failed "); ok {
		times, _, _ := strings.Cut(rest, " in the same way")
		return "not run: the same call failed " + times + " before"
	}
	text, _, _ = strings.Cut(text, "; tool_search finds")
	text = listOfTools.ReplaceAllString(text, "")
	if list, ok := texts.Listed(text); ok {
		return list
	}
	return text
}

// maxOutcome limits the columns of an outcome.
const maxOutcome = 24

// Outcome returns what came of a call that did its work, where a few words tell: the lines that were read,
// the matches that were found, the lines that were changed.
func (c Call) Outcome(result string) string {
	c = c.reached()
	if act := c.Action; (act.Kind == action.FileWrite || act.Kind == action.FileDelete) && act.Preview != "" {
		return diffCount(act)
	}
	fields := make(map[string]string)
	all, _ := c.members(result)
	for _, m := range all {
		fields[m.Name] = m.Value
	}
	switch {
	case c.Name == "exit_plan":
		return short(fields["decision"])
	case fields["running"] == "true":
		return short(goesOn(all))
	}
	return c.counted(fields)
}

// counted returns what a result has so many of, "" for nothing.
func (c Call) counted(fields map[string]string) string {
	content, read := fields["content"]
	entries, listed := fields["entries"]
	n, err := strconv.Atoi(fields["count"])
	_, matched := fields["matches"]
	switch {
	case read && fields["lines"] != "":
		return short("lines " + fields["lines"])
	case read && fields["image"] != "":
		return "a picture"
	case read:
		return texts.Plural(lines(content), "line")
	case listed && entries != "none":
		return texts.Plural(lines(entries), "entry")
	case c.Name == "web_search" && err == nil:
		return texts.Plural(n, "result")
	case err == nil && matched:
		return texts.Plural(n, "match")
	case err == nil:
		return texts.Plural(n, "file")
	}
	return ""
}

func short(text string) string { return markup.Shorten(texts.OneLine(text), maxOutcome) }

// Looked says what calls that look at files have looked at: Read 3 files, searched twice.
func Looked(files, searches, folders int) string {
	var all []string
	if files > 0 {
		all = append(all, "read "+texts.Plural(files, "file"))
	}
	if searches > 0 {
		all = append(all, "searched "+times(searches))
	}
	if folders > 0 {
		all = append(all, "listed "+texts.Plural(folders, "folder"))
	}
	return texts.Capital(strings.Join(all, ", "))
}

// times says how often something was done.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return texts.Plural(n, "time")
}

// diffCount counts what a change of files adds and deletes: +3 −1.
func diffCount(act action.Action) string {
	text := act.Preview
	if len(act.Paths) == 0 {
		text = markup.PreviewDiff(act.Path, text)
	}
	d := markup.NewDiff(text, markup.DiffView{Most: 1})
	return fmt.Sprintf("+%d −%d", d.Added, d.Deleted)
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
