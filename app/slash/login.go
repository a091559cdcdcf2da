package slash

import (
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
)

// Usage says what may follow /login.
func (in Access) Usage() string {
	var names []string
	for _, a := range in.All() {
		names = append(names, a.Name)
	}
	return "Which provider? /login " + strings.Join(names, ", ")
}

// BrowserLogin waits for the person, whom tell tells what to do. It returns what to do where
// they sit.
func (in Access) BrowserLogin(s Frontend, a Account, tell func(text string)) func() {
	howTo, wait, err := a.Begin(in.Ctx)
	if err != nil {
		return func() { s.Failed("/login", err) }
	}
	tell(howTo)
	if err := wait(in.Ctx); err != nil {
		return func() { s.Say(a.Name + ": " + err.Error()) }
	}
	return func() { in.LoggedIn(s, a, fmt.Sprintf("%s: logged in at %s", a.Name, a.Issuer)) }
}

// LoggedIn says so. A demo that is a fallback gives way to the model that can be used now, one that
// was asked for stays; a model that was made without the key is made anew.
func (in Access) LoggedIn(s Frontend, a Account, text string) {
	now := s.Info()
	same := now.Profile == a.Name || strings.HasPrefix(now.Profile, a.Name+"/")
	switch {
	case now.API == model.Demo && in.DemoFallback:
		s.Say(text)
		s.Command(event.SwitchModel{Profile: a.Name})
	case same && a.Issuer == "":
		s.Say(text)
		s.Command(event.SwitchModel{Profile: now.Profile})
	case same:
		s.Say(text)
	default:
		s.Say(text + " · /model " + a.Name + " changes to it")
	}
}
