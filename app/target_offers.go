package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/app/slash"
	"buddy/tmux/host"
)

// offers lists the targets that may be switched to. It connects to none.
func (f *fleet) offers() []slash.TargetOffer {
	var all []slash.TargetOffer
	for _, t := range f.targets() {
		o := slash.TargetOffer{Name: t.name, Current: t.name == f.Current(), Production: t.setting.Production}
		o.Kind, o.Address = t.kind()
		p := f.place(t.name)
		switch err := f.failure(t.name); {
		case p == nil && err != nil:
			o.State = awayBecause(err)
		case p == nil:
			o.State.Text = "not yet connected"
		default:
			o.Folder, o.Attach, o.State.Text = p.at.dir, p.panes.AttachLine(), "connected"
			if p.panes.Pane() == "" {
				o.Attach = ""
			}
			if t.host != nil {
				o.State.Text, o.Ask = "asking …", t.alive
			}
		}
		all = append(all, o)
	}
	return all
}

// kind says what a target is and where.
func (t *target) kind() (kind, address string) {
	switch {
	case t.host == nil:
		return "this machine", ""
	case t.setting.SSH != "":
		return "ssh", t.setting.SSH
	case t.setting.Container != "":
		return "container", t.setting.Container
	}
	for _, kind := range []string{"ssh", "container"} {
		if address, ok := strings.CutSuffix(t.name, " ("+kind+")"); ok {
			return kind, address
		}
	}
	return "", t.name
}

// alive asks the target for a sign of life.
func (t *target) alive() slash.TargetState {
	took, err := t.ping()
	if err != nil {
		return awayBecause(err)
	}
	return slash.TargetState{Text: "connected · " + milliseconds(took)}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func awayBecause(err error) slash.TargetState {
	why := strings.Join(strings.Fields(err.Error()), " ")
	var down *host.DownError
	if errors.As(err, &down) {
		why = strings.TrimPrefix(why, down.Host+": ") // the row names it
	}
	return slash.TargetState{Text: "away: " + why, Why: why}
}
