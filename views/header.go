package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// Header is the first row of the screen. Narrow screens shorten and then drop its items,
// the least important first.
type Header struct {
	draw.Frame
	home      string
	zone      *time.Location
	info      state.Info
	approvals int
	left      bool

	NoTokens bool // tokens and costs are not shown
}

// NewHeader returns a header. home is shown as ~ in paths; zone is that of the time.
func NewHeader(theme *themes.Theme, keys *keymap.Map, home string, zone *time.Location) *Header {
	return &Header{Frame: draw.NewFrame(theme, keys), home: home, zone: zone}
}

// SetHome changes which folder is shown as ~.
func (h *Header) SetHome(home string) { h.home = home }

// Update takes over what changed.
func (h *Header) Update(s *state.State, ch state.Changed) {
	if ch&(state.Header|state.Approvals) != 0 || s.Info.Last != h.info.Last {
		h.info, h.approvals = s.Info, len(s.Approvals)
	}
}

// SetApprovalLeft tells the header that a person left the approval dialog open, so that the header
// reminds of it.
func (h *Header) SetApprovalLeft(left bool) { h.left = left }

// item is a part of the header in several lengths, the longest first; nil is none. ranks
// says how much it costs to go from each to the next.
type item struct {
	forms [][]draw.Span
	ranks []int
	right bool
}

func (i item) width() int { return draw.Width(i.forms[0]) }

// Draw draws what fits.
func (h *Header) Draw(screen tcell.Screen) {
	c := h.Whole(screen)
	c.Fill(0, c.W, h.Palette[themes.Header])
	items := fit(h.items(), c.W-2)
	at, end := 1, c.W-1
	for _, it := range items {
		if n := it.width(); it.right {
			end -= n
			c.Cols(end, end+n).Spans(0, it.forms[0]...)
			end -= itemGap
		} else if n > 0 {
			at += c.Cols(at, end).Spans(0, it.forms[0]...) + itemGap
		}
	}
}

const itemGap = 3

// fit shortens items, the cheapest first, until they fit into w cells.
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

// items are the header's parts from left to right, then from the right edge on.
func (h *Header) items() []item {
	name := item{forms: [][]draw.Span{{bar("buddy", true)}, nil}, ranks: []int{2}}
	if h.info.Event.Model == "" && h.info.Session == "" {
		return []item{name} // nothing is known yet
	}
	all := []item{name, h.model(), h.place(), h.context(), h.mode(), h.goal(), h.servers(), h.tokens(), h.session()}
	if h.left && h.approvals > 0 {
		all = slices.Insert(all, 1, h.waiting())
	}
	return all
}

// waiting reminds of a dialog that was left open. It is never dropped.
func (h *Header) waiting() item {
	text := draw.WaitingSign + " " + draw.Plural(h.approvals, "approval")
	long := bar(text+" · "+h.Keys.Name(keymap.ShowApproval), true)
	return item{forms: [][]draw.Span{{long}, {bar(text, true)}}, ranks: []int{5}}
}

// bar is text of ours on the header's background.
func bar(text string, strong bool) draw.Span {
	sp := draw.Text(themes.Header, text)
	if strong {
		sp.Style.Attr = markup.Bold
	}
	return sp
}

// outside is untrusted text on the header's background, at most w cells of it.
func outside(text string, w int) []draw.Span {
	return draw.Clip(draw.Untrusted(themes.Header, text), w)
}

func (h *Header) model() item {
	dot := bar("● ", false)
	name := h.info.Event.Model
	short := name[strings.LastIndexByte(name, '/')+1:]
	it := item{
		forms: [][]draw.Span{append([]draw.Span{dot}, outside(name, 40)...), append([]draw.Span{dot}, outside(short, 24)...), outside(short, 12), nil},
		ranks: []int{4, 10, 14},
	}
	if effort := h.info.Event.Effort; effort != "" {
		long := append(slices.Clone(it.forms[0]), outside(" · "+effort, 12)...)
		it.forms, it.ranks = slices.Insert(it.forms, 0, long), slices.Insert(it.ranks, 0, 0)
	}
	return it
}

// place is the target and the directory. Where commands run is kept longer if it is
// another machine.
func (h *Header) place() item {
	target, dir := h.info.Event.Target, h.info.Event.Cwd
	if rest, ok := strings.CutPrefix(dir, h.home); ok && h.home != "" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	base := dir[strings.LastIndexByte(dir, '/')+1:]
	join := func(parts ...string) []draw.Span {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		return outside(strings.Join(parts, " · "), 60)
	}
	if target == "local" {
		return item{forms: [][]draw.Span{join(target, dir), join(dir), join(base), nil}, ranks: []int{3, 7, 9}}
	}
	return item{forms: [][]draw.Span{join(target, dir), join(target, base), join(target), nil}, ranks: []int{3, 8, 12}}
}

const contextBar = 8 // cells

// healthRole gives the colours of a context that is not healthy.
var healthRole = map[event.Health]themes.Role{event.Hint: themes.Notice, event.Warned: themes.Warning, event.Critical: themes.Error}

// badge is text of ours that stands out of the header's background, in the reversed colours of a role.
func badge(r themes.Role, text string) draw.Span {
	sp := draw.Text(r, " "+text+" ")
	sp.Style.Attr = markup.Reverse
	return sp
}

// context is how full the model's context is.
func (h *Header) context() item {
	c := h.info.Context
	if c.Limit == 0 {
		return item{forms: [][]draw.Span{nil}}
	}
	full := max(0, min(contextBar, (c.Percent*contextBar+50)/100))
	gauge := strings.Repeat("▓", full) + strings.Repeat("░", contextBar-full)
	percent := fmt.Sprintf("%d%%", c.Percent)
	if advice := c.Health.Advice(); advice != "" { // then the percents are never dropped
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

// mode is how approvals are decided; anything but asking stands out. It is never dropped.
func (h *Header) mode() item {
	mode := h.info.Mode.Label()
	if mode == "" {
		mode = string(action.ModeAsk)
	}
	loud := mode != string(action.ModeAsk)
	short := []draw.Span{bar(mode, loud)}
	if h.info.Until == 0 {
		return item{forms: [][]draw.Span{short}}
	}
	until := time.UnixMilli(h.info.Until).In(h.zone).Format("15:04")
	return item{forms: [][]draw.Span{{bar(mode+" until "+until, loud)}, short}, ranks: []int{7}}
}

// goal is how far the goal is, while there is one.
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

// servers says how many MCP servers start, while any does.
func (h *Header) servers() item {
	n := h.info.Servers
	if n.Starting == 0 {
		return item{forms: [][]draw.Span{nil}}
	}
	long := fmt.Sprintf("%d of %s starting", n.Starting, draw.Plural(n.All, "server"))
	return item{
		forms: [][]draw.Span{{bar(long, false)}, {bar(fmt.Sprintf("%d/%d starting", n.Starting, n.All), false)}, nil},
		ranks: []int{2, 6},
	}
}

// tokens counts what the session used, and what that cost as far as it is known.
func (h *Header) tokens() item {
	u := h.info.Usage
	total := u.SessionPrompt + u.SessionCompletion
	if total == 0 || h.NoTokens {
		return item{forms: [][]draw.Span{nil}}
	}
	long := fmt.Sprintf("%s in %s out", draw.Count(u.SessionPrompt), draw.Count(u.SessionCompletion))
	short := draw.Count(total) + " tokens"
	if u.SessionCost == 0 {
		return item{forms: [][]draw.Span{{bar(long, false)}, {bar(short, false)}, nil}, ranks: []int{1, 5}}
	}
	cost := u.SessionCost.String()
	if u.SessionUnpriced > 0 {
		cost = "over " + cost // some requests are not in it
	}
	return item{
		forms: [][]draw.Span{{bar(long+" · "+cost, false)}, {bar(short+" · "+cost, false)}, {bar(cost, false)}, nil},
		ranks: []int{1, 3, 5},
	}
}

// session is its short id and the time of the last event (not a clock).
func (h *Header) session() item {
	if h.info.Session == "" {
		return item{forms: [][]draw.Span{nil}}
	}
	id, _, _ := strings.Cut(h.info.Session, "-")
	short := outside(id, 8)
	at := bar(" · "+time.UnixMilli(h.info.Last).In(h.zone).Format("15:04"), false)
	withTime := append(slices.Clone(short), at)
	return item{
		forms: [][]draw.Span{append([]draw.Span{bar("session ", false)}, withTime...), withTime, short, nil},
		ranks: []int{1, 4, 6}, right: true,
	}
}
