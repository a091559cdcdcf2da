package ui

import (
	"fmt"
	"iter"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
)

// findingList lets a person walk the findings of a review, and open their files.
type findingList struct {
	u      *UI
	view   *dialog.Findings
	review *event.ReviewFinished
	opens  bool // a file is looked for
	lost   int  // the finding whose line is not known any more, as was just said; -1 is none
}

// showFindings lists what the last review found, or opens the file of one finding.
func showFindings(u *UI, args string) error {
	return lookBack(u, func(newest iter.Seq[*state.Block]) (func(), error) {
		r, n, err := slash.Findings(newest, args)
		return func() {
			l := openFindings(u, r)
			if n >= 0 {
				l.view.Select(n)
				l.open(n)
			}
		}, err
	})
}

// openFindings opens the dialog with the findings of a review.
func openFindings(u *UI, r *event.ReviewFinished) *findingList {
	title := fmt.Sprintf("%d · %s", len(r.Findings), r.What())
	l := &findingList{u: u, view: dialog.NewFindings(u.deps.Theme, u.deps.Keys, title, r.Findings), review: r, lost: -1}
	l.view.OnOpen, l.view.OnCopy, l.view.OnClose = l.open, u.copy, u.overlays.closeSheet
	u.overlays.sheet = l.view
	return l
}

// open opens the file of a finding at its line. A line that is not known any more is said; the same key again
// opens the file without it.
func (l *findingList) open(n int) {
	if l.opens {
		return
	}
	l.opens = true
	u, folder, anyway := l.u, l.u.state.Info.Event.Cwd, l.lost == n
	l.lost = -1
	u.deps.Background(func() func() {
		path, line, why := u.deps.Catalog.Place(folder, l.review, n)
		return func() {
			l.opens = false
			switch {
			case u.overlays.sheet != overlayView(l.view): // closed meanwhile
			case path == "":
				l.view.Say(why)
			case line == 0 && why != "" && !anyway:
				l.lost = n
				l.view.Say(why + " · " + u.deps.Keys.Name(keymap.OpenFinding) + " again opens the file at its beginning")
			default:
				if err := u.deps.OpenAt(path, line); err != nil {
					why = err.Error()
				}
				l.view.Say(why)
			}
		}
	})
}
