package markup

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"buddy/themes"
)

// isDiff tells whether a language is that of unified diffs.
func isDiff(lang string) bool {
	return strings.EqualFold(lang, "diff") || strings.EqualFold(lang, "patch")
}

// Diff is a unified diff as people read it, the same wherever one shows: a line for each file, then the lines near to
// changes with their numbers and signs, added and deleted ones as bands in which the changed words are set off.
type Diff struct {
	Text           Text
	Added, Deleted int          // lines, in all of it
	More           int          // lines that are not in Text, because of Most
	Highlighter    *Highlighter // colours the code that is shown, if it is set; may be shared

	blocks []*codeBlock
}

// DiffView says what of a diff is laid out.
type DiffView struct {
	Most    int  // lines; 0 for all
	NoFiles bool // files have no line of their own: their place names them
	Tight   int  // so many lines fewer around changes than else
}

// NewDiff lays out the diffs of any number of files, which are foreign text. What is no diff shows as it is.
func NewDiff(src string, view DiffView) *Diff {
	d := &Diff{}
	w := diffWriter{renderer: &renderer{text: &d.Text, clean: cleaner{text: &d.Text}}, view: view}
	w.write(readDiff(src))
	d.Added, d.Deleted, d.More, d.blocks = w.added, w.deleted, w.more, w.found
	return d
}

// IsDiff reports whether a text begins as diffs of files do, with or without the commit that git names above them,
// and has changed lines. Text with escape sequences is drawn by a terminal's rules, and is none.
func IsDiff(src string) bool {
	head := src[:min(len(src), maxDiffHead)]
	line, rest, _ := strings.Cut(head, "\n")
	switch {
	case strings.ContainsRune(src, '\x1b'):
		return false
	case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "--- ") && strings.HasPrefix(rest, "+++ "):
	case strings.HasPrefix(line, "commit ") && strings.Contains(rest, "\ndiff --git "):
	default:
		return false
	}
	return slices.ContainsFunc(readDiff(src), func(f fileDiff) bool { return f.name != "" && f.added+f.deleted > 0 })
}

// maxDiffHead limits the message that a commit may have above its diff, in bytes.
const maxDiffHead = 8 << 10

// Show is told which bytes of Text are about to be drawn, and asks for the colours of their code.
func (d *Diff) Show(from, to int) {
	if d.Highlighter == nil {
		return
	}
	for _, b := range d.blocks {
		if b.given || b.plain() || int(b.lines[len(b.lines)-1].to) < from || int(b.lines[0].from) > to {
			continue
		}
		b.given = true
		d.Highlighter.ask(job{code: d.Text.codeOf(b.lang, b.lines), done: func(ts []tint) { d.Text.tint(b, b.lines, ts) }})
	}
}

// diffWriter writes diffs into the text of a renderer, within what it stands in there.
type diffWriter struct {
	*renderer
	view   DiffView
	indent string // before each line

	digits         int // of the numbers of the file
	lines, more    int // that were written, and that were not
	added, deleted int
}

// write writes the diffs of files.
func (w *diffWriter) write(files []fileDiff) {
	w.clean.all = true // people decide by it
	for i := range files {
		f := &files[i]
		w.added, w.deleted = w.added+f.added, w.deleted+f.deleted
		for _, note := range f.notes {
			if w.room() {
				w.plain(note, themes.Text)
			}
		}
		if f.name != "" && !w.view.NoFiles && w.room() {
			w.file(f)
		}
		w.digits = 0
		if f.last > 0 {
			w.digits = len(strconv.Itoa(f.last)) + 1
		}
		for k, h := range f.hunks {
			if k > 0 && w.room() {
				w.skipped(h.section)
			}
			w.hunk(h, f.language())
		}
	}
	w.clean.all = false
}

// room reports whether another line is wanted, and counts it.
func (w *diffWriter) room() bool {
	if w.view.Most > 0 && w.lines == w.view.Most {
		w.more++
		return false
	}
	w.lines++
	return true
}

// begin begins a line behind a gutter; role is that of its band, Text for none.
func (w *diffWriter) begin(gutter string, role themes.Role) {
	first, rest := w.first, w.rest+w.indent
	if first == "" {
		first = w.rest
	}
	w.first = ""
	w.text.Line(Hard, rest+strings.Repeat(" ", Width([]byte(gutter))))
	p := &w.text.Paras[len(w.text.Paras)-1]
	p.First, p.Band = first+w.indent+gutter, role
	w.clean.last = '\n'
}

// plain writes a line that is none of a diff.
func (w *diffWriter) plain(text string, role themes.Role) {
	w.begin("", themes.Text)
	w.say(cmp.Or(text, " "), Style{Role: role}) // without a blank it would have no row at the end
}

// file writes the line of a file: ✎ edit checkout/tax.go   +4 −1   1203 → 1280 bytes.
func (w *diffWriter) file(f *fileDiff) {
	w.begin("", themes.Text)
	w.text.Paras[len(w.text.Paras)-1].Wrap = Words
	name := f.name
	if f.was != "" {
		name = f.was + " → " + f.name
	}
	t := w.text
	t.addString(strings.TrimSpace("✎ "+f.verb)+" ", Style{Role: themes.ToolName})
	t.addLine(name, themes.Strong)
	if f.added+f.deleted > 0 {
		t.addString("   ", Style{})
		t.addString("+"+strconv.Itoa(f.added), Style{Role: themes.DiffAdd})
		t.addString(" ", Style{})
		t.addString("−"+strconv.Itoa(f.deleted), Style{Role: themes.DiffDelete})
	}
	if facts := strings.Join(f.facts, " "); facts != "" {
		t.addString("   ", Style{})
		t.addLine(facts, themes.Muted)
	}
}

// addLine appends foreign text of which all shows, on one line.
func (t *Text) addLine(s string, role themes.Role) {
	line := Line(s, Style{Role: role})
	t.addText(line, 0, len(line.Bytes))
}

// skipped says that lines are left out.
func (w *diffWriter) skipped(section string) {
	w.begin(fmt.Sprintf("%*s", max(w.digits-1, 0), "…")+" ", themes.Text)
	w.say(cmp.Or(strings.TrimSpace(section), " "), Style{Role: themes.Muted})
}

// hunk writes the lines of a hunk that are near to a change.
func (w *diffWriter) hunk(h hunk, lang string) {
	was, now := &codeBlock{lang: lang, text: true}, &codeBlock{lang: lang, text: true}
	p := partners{lines: h.lines}
	for i := range h.shown(max(0, diffContext-w.view.Tight)) {
		if !w.room() {
			continue
		}
		if i < 0 {
			w.skipped("")
			continue
		}
		l := h.lines[i]
		at := w.diffLine(l, p.changed(i))
		if l.sign == '-' || l.sign == ' ' {
			was.lines = append(was.lines, at)
		}
		if l.sign == '+' || l.sign == ' ' {
			now.lines = append(now.lines, at)
		}
	}
	both := []*codeBlock{was, now}
	if len(now.lines) > 0 && len(was.lines) > 0 && now.lines[0].from < was.lines[0].from {
		both = []*codeBlock{now, was}
	}
	for _, b := range both {
		if len(b.lines) > 0 {
			w.found = append(w.found, b)
		}
	}
}

// partners finds what changed within the lines of a hunk, which are asked for one after the other.
type partners struct {
	lines  []diffLine
	added  map[int]int     // which line a deleted one became
	pieces map[int][]piece // what is new in added lines
}

// changed returns what changed within a line.
func (p *partners) changed(i int) []piece {
	if p.lines[i].sign != '-' {
		return p.pieces[i]
	}
	if i == 0 || p.lines[i-1].sign != '-' {
		added := p.run(i, '-')
		p.added, p.pieces = map[int]int{}, map[int][]piece{}
		for k, to := range pairs(p.lines[i:added], p.lines[added:p.run(added, '+')]) {
			if to >= 0 {
				p.added[i+k] = added + to
			}
		}
	}
	to, ok := p.added[i]
	if !ok {
		return nil
	}
	was, now := changedPieces(p.lines[i].text, p.lines[to].text)
	p.pieces[to] = now
	return was
}

// run returns where a run of lines with one sign ends.
func (p *partners) run(i int, sign byte) int {
	for i < len(p.lines) && p.lines[i].sign == sign {
		i++
	}
	return i
}

// bands are the roles of lines by their signs, and those of the words in them that changed.
var bands = map[byte]struct{ line, word themes.Role }{
	'+': {themes.DiffAddBand, themes.DiffAddWord},
	'-': {themes.DiffDeleteBand, themes.DiffDeleteWord},
}

// diffLine writes a line of a hunk and returns where its text is.
func (w *diffWriter) diffLine(l diffLine, changed []piece) (at extent) {
	number := ""
	if l.number > 0 && l.sign != '\\' {
		number = strconv.Itoa(l.number)
	}
	gutter := fmt.Sprintf("%*s%c ", w.digits, number+" ", l.sign)
	if w.digits == 0 {
		gutter = string(l.sign) + " "
	}
	band, marked := bands[l.sign]
	st := Style{}
	if marked {
		st.BG = Background(band.line)
	}
	if l.sign == '\\' { // about the end of the file
		st.Role, l.text = themes.Muted, strings.TrimPrefix(l.text, " ")
	}
	w.begin(gutter, band.line)
	from, done := len(w.text.Bytes), 0
	for _, p := range marks(l.text, changed) {
		w.say(l.text[done:p.from], st)
		w.say(l.text[p.from:p.to], Style{BG: Background(band.word)})
		done = p.to
	}
	w.say(l.text[done:], st)
	if len(w.text.Bytes) == from { // else a line at the end would have no row
		w.text.addString(" ", st)
	}
	return extent{int32(from), int32(len(w.text.Bytes))}
}

const (
	tabShown = "····" // what a tab in a diff shows as
	tabBlank = "    " // and at the beginning of other code
	tabRole  = themes.Border
)

// say writes foreign text; tabs show.
func (w *diffWriter) say(text string, st Style) {
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			w.text.addString(tabShown, Style{Role: tabRole, BG: st.BG})
			w.clean.last = ' '
		}
		w.put([]byte(part), st)
	}
}

// FileMark begins the line that says of which file the diff below it is: its name and, after two blanks, what else is to
// be known of it.
const FileMark = "━ "

// PreviewDiff names the file of what a tool for files shows before it changes one: a line about it, then a diff.
func PreviewDiff(name, preview string) string {
	if strings.HasPrefix(preview, "--- ") { // nothing is said of it
		preview = "\n" + preview
	}
	return FileMark + name + "  " + preview
}

// lineCounts matches how the tools for files count what they change.
var lineCounts = regexp.MustCompile(`^(?:(.*), )?\+(\d+) -(\d+) lines, (.*)$`)

// marked takes the line that FileMark begins. The counts in it are those of all lines, also where the diff was cut.
func (r *diffReader) marked(line string) bool {
	line, ok := strings.CutPrefix(line, FileMark)
	at := strings.LastIndex(line, "  ")
	if !ok || at < 0 {
		return false
	}
	f := fileDiff{name: line[:at], facts: []string{line[at+2:]}, marked: true}
	if m := lineCounts.FindStringSubmatch(f.facts[0]); m != nil {
		f.added, _ = strconv.Atoi(m[2]) // there are no lines of more digits than an int has
		f.deleted, _ = strconv.Atoi(m[3])
		f.counted = true
		said := slices.DeleteFunc(strings.Split(m[1], ", "), func(s string) bool {
			return s == "" || s == "new file" || s == "deletes the file" || s == "deleted" // the diff says so
		})
		f.facts = []string{strings.Join(append(said, m[4]), ", ")}
	}
	r.begin(f)
	return true
}

// DiffFile says of which file a diff is, what happens to it, and how many lines that are.
type DiffFile struct {
	Verb, Name     string // Verb is edit, new, delete or rename
	Added, Deleted int
}

// DiffFiles returns the files that a diff names. Their names are foreign text.
func DiffFiles(src string) []DiffFile {
	var all []DiffFile
	for _, f := range readDiff(src) {
		if f.name != "" {
			all = append(all, DiffFile{f.verb, f.name, f.added, f.deleted})
		}
	}
	return all
}
