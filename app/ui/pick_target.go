package ui

import (
	"cmp"
	"slices"

	"buddy/agent/event"
	"buddy/app/slash"
	"buddy/views/dialog"
)

// chooseTarget lets a person choose a target; if there is one only it says where commands run.
func chooseTarget(u *UI) {
	u.deps.Background(func() func() {
		switch all, err := u.deps.Catalog.Targets.Offers(); {
		case err != nil:
			return func() { u.hint("", "/target: "+err.Error()) }
		case len(all) == 1:
			text := all[0].Only() // one that is away takes its time
			return func() { u.deps.Catalog.Notice(text) }
		default:
			return func() { pickTarget(&u.overlays, all, u.Tell) }
		}
	})
}

// targetColumns names what the list says of a target, the most useful first.
var targetColumns = []string{"name", "state", "kind", "address"}

// pickTarget lets a person choose where calls work that name no target. Those that are
// connected are asked meanwhile whether they still are.
func pickTarget(l *overlays, all []slash.TargetOffer, tell func(string)) {
	var p *dialog.Picker
	closed := false
	why := func(r dialog.PickerRow) {
		if i := slices.IndexFunc(all, func(o slash.TargetOffer) bool { return o.Name == r.ID }); all[i].State.Why != "" {
			p.Say(r.ID + ": " + all[i].State.Why)
		}
	}
	p = l.pick(dialog.PickerOptions{
		Title: "Targets", Hint: "type to filter", Columns: targetColumns, OnMove: why,
		OnChoose: func(r dialog.PickerRow) {
			l.unpick()
			if r.Mark {
				tell(slash.PlaceName(r.ID) + " is current already")
				return
			}
			l.deps.Send(event.SwitchTarget{Name: r.ID})
		},
		OnClose: func() { closed = true },
	})
	p.SetRows(targetRows(all))
	if i := slices.IndexFunc(all, func(o slash.TargetOffer) bool { return o.Current }); i >= 0 {
		p.Select(all[i].Name)
	}
	for i, o := range all {
		if o.Ask == nil {
			continue
		}
		l.deps.Background(func() func() {
			now := o.Ask()
			return func() {
				if closed {
					return
				}
				all[i].State = now
				p.SetRows(targetRows(all))
				if r, ok := p.Selected(); ok && r.ID == o.Name {
					why(r)
				}
			}
		})
	}
}

// targetRows describes targets. What is dangerous to mistake stands beside the name, which
// always shows.
func targetRows(all []slash.TargetOffer) []dialog.PickerRow {
	rows := make([]dialog.PickerRow, len(all))
	for i, o := range all {
		name := o.Name
		if o.Production {
			name += " · production"
		}
		rows[i] = dialog.PickerRow{ID: o.Name, Mark: o.Current, Cells: []string{name, o.State.Text, o.Kind, cmp.Or(o.Address, "–")}}
	}
	return rows
}
