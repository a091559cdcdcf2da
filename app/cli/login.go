package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/account"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/views/markup"
)

func (s *cli) loginCommand() *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "login [NAME]",
		Short: "save a provider's API key or log in",
		Long: "login asks for a provider's API key without showing it and saves it in auth.json, next to your\n" +
			"settings, which only you can read. If stdin is not a terminal, its first line is the key. For a\n" +
			"profile with login_issuer or auth = \"login\", you log in with a browser.\n\n" +
			"NAME is a provider or profile from buddy models; the default is the active profile.",
		Example: "  buddy login openai\n  pass show openai | buddy login openai\n  buddy login --check anthropic",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := namedAccount(s.options, args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			if check {
				return checkLogin(ctx, a, s.out)
			}
			return logIn(ctx, a, s.in, s.out, s.err)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "only check for a key or a login; exit with 1 if there is none")
	return c
}

// namedAccount returns the account that the arguments name.
func namedAccount(f *compose.Options, args []string) (account.Account, error) {
	c, _, _, err := compose.LoadConfig(f)
	if err != nil {
		return account.Account{}, err
	}
	a, err := account.Find(c, strings.Join(args, ""))
	if err != nil {
		return a, exit.Usage("%v", err)
	}
	return a, nil
}

func (s *cli) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "logout [NAME]",
		Short:   "delete a saved key or login",
		Example: "  buddy logout openai",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := namedAccount(s.options, args)
			if err != nil {
				return err
			}
			text, err := a.Forget(context.Background())
			if err != nil {
				return exit.Failure(err)
			}
			_, err = fmt.Fprintln(s.out, markup.Plain(text))
			return exit.Failure(err)
		},
	}
}

func checkLogin(ctx context.Context, a account.Account, stdout io.Writer) error {
	text, ok, err := a.State(ctx)
	if err != nil {
		return exit.Failure(err)
	}
	if _, err := fmt.Fprintln(stdout, markup.Plain(text)); err != nil {
		return exit.Failure(err)
	}
	if !ok {
		return exit.Error{Code: exit.Failed}
	}
	return nil
}

// logIn logs in on the terminal.
func logIn(ctx context.Context, a account.Account, stdin, stdout, stderr *os.File) error {
	var text string
	var err error
	if !a.Browser {
		var key string
		if key, err = readKey(ctx, stdin, stderr, "key for "+a.Provider.Title+" (not shown): "); err == nil {
			text, err = a.Keep(ctx, key)
		}
	} else {
		text, err = browserLogin(ctx, a, stderr)
	}
	switch {
	case ctx.Err() != nil:
		return exit.Error{Code: exit.Cancelled, Text: "cancelled; nothing was saved"}
	case err != nil:
		return exit.Failure(err)
	}
	_, err = fmt.Fprintln(stdout, markup.Plain(text))
	return exit.Failure(err)
}

func browserLogin(ctx context.Context, a account.Account, stderr io.Writer) (string, error) {
	if text, ok, err := a.State(ctx); err == nil && ok {
		return text + "; to log out: buddy logout " + a.Name, nil
	}
	flow, err := a.Begin(ctx)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintln(stderr, "buddy: "+markup.Plain(account.HowTo(flow)))
	if flow.Code == "" {
		go func() { _ = compose.OpenBrowser(flow.URL) }() // the user can open it, too
	}
	if err := flow.Wait(ctx); err != nil {
		return "", err
	}
	text, _, err := a.State(ctx)
	return text, err
}

// readKey reads a key: from a terminal without echo, else from the first line.
func readKey(ctx context.Context, stdin *os.File, prompt io.Writer, ask string) (string, error) {
	var data []byte
	var err error
	if fd := int(stdin.Fd()); term.IsTerminal(fd) {
		_, _ = fmt.Fprint(prompt, ask)
		data, err = readUnseen(ctx, fd)
		_, _ = fmt.Fprintln(prompt)
	} else {
		data, err = io.ReadAll(io.LimitReader(stdin, account.MaxKeyLine+1))
	}
	if err != nil {
		return "", err
	}
	return account.OneKey(string(data))
}

// readUnseen reads a line without echo, and restores the terminal if ctx ends first, so that Ctrl-C does not leave it
// without echo.
func readUnseen(ctx context.Context, fd int) ([]byte, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type line struct {
		data []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		data, err := term.ReadPassword(fd)
		read <- line{data, err}
	}()
	select {
	case l := <-read:
		return l.data, l.err
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), term.Restore(fd, before))
	}
}
