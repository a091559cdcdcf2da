package ui

import (
	"fmt"
	"strconv"

	"buddy/app/slash"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// choosePermission lists the rules that apply; choosing one deletes it after a question.
func choosePermission(u *UI) {
	all, err := u.deps.Catalog.Rules.Now()
	if err != nil {
		u.hint("", "/permissions: "+err.Error())
		return
	}
	var p *dialog.Picker
	p = u.overlays.pick(dialog.PickerOptions{
		Title: "Rules that apply", Hint: "type to filter; Enter deletes", Columns: []string{"rule", "from"},
		Empty: "none: the mode alone decides; s in an approval adds one for the session",
		OnChoose: func(r dialog.PickerRow) {
			n, err := strconv.Atoi(r.ID)
			if err != nil || n >= len(all) {
				return
			}
			gone := all[n]
			question := fmt.Sprintf("Delete the rule %q?", markup.Shorten(gone.Text(), 60))
			if gone.Place != "" {
				question = fmt.Sprintf("Delete the rule %q, also from %s?", markup.Shorten(gone.Text(), 40), gone.Place)
			}
			p.Confirm(question, func() {
				u.overlays.unpick()
				u.deps.Catalog.Forget(u.frontend(), gone)
			})
		},
	})
	p.SetRows(permissionRows(all))
}

// permissionRows describes rules, by their number in the list.
func permissionRows(all []slash.Permission) []dialog.PickerRow {
	rows := make([]dialog.PickerRow, len(all))
	for i, r := range all {
		rows[i] = dialog.PickerRow{ID: strconv.Itoa(i), Cells: []string{r.Text(), r.From()}}
	}
	return rows
}
