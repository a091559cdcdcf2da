package compose

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/app/slash"
	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tools/target"
)

// TargetOffers lists the targets that may be switched to. It connects to none.
func (p *Program) TargetOffers() []slash.TargetOffer { return targetOffers(p.Targets) }

// targetOffers is TargetOffers for a set.
func targetOffers(set *target.Set) []slash.TargetOffer {
	var all []slash.TargetOffer
	for _, t := range set.Targets() {
		o := slash.TargetOffer{Name: t.Name, Current: t.Name == set.Current(), Production: t.Production}
		o.Kind, o.Address = t.Kind()
		one := set.Session(t.Name)
		switch err := set.Failure(t.Name); {
		case one == nil && err != nil:
			o.State = awayBecause(err)
		case one == nil:
			o.State.Text = "not yet connected"
		default:
			o.Folder, o.Attach, o.State.Text = one.Env.Dir, one.Panes.AttachLine(), "connected"
			if one.Panes.Pane() == "" {
				o.Attach = ""
			}
			if t.Host != nil {
				o.State.Text, o.Ask = "asking …", func() slash.TargetState { return alive(t) }
			}
		}
		all = append(all, o)
	}
	return all
}

// alive asks a target for a sign of life.
func alive(t *target.Target) slash.TargetState {
	took, err := t.Ping()
	if err != nil {
		return awayBecause(err)
	}
	return slash.TargetState{Text: "connected · " + milliseconds(took)}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func awayBecause(err error) slash.TargetState {
	why := texts.OneLine(err.Error())
	if down, ok := errors.AsType[*host.DownError](err); ok {
		why = strings.TrimPrefix(why, down.Host+": ") // the row names it
	}
	return slash.TargetState{Text: "away: " + why, Why: why}
}
