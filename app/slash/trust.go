package slash

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TrustState says whether something of the project is trusted.
type TrustState string

// The states.
const (
	Trusted     TrustState = "trusted"
	NotTrusted  TrustState = "not trusted"
	Changed     TrustState = "changed" // since it was trusted
	Untrustable TrustState = "can't be trusted"
)

// TrustItem is something of the project that does nothing before the person trusts it: a hook, a
// server, the settings. All text in it may be anybody's.
type TrustItem struct {
	Kind  string // hook, mcp and so on; settings
	Name  string
	Dir   string // in which it is trusted
	Print string // of the form that is shown
	State TrustState
	Runs  string   // the whole command, or what it grants
	Lines []string // all that a person should know before trusting it
}

// SettingsKind is the kind of the item that stands for the settings of a folder.
const SettingsKind = "settings"

// SettingsAlone reports whether nothing but the settings of the folder waits for trust, and nothing is
// trusted: they are trusted without a list.
func SettingsAlone(all []TrustItem) bool {
	return len(all) == 0 || len(all) == 1 && all[0].Kind == SettingsKind && all[0].Waits()
}

// Title names the item.
func (i TrustItem) Title() string { return i.Kind + " " + i.Name }

// Waits reports whether the item could be trusted and is not.
func (i TrustItem) Waits() bool { return i.State == NotTrusted || i.State == Changed }

// TrustList finds what of the project needs trust, and changes that.
type TrustList struct {
	// Folder trusts the settings of the folder. It returns what to say, "" when the session has
	// to begin anew.
	Folder func() (string, error)
	// List returns what needs trust, trusted or not. It reads files.
	List func() ([]TrustItem, error)
	// Set trusts items in the form in which they were listed, or ends that.
	Set func(on bool, items []TrustItem) error
	// Diff returns what changed in an item since it was trusted, "" where that is not known.
	Diff func(TrustItem) (string, error)

	shown []TrustItem // by OnTrust
}

// Waiting returns the items that could be trusted and are not.
func Waiting(all []TrustItem) []TrustItem {
	return slices.DeleteFunc(slices.Clone(all), func(i TrustItem) bool { return !i.Waits() })
}

// OnTrust lists what of the project needs trust, or with numbers of that list trusts it. Where
// there is nothing but settings it trusts the folder. The session begins anew with what is
// trusted.
func (c Catalog) OnTrust(s Frontend, args string) error {
	if err := s.Busy(); err != nil {
		return err
	}
	if args != "" {
		return c.trustNumbered(s, args)
	}
	Inform(s, "/trust", func() (text string, err error) {
		c.Trust.shown, err = c.Trust.List()
		return c.Trust.text(), err
	}, func(text string) {
		if !SettingsAlone(c.Trust.shown) {
			s.Say(text)
			return
		}
		if err := c.TrustFolder(s); err != nil {
			s.Failed("/trust", err)
		}
	})
	return nil
}

// TrustFolder trusts the folder with its settings as they were when the session began, and begins
// the session anew with them.
func (c Catalog) TrustFolder(s Frontend) error {
	text, err := c.Trust.Folder()
	switch {
	case err != nil:
		return err
	case text != "":
		s.Say(text)
		return nil
	}
	return s.Change(c.Current())
}

// trustNumbered changes the items that args name: all, or numbers; with forget before them they
// are no longer trusted.
func (c Catalog) trustNumbered(s Frontend, args string) error {
	words := strings.Fields(args)
	on := words[0] != "forget"
	if !on {
		words = words[1:]
	}
	if c.Trust.shown == nil {
		return fmt.Errorf("look at the list first: /trust")
	}
	var chosen []TrustItem
	for _, w := range words {
		n, err := strconv.Atoi(strings.TrimPrefix(w, "#"))
		switch {
		case w == "all" && on:
			chosen = append(chosen, Waiting(c.Trust.shown)...)
		case err != nil || n < 1 || n > len(c.Trust.shown):
			return fmt.Errorf("%q is not a number of the list (/trust shows %d), nor all", w, len(c.Trust.shown))
		default:
			chosen = append(chosen, c.Trust.shown[n-1])
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("say which: a number of the list, or all")
	}
	Inform(s, "/trust", func() (string, error) { return "", c.Trust.Set(on, chosen) }, func(string) {
		if err := s.Change(c.Current()); err != nil {
			s.Failed("/trust", err)
		}
	})
	return nil
}

// text is the list for plain mode, what was not decided yet in full.
func (l *TrustList) text() string {
	text := "what this project runs and grants, once you trust it:"
	for n, i := range l.shown {
		text += fmt.Sprintf("\n%3d  %s · %s", n+1, i.Title(), i.State)
		if i.State == Trusted {
			continue
		}
		for _, line := range i.Lines {
			text += "\n       " + line
		}
		if diff, err := l.Diff(i); i.State == Changed && err == nil && diff != "" {
			text += "\n       " + strings.ReplaceAll(strings.TrimSpace(diff), "\n", "\n       ")
		}
	}
	return text + "\n/trust N or /trust all trusts them as they are shown here, /trust forget N ends it"
}
