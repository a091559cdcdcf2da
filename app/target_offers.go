package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/tmux/host"
)

// targetOffer is a target to choose from, with what is known of it without asking it.
type targetOffer struct {
	Name       string
	Kind       string // this machine, ssh or container
	Address    string // "" is this machine
	Folder     string // where commands start, "" is not known yet
	Attach     string // the line that attaches a terminal to its pane, "" while there is none
	Current    bool
	Production bool
	State      targetState
	Ask        func() targetState // asks for a sign of life, which may take long; nil: nothing is connected
}

// targetState says whether a target can be reached.
type targetState struct {
	Text string
	Why  string // it cannot, "" otherwise
}

// offers lists the targets that may be switched to. It connects to none.
func (f *fleet) offers() []targetOffer {
	var all []targetOffer
	for _, t := range f.targets() {
		o := targetOffer{Name: t.name, Current: t.name == f.Current(), Production: t.setting.Production}
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
func (t *target) alive() targetState {
	took, err := t.ping()
	if err != nil {
		return awayBecause(err)
	}
	return targetState{Text: "connected · " + milliseconds(took)}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func awayBecause(err error) targetState {
	why := strings.Join(strings.Fields(err.Error()), " ")
	var down *host.DownError
	if errors.As(err, &down) {
		why = strings.TrimPrefix(why, down.Host+": ") // the row names it
	}
	return targetState{Text: "away: " + why, Why: why}
}

// only says of the one target that there is how it is and how to watch it.
func (o targetOffer) only() string {
	text := "commands run on " + placeName(o.Name) + ", the only target"
	if o.Folder != "" {
		text += ", in " + o.Folder
	}
	if o.Ask != nil {
		text += " · " + o.Ask().Text
	}
	if o.Attach != "" {
		return text + " · attach: " + o.Attach
	}
	return text + " · [targets.NAME] in your settings adds others"
}
