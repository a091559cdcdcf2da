package compose

import (
	"testing"

	"buddy/app/apptest"
	"buddy/app/keymap"
)

// TestATakenKeyIsANoticeAndNoMistake: settings that use a key before buddy binds it stay valid, and one line with their
// location names the action that lost the key.
func TestATakenKeyIsANoticeAndNoMistake(t *testing.T) {
	d := apptest.NewSettings(t, "")
	d.Write(d.File, "[keys]\nredraw = [\"F9\"]\n")
	r := ReadSettings(&Options{})
	if r.Err != nil || r.Keys.Name(keymap.Redraw) != "F9" || r.Keys.Name(keymap.Rewind) != "" {
		t.Fatalf("error %v, redraw %q, rewind %q", r.Err, r.Keys.Name(keymap.Redraw), r.Keys.Name(keymap.Rewind))
	}
	want := d.File + ":2: keys.redraw: F9 was the key of rewind; now it is the key of this action, and rewind has no key left: set keys.rewind"
	if len(r.Notices) != 1 || r.Notices[0] != want {
		t.Errorf("notices %q, want %q", r.Notices, want)
	}
	d.Write(d.File, "[keys]\nredraw = [\"F9\"]\nrewind = [\"F12\"]\n")
	if r := ReadSettings(&Options{}); r.Err != nil || len(r.Notices) != 0 {
		t.Errorf("nothing is lost: %v, notices %q", r.Err, r.Notices)
	}
}
