package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"buddy/app/account"
	"buddy/app/compose"
	"buddy/app/doctor"
	"buddy/app/exit"
	"buddy/config"
	"buddy/views/markup"
)

type setup struct {
	*cli
	name, keyEnv string // of a new profile
	noKey        bool
	config       config.Config
	index        config.Index
}

func (c *cli) initCommand() *cobra.Command {
	s := &setup{cli: c}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "choose the default model",
		Long: "init asks which model to use, asks for its API key if it needs one, tries the model, and writes one\n" +
			"line into your settings; the rest of the file stays. It lists the server's models, and asks again\nafter a mistake or if the model does not answer, unless you choose the model anyway.\nWith --model it asks nothing. With --base-url as well, it adds a profile, which needs a key that is\nset already, or --no-key.",
		Example: "  buddy init\n  buddy init --model openai\n  buddy init --base-url https://llm.example.com/v1 --model m-1 --key-env EXAMPLE_KEY",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return s.run() },
	}
	cmd.Flags().StringVar(&s.name, "name", "", "with --base-url: the new profile's `name`")
	cmd.Flags().StringVar(&s.keyEnv, "key-env", "", "with --base-url: the environment `variable` that holds the server's API key")
	cmd.Flags().BoolVar(&s.noKey, "no-key", false, "with --base-url: the server needs no key")
	cmd.MarkFlagsMutuallyExclusive("key-env", "no-key")
	return cmd
}

func (s *setup) run() error {
	var err error
	if s.config, s.index, _, err = compose.LoadConfig(&compose.Options{Config: s.options.Config}); err != nil {
		return err
	}
	name := s.options.Model
	switch {
	case s.options.BaseURL != "":
		name, err = s.addUnasked(config.Profile{Name: s.name, BaseURL: s.options.BaseURL, Model: name, KeyEnv: s.keyEnv})
	case s.name != "" || s.keyEnv != "" || s.noKey:
		return exit.Usage("--name, --key-env and --no-key need --base-url")
	case name != "":
		err = s.usable(name)
	case !term.IsTerminal(int(s.in.Fd())):
		return exit.Usage("init needs a terminal for its questions; without one, use --model NAME (buddy models lists the names)")
	default:
		name, err = s.ask()
	}
	if err == nil {
		err = config.SetModel(s.config.File, name)
	}
	if _, ok := errors.AsType[exit.Error](err); ok {
		return err
	}
	if err != nil {
		return exit.Failure(err)
	}
	_, err = fmt.Fprintln(s.out, markup.Plain(fmt.Sprintf("buddy now starts with %s, saved in %s", name, s.config.File)))
	return exit.Failure(err)
}

// usable returns an error if the model with the given name can't be used.
func (s *setup) usable(name string) error {
	p, ok := s.config.Lookup(name)
	if !ok && name != config.Demo {
		return fmt.Errorf("%q is neither a name from buddy models nor NAME/MODEL", name)
	}
	if problem := p.Problem(); ok && problem != "" {
		return errors.New(problem)
	}
	return nil
}

// addUnasked saves the new profile from the flags, unless its key is missing, and returns its name.
func (s *setup) addUnasked(p config.Profile) (string, error) {
	p, err := s.named(p)
	if err != nil {
		return "", err
	}
	if s.noKey {
		p.APIKey = config.NoKey()
	}
	// A server on this machine needs no key, but a named variable is expected to hold one.
	if key, source, err := p.Key(); err == nil && key == "" && source != "" && !s.noKey {
		return "", fmt.Errorf("model profile %q has no key: %s is not set", p.Name, source)
	}
	if problem := p.Problem(); problem != "" {
		return "", errors.New(problem)
	}
	return p.Name, config.AddProfile(s.config.File, p)
}

// named returns the new profile with a name. If p has none, the name is made from the host in p's address.
func (s *setup) named(p config.Profile) (config.Profile, error) {
	if p.Name == "" {
		p.Name = "own"
		if u, err := url.Parse(p.BaseURL); err == nil && u.Hostname() != "" {
			p.Name = strings.ReplaceAll(u.Hostname(), ".", "-")
		}
	}
	if _, taken := s.config.Profile(p.Name); taken {
		return p, fmt.Errorf("a profile %q exists already: choose another --name", p.Name)
	}
	return p, nil
}

// ask asks for the model on the terminal.
func (s *setup) ask() (string, error) {
	offers := compose.OffersOf(context.Background(), s.config, s.index, true)
	first := s.list(offers)
	for {
		answer, err := s.question(fmt.Sprintf("Which one? [%d]: ", first))
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(cmp.Or(answer, strconv.Itoa(first)))
		name := ""
		switch {
		case err != nil || n < 1 || n > len(offers)+1:
			err = fmt.Errorf("%q is not a number from 1 to %d", answer, len(offers)+1)
		case n == len(offers)+1:
			name, err = s.another()
		default:
			name, err = s.prepare(offers[n-1])
		}
		ended, ok := errors.AsType[exit.Error](err)
		if err == nil || errors.Is(err, errCancelled) || ok && ended.Code == exit.Cancelled {
			return name, err
		}
		s.hint("%v", err)
	}
}

// list prints the numbered choices, and returns the number of the first usable one, 0 if none is.
func (s *setup) list(offers []compose.Offer) (first int) {
	t := tabwriter.NewWriter(s.err, 0, 0, 2, ' ', 0)
	for i, o := range offers {
		state := o.From + ", " + o.Why
		switch _, err := account.Find(s.config, o.Name); {
		case o.Usable && first == 0:
			first = i + 1
		case !o.Usable && err == nil:
			state = o.From + ", needs a key"
		case !o.Usable:
			state = o.From + ", " + o.Lack()
		}
		_, _ = fmt.Fprintf(t, "%3d  %s\t%s\t%s\n", i+1, markup.Inline(o.Name), markup.Inline(o.Model), markup.Inline(state))
	}
	_, _ = fmt.Fprintf(t, "%3d  another server\t\tany server that speaks the OpenAI or Anthropic protocol\n", len(offers)+1)
	_ = t.Flush()
	return first
}

// errNotTaken means that the user rejected the model, so that the list of models is shown again.
var errNotTaken = errors.New("not saved; choose again")

// accept tests a model, and returns nil if the model answers or the user wants to use it anyway. It first prints found.
func (s *setup) accept(p config.Profile, found ...doctor.Finding) error {
	s.printFindings(found...)
	if p.Problem() == "" {
		_, _ = fmt.Fprintln(s.err, "buddy: testing the model …")
		answer := doctor.AskModel(context.Background(), p)
		s.printFindings(answer)
		if answer.State == doctor.Fine {
			return nil
		}
	}
	reply, err := s.question("Enter to use it anyway, n to choose again: ")
	if err == nil && reply != "" {
		err = errNotTaken
	}
	return err
}

func (s *setup) printFindings(all ...doctor.Finding) { _, _ = io.WriteString(s.err, doctor.Text(all)) }

// prepare asks for an offer's missing key or login and for one of its models, tests the model and returns its name.
func (s *setup) prepare(o compose.Offer) (string, error) {
	p, ok := s.config.Lookup(o.Name)
	if !ok {
		return o.Name, nil // the demo
	}
	if !o.Usable {
		a, err := account.Find(s.config, o.Name)
		if err != nil {
			return "", errors.New(o.Why)
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err = logIn(ctx, a, s.in, s.err, s.err)
		stop()
		if err != nil {
			return "", err
		}
	}
	name := o.Name
	if provider, known := config.FindProvider(o.Name); known && p.Bundled() {
		all, err := s.models(p)
		if err != nil {
			s.hint("%v", err)
		}
		for ok = false; !ok; {
			id, err := s.chooseModel(all, provider.Model)
			if err != nil {
				return "", err
			}
			if name = o.Name; id != provider.Model {
				name += "/" + id
			}
			if p, ok = s.config.Lookup(name); !ok {
				s.hint("%q can't be a model's id", id)
			}
		}
	}
	return name, s.accept(p)
}

// errCancelled ends the questions.
var errCancelled = errors.New("cancelled; nothing was changed")

// question prints a text and reads one line. It reads byte by byte, so that input after the line is left for the next
// reader.
func (s *setup) question(text string) (string, error) {
	_, _ = fmt.Fprint(s.err, markup.Plain(text))
	var line []byte
	for b := make([]byte, 1); len(line) < account.MaxKeyLine; {
		if _, err := s.in.Read(b); err != nil {
			return "", errCancelled
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return strings.TrimSpace(string(line)), nil
}
