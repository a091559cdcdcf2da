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

// isDiff reports whether a language names unified diffs.
func isDiff(lang string) bool {
	return strings.EqualFold(lang, "diff") || strings.EqualFold(lang, "patch")
}

// Diff is a unified diff laid out for people: a line for each file, then the lines near changes with numbers and signs.
// Added and deleted lines are bands with the changed words highlighted.
type Diff struct {
	Text           Text
	Added, Deleted int          // lines in the whole diff
	More           int          // lines missing in Text because of DiffView.Most
	Highlighter    *Highlighter // colours the visible code, if set; may be shared

	blocks []*codeBlock
}

// DiffView configures the layout of a diff.
type DiffView struct {
	Most    int  // maximum number of lines; 0: no limit
	NoFiles bool // omit the lines of files, because the view shows the names elsewhere
	Tight   int  // number of context lines to omit around changes
}

// NewDiff lays out the diffs of any number of files, which are untrusted. Text that is no diff is shown unchanged.
func NewDiff(src string, view DiffView) *Diff {
	d := &Diff{}
	w := diffWriter{renderer: &renderer{text: &d.Text, clean: cleaner{text: &d.Text}}, view: view}
	w.write(readDiff(src))
	d.Added, d.Deleted, d.More, d.blocks = w.added, w.deleted, w.more, w.found
	return d
}

// IsDiff reports whether a text starts with a diff, or with a commit message above a diff, and has changed lines. It
// returns false for text with escape sequences, which is drawn like terminal output.
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

// maxDiffHead limits the message of a commit above its diff, in bytes.
const maxDiffHead = 8 << 10

// Show requests colours for the code in the bytes from..to, which are about to be drawn.
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

// diffWriter writes diffs into a renderer's text, inside the current containers.
type diffWriter struct {
	*renderer
	view   DiffView
	indent string // before each line

	digits         int // of the line numbers of the file
	lines, more    int // written and omitted lines
	added, deleted int
}

// write writes the diffs of files.
func (w *diffWriter) write(files []fileDiff) {
	w.clean.all = true // diffs are a basis for decisions
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

// room counts a line and reports whether it fits.
func (w *diffWriter) room() bool {
	if w.view.Most > 0 && w.lines == w.view.Most {
		w.more++
		return false
	}
	w.lines++
	return true
}

// startLine starts a line with a gutter; role is the band of the line, Text for none.
func (w *diffWriter) startLine(gutter string, role themes.Role) {
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

// plain writes a line outside of diffs.
func (w *diffWriter) plain(text string, role themes.Role) {
	w.startLine("", themes.Text)
	w.addForeign(cmp.Or(text, " "), Style{Role: role}) // without a space the last line would have no row
}

// file writes the line of a file: ✎ edit checkout/tax.go   +4 −1   1203 → 1280 bytes.
func (w *diffWriter) file(f *fileDiff) {
	w.startLine("", themes.Text)
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

// addLine appends foreign text on one line, with everything visible.
func (t *Text) addLine(s string, role themes.Role) {
	line := Line(s, Style{Role: role})
	t.addText(line, 0, len(line.Bytes))
}

// skipped writes a line in place of omitted lines.
func (w *diffWriter) skipped(section string) {
	w.startLine(fmt.Sprintf("%*s", max(w.digits-1, 0), "…")+" ", themes.Text)
	w.addForeign(cmp.Or(strings.TrimSpace(section), " "), Style{Role: themes.Muted})
}

// hunk writes the lines of a hunk that are near a change.
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

// partners finds the changed words of a hunk's lines, which must be requested in order.
type partners struct {
	lines  []diffLine
	added  map[int]int     // index of the added line that replaced a deleted line
	pieces map[int][]piece // new parts of added lines
}

// changed returns the changed parts of a line.
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

// run returns the end of a run of lines with one sign.
func (p *partners) run(i int, sign byte) int {
	for i < len(p.lines) && p.lines[i].sign == sign {
		i++
	}
	return i
}

// bands maps signs to the roles of lines and of changed words.
var bands = map[byte]struct{ line, word themes.Role }{
	'+': {themes.DiffAddBand, themes.DiffAddWord},
	'-': {themes.DiffDeleteBand, themes.DiffDeleteWord},
}

// diffLine writes a line of a hunk and returns its extent.
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
	if l.sign == '\\' { // a note about the end of the file
		st.Role, l.text = themes.Muted, strings.TrimPrefix(l.text, " ")
	}
	w.startLine(gutter, band.line)
	from, done := len(w.text.Bytes), 0
	for _, p := range marks(l.text, changed) {
		w.addForeign(l.text[done:p.from], st)
		w.addForeign(l.text[p.from:p.to], Style{BG: Background(band.word)})
		done = p.to
	}
	w.addForeign(l.text[done:], st)
	if len(w.text.Bytes) == from { // without a space the last line would have no row
		w.text.addString(" ", st)
	}
	return extent{int32(from), int32(len(w.text.Bytes))}
}

const (
	tabShown = "····" // shown for a tab in a diff
	tabBlank = "    " // shown for a tab at the start of a line of other code
	tabRole  = themes.Border
)

// addForeign writes foreign text with visible tabs.
func (w *diffWriter) addForeign(text string, st Style) {
	for i, part := range strings.Split(text, "\t") {
		if i > 0 {
			w.text.addString(tabShown, Style{Role: tabRole, BG: st.BG})
			w.clean.last = ' '
		}
		w.put([]byte(part), st)
	}
}

// FileMark starts the line that names the file of the diff below it. The name is followed by two spaces and the summary
// of the change, if there is one.
const FileMark = "━ "

// PreviewDiff adds a line with the name of the file to the preview of a change by a file tool. The preview is a diff,
// usually below a line that summarizes the change.
func PreviewDiff(name, preview string) string {
	if strings.HasPrefix(preview, "--- ") { // there are no facts
		preview = "\n" + preview
	}
	return FileMark + name + "  " + preview
}

// lineCounts matches the counts that file tools print.
var lineCounts = regexp.MustCompile(`^(?:(.*), )?\+(\d+) -(\d+) lines, (.*)$`)

// marked parses a line with FileMark. The counts in it include lines that are cut from the diff below.
func (r *diffReader) marked(line string) bool {
	line, ok := strings.CutPrefix(line, FileMark)
	at := strings.LastIndex(line, "  ")
	if !ok || at < 0 {
		return false
	}
	f := fileDiff{name: line[:at], facts: []string{line[at+2:]}, marked: true}
	if m := lineCounts.FindStringSubmatch(f.facts[0]); m != nil {
		f.added, _ = strconv.Atoi(m[2]) // no count has more digits than an int
		f.deleted, _ = strconv.Atoi(m[3])
		f.counted = true
		facts := slices.DeleteFunc(strings.Split(m[1], ", "), func(s string) bool {
			return s == "" || s == "new file" || s == "deletes the file" || s == "deleted" // the diff has this information
		})
		f.facts = []string{strings.Join(append(facts, m[4]), ", ")}
	}
	r.addFile(f)
	return true
}

// DiffFile describes a file in a diff.
type DiffFile struct {
	Verb, Name     string // Verb is edit, new, delete or rename
	Added, Deleted int
}

// DiffFiles returns the files in a diff. Their names are untrusted.
func DiffFiles(src string) []DiffFile {
	var all []DiffFile
	for _, f := range readDiff(src) {
		if f.name != "" {
			all = append(all, DiffFile{f.verb, f.name, f.added, f.deleted})
		}
	}
	return all
}
