package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Header is the first row of the screen. On narrow screens it shortens and then drops items, the least important first.
type Header struct {
	draw.Frame
	home      string
	zone      *time.Location
	info      state.Info
	approvals int
	left      bool

	Shown Shown
}

// Shown selects the optional parts of the header.
type Shown struct {
	Tokens bool // the session's tokens, or their cost
}

// NewHeader returns a header. home is shown as ~ in paths; zone is the time zone of displayed times.
func NewHeader(theme *themes.Theme, keys *keymap.Map, home string, zone *time.Location) *Header {
	return &Header{Frame: draw.NewFrame(theme, keys), home: home, zone: zone}
}

// SetHome changes the folder shown as ~.
func (h *Header) SetHome(home string) { h.home = home }

// Update processes changes of the state.
func (h *Header) Update(s *state.State, ch state.Changed) {
	if ch&(state.Header|state.Approvals) != 0 || s.Info.Last != h.info.Last {
		h.info, h.approvals = s.Info, len(s.Approvals)
	}
}

// SetApprovalLeft sets whether an approval is pending whose dialog the user left. The header then shows a reminder.
func (h *Header) SetApprovalLeft(left bool) { h.left = left }

// item is a part of the header in several lengths, the longest first; a nil form is empty. ranks[i] is the cost of
// replacing forms[i] by the next form.
type item struct {
	forms [][]draw.Span
	ranks []int
	right bool
}

func (i item) width() int { return draw.Width(i.forms[0]) }

// Draw draws the items that fit.
func (h *Header) Draw(screen tcell.Screen) {
	c := h.Whole(screen)
	c.Fill(0, c.W, h.Palette[themes.Header])
	items := fit(h.items(), c.W-2)
	at, end := 1, c.W-1
	for _, it := range items {
		if n := it.width(); n == 0 {
			continue
		} else if it.right {
			end -= n
			c.Cols(end, end+n).Spans(0, it.forms[0]...)
			end -= itemGap
		} else {
			at += c.Cols(at, end).Spans(0, it.forms[0]...) + itemGap
		}
	}
}

const itemGap = 3

// fit shortens items, in the order of their costs, until they fit into w cells.
func fit(items []item, w int) []item {
	for {
		total, weakest := -itemGap, -1
		for i, it := range items {
			if n := it.width(); n > 0 {
				total += n + itemGap
			}
			if len(it.ranks) > 0 && (weakest < 0 || it.ranks[0] < items[weakest].ranks[0]) {
				weakest = i
			}
		}
		if total <= w || weakest < 0 {
			return items
		}
		it := &items[weakest]
		it.forms, it.ranks = it.forms[1:], it.ranks[1:]
	}
}

// items returns the items from left to right, then the items at the right edge.
func (h *Header) items() []item {
	name := item{forms: [][]draw.Span{{bar("buddy", true)}, nil}, ranks: []int{2}}
	if h.info.Event.Model == "" && h.info.Session == "" {
		return []item{name} // no session yet
	}
	all := []item{name, h.model(), h.place(), h.context(), h.cost(), h.limit(), h.goal(), h.servers(), h.title(), h.mode()}
	if h.left && h.approvals > 0 {
		all = slices.Insert(all, 1, h.waiting())
	}
	return all
}

// waiting returns a reminder of open approvals, which is never dropped.
func (h *Header) waiting() item {
	text := draw.WaitingSign + " " + texts.Plural(h.approvals, "approval")
	long := bar(text+" · "+h.Keys.Name(keymap.ShowApproval), true)
	return item{forms: [][]draw.Span{{long}, {bar(text, true)}}, ranks: []int{5}}
}

// bar returns trusted text on the header's background.
func bar(text string, strong bool) draw.Span {
	sp := draw.Text(themes.Header, text)
	if strong {
		sp.Style.Attr = markup.Bold
	}
	return sp
}

// outside returns untrusted text on the header's background.
func outside(text string) []draw.Span { return draw.Untrusted(themes.Header, texts.OneLine(text)) }

// longest limits the cells of an item; a longer text uses a shorter form.
const longest = 60

// forms converts texts to the forms of an item and omits texts that are too wide. If all are too wide, it returns the
// start of the last text.
func forms(texts ...string) [][]draw.Span {
	var all [][]draw.Span
	for _, text := range texts {
		if spans := outside(text); draw.Width(spans) <= longest {
			all = append(all, spans)
		}
	}
	if len(all) == 0 {
		all = append(all, draw.Clip(outside(texts[len(texts)-1]), longest/2))
	}
	return all
}

func (h *Header) model() item {
	name, effort := h.info.Event.Model, h.info.Event.Effort
	if h.info.Fallback != "" {
		name, effort = h.info.Fallback, ""
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	texts, ranks := []string{"● " + name, "● " + short, short}, []int{4, 10, 14}
	if effort != "" {
		texts, ranks = slices.Insert(texts, 0, texts[0]+" · "+effort), slices.Insert(ranks, 0, 0)
	}
	return item{forms: append(forms(texts...), nil), ranks: ranks}.trimmed()
}

// trimmed drops the ranks of omitted forms.
func (i item) trimmed() item {
	i.ranks = i.ranks[len(i.ranks)-len(i.forms)+1:]
	return i
}

// place returns the target and the directory. A target other than this machine is dropped later than the directory.
func (h *Header) place() item {
	target, dir := h.info.Event.Target, h.info.Event.Cwd
	dir = texts.WithTilde(dir, h.home)
	base := dir[strings.LastIndexByte(dir, '/')+1:]
	if label := texts.Worktree(dir); label != "" {
		dir = label
	}
	join := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	}
	if target == "local" {
		return item{forms: append(forms(join(target, dir), dir, base), nil), ranks: []int{3, 7, 9}}.trimmed()
	}
	return item{forms: append(forms(join(target, dir), join(target, base), target), nil), ranks: []int{3, 8, 12}}.trimmed()
}

const contextBar = 8 // cells

// healthRole maps the health of a context to its role.
var healthRole = map[event.Health]themes.Role{event.Hint: themes.Notice, event.Warned: themes.Warning, event.Critical: themes.Error}

// badge returns trusted text in the reversed colours of a role.
func badge(r themes.Role, text string) draw.Span {
	sp := draw.Text(r, " "+text+" ")
	sp.Style.Attr = markup.Reverse
	return sp
}

// context returns the use of the model's context.
func (h *Header) context() item {
	c := h.info.Context
	if c.Limit == 0 {
		return item{forms: [][]draw.Span{nil}}
	}
	gauge := draw.Gauge(c.Percent, contextBar)
	percent := fmt.Sprintf("%d%%", c.Percent)
	if advice := c.Health.Advice(); advice != "" { // then the percentage is never dropped
		urgent := func(text string) []draw.Span { return []draw.Span{badge(healthRole[c.Health], text)} }
		return item{
			forms: [][]draw.Span{urgent("ctx " + gauge + " " + percent + " · " + advice), urgent("ctx " + percent + " · " + advice), urgent("ctx " + percent), urgent(percent)},
			ranks: []int{6, 9, 13},
		}
	}
	return item{
		forms: [][]draw.Span{{bar("ctx "+gauge+" "+percent, false)}, {bar("ctx "+percent, false)}, {bar(percent, false)}, nil},
		ranks: []int{6, 9, 13},
	}
}

// mode returns the approval mode, highlighted unless it is ask. It is never dropped.
func (h *Header) mode() item {
	text := []string{cmp.Or(h.info.Mode, action.ModeAsk).Label()}
	it := item{right: true, ranks: []int{7}}
	if h.info.Until != 0 {
		text = append(text, text[0]+" until "+texts.Until(time.UnixMilli(h.info.Last), time.UnixMilli(h.info.Until).In(h.zone), "15:04"))
	}
	for _, t := range slices.Backward(text) {
		it.forms = append(it.forms, []draw.Span{modeSpan(h.info.Mode, t)})
	}
	return it.trimmed()
}

// modeSpan returns the name of a mode in its colours.
func modeSpan(m action.Mode, text string) draw.Span {
	switch m {
	case action.ModeAll:
		return badge(themes.Error, text)
	case action.ModePlan:
		return badge(themes.Accent, text)
	}
	return bar(text, m != action.ModeAsk && m != "")
}

// goal returns the progress of the goal, if there is one.
func (h *Header) goal() item {
	g := h.info.Goal
	switch g.State {
	case event.GoalActive:
	case event.GoalPaused:
		return item{forms: [][]draw.Span{{bar("goal paused", true)}, nil}, ranks: []int{11}}
	default:
		return item{forms: [][]draw.Span{nil}}
	}
	count := fmt.Sprintf("goal %d", g.Used.Turns)
	if g.Limit.Turns > 0 {
		count += fmt.Sprintf("/%d", g.Limit.Turns)
	}
	return item{forms: [][]draw.Span{{bar(count+" turns", true)}, {bar(count, true)}, nil}, ranks: []int{5, 11}}
}

// servers returns the number of starting MCP servers, if any.
func (h *Header) servers() item {
	n := h.info.Servers
	if n.Starting == 0 {
		return item{forms: [][]draw.Span{nil}}
	}
	long := fmt.Sprintf("%d of %s starting", n.Starting, texts.Plural(n.All, "server"))
	return item{
		forms: [][]draw.Span{{bar(long, false)}, {bar(fmt.Sprintf("%d/%d starting", n.Starting, n.All), false)}, nil},
		ranks: []int{2, 6},
	}
}

// cost returns the known cost of the session, or else its tokens.
func (h *Header) cost() item {
	u := h.info.Usage
	total := u.SessionPrompt + u.SessionCompletion
	text := u.SessionCost.String()
	switch {
	case total == 0 || !h.Shown.Tokens:
		return item{forms: [][]draw.Span{nil}}
	case u.SessionCost == 0:
		text = texts.Count(total) + " tokens"
	case u.SessionUnpriced > 0:
		text = "≥ " + text // the cost of some requests is unknown
	}
	return item{forms: [][]draw.Span{{bar(text, false)}, nil}, ranks: []int{5}}
}

// nearLimit is the percentage of a rate limit from which the header shows it.
const nearLimit = 90

// limit returns the rate limit of the account that is used most, if it is nearly used up.
func (h *Header) limit() item {
	var most model.RateLimit
	for _, l := range h.info.Usage.Limits {
		if l.Percent() >= max(nearLimit, most.Percent()) {
			most = l
		}
	}
	if most.Limit == 0 {
		return item{forms: [][]draw.Span{nil}}
	}
	shown := func(format string) []draw.Span {
		return draw.Untrusted(themes.Warning, " "+fmt.Sprintf(format, texts.OneLine(most.Of), most.Percent())+" ")
	}
	return item{forms: [][]draw.Span{shown("limit of %s: %d%% used"), shown("%s %d%%"), nil}, ranks: []int{1, 8}}
}

// title returns the title of the session, or "session" and its short id. A long title loses words at its end.
func (h *Header) title() item {
	id, _, _ := strings.Cut(h.info.Session, "-")
	title := texts.OneLine(h.info.Event.Title)
	switch {
	case title == "" && id == "":
		return item{forms: [][]draw.Span{nil}}
	case title == "":
		return item{right: true, forms: [][]draw.Span{outside("session " + id), outside(id), nil}, ranks: []int{1, 6}}
	}
	it := item{right: true}
	for _, most := range []int{40, 24, 12} {
		if part := wordsOf(title, most); part != "" && (len(it.forms) == 0 || draw.TextWidth(part) < it.width()) {
			it.forms = append(it.forms, outside(part))
		}
	}
	it.forms = append(it.forms, nil)
	it.ranks = []int{1, 4, 6}
	return it.trimmed()
}

// wordsOf returns the first words of a text that fit into w cells, with … if some are missing; "" if the first word
// does not fit.
func wordsOf(text string, w int) string {
	if draw.TextWidth(text) <= w {
		return text
	}
	part := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimPrefix(part+" "+word, " ")
		if draw.TextWidth(longer)+2 > w {
			break
		}
		part = longer
	}
	if part == "" {
		return ""
	}
	return part + " …"
}
