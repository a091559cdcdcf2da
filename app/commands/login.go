package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/account"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
)

func init() {
	add(slash.Command{
		Name: "login", Means: []string{"key", "auth", "api"}, Args: "[NAME]", Brief: "add a provider's key, or log in", Early: true,
		Help: "save a provider's key, or log in to a profile",
	}, onLogin)
	add(slash.Command{Name: "logout", Args: "[NAME]", Help: "delete a saved key or login", Early: true}, onLogout)
}

// onLogin lists the accounts or logs in to the named one: it asks for a key, which is typed unseen, or follows a login
// in the browser. A key among the arguments was visible and is refused.
func onLogin(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	if textOf(args) == "" {
		return show.Answer{List: accountList(s.Setup.Config)}, nil
	}
	a, err := account.Find(s.Setup.Config, args[0])
	switch typed := s.now().Secret; {
	case errors.Is(err, account.ErrNoClient):
		return show.Say(err.Error()), nil // it is too long for one line
	case err != nil:
		return show.Answer{}, err
	case s.Say == nil:
		return show.Answer{}, fmt.Errorf("a key can't be typed here, because there is no terminal; run: buddy login %s", a.Name)
	case a.Browser && textOf(args[1:]) == arrived:
		return browserLoggedIn(ctx, s, a)
	case a.Browser:
		return browserLogin(ctx, s, a)
	case typed == "":
		return askKey(a, len(args) > 1), nil
	default:
		key, err := account.OneKey(typed)
		if err != nil {
			return show.Answer{}, err
		}
		text, err := a.Keep(ctx, key)
		if err != nil {
			return show.Answer{}, err
		}
		return loggedIn(s, a, text), nil
	}
}

func accountList(c config.Config) *show.List {
	list := show.List{Title: "Add an API key or log in", Columns: []string{"provider", "name", "now"}, Usage: "/login NAME adds a provider's key or logs in."}
	for _, a := range account.All(c) {
		list.Rows = append(list.Rows, show.Row{
			ID: a.Name, Cells: []string{cmp.Or(a.Provider.Title, a.Name), a.Name, a.Short()},
			Deeds: []show.Deed{{Label: "log in", Run: []string{"login", a.Name}, Closes: true}},
		})
	}
	return &list
}

// askKey asks for the key of an account. seen means that the user typed a key after /login, where it was visible.
func askKey(a account.Account, seen bool) show.Answer {
	q := show.Question{
		Title:   "Log in to " + a.Provider.Title,
		Lines:   []string{fmt.Sprintf("Type or paste the key. buddy saves it in %s, which only you can read.", config.Auth().Path())},
		Choices: []show.Deed{{Label: "save the key", Run: []string{"login", a.Name}, Secret: true}},
	}
	if seen {
		q.Lines = append([]string{"Type the key here, where it stays hidden. The key in the prompt was not saved."}, q.Lines...)
	}
	return show.Answer{Question: &q}
}

// arrived is the argument of the second /login, which is run when the login in the browser is complete. It is a
// separate command because the user may have switched models in the meantime.
const arrived = "arrived"

// browserLogin shows how to log in with the browser and waits for the login.
func browserLogin(ctx context.Context, s *Session, a account.Account) (show.Answer, error) {
	flow, err := a.Begin(ctx)
	if err != nil {
		return show.Answer{}, err
	}
	s.Say(account.HowTo(flow))
	if flow.Code == "" {
		go func() { _ = compose.OpenBrowser(flow.URL) }() // the user can open it, too
	}
	if err := flow.Wait(ctx); err != nil {
		return show.Say(a.Name + ": " + err.Error()), nil
	}
	return show.Answer{Then: []string{"login", a.Name, arrived}}, nil
}

// browserLoggedIn reports a successful login.
func browserLoggedIn(ctx context.Context, s *Session, a account.Account) (show.Answer, error) {
	text, ok, err := a.State(ctx)
	if err != nil || !ok {
		return show.Say(text), err
	}
	return loggedIn(s, a, text), nil
}

// loggedIn reports the login. It switches to the account's model if the demo answers only because no model was
// configured. If the account's model answers already, it is created again with the new key.
func loggedIn(s *Session, a account.Account, text string) show.Answer {
	now := s.now().Info
	same := now.Profile == a.Name || strings.HasPrefix(now.Profile, a.Name+"/")
	switch {
	case now.API == model.Demo && s.Setup.Config.Active == nil && s.Setup.Problem != "":
		s.Send(event.SwitchModel{Profile: a.Name})
	case same && a.Login.Issuer == "":
		s.Send(event.SwitchModel{Profile: now.Profile})
	case !same:
		text += " · /model " + a.Name + " switches to it"
	}
	return show.Say(text)
}

func onLogout(ctx context.Context, s *Session, args []string) (show.Answer, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	a, err := account.Find(s.Setup.Config, name)
	if err != nil {
		return show.Answer{}, err
	}
	text, err := a.Forget(ctx)
	return show.Say(text), err
}
