package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"buddy/agent/model/endpoint"
	"buddy/app/doctor"
	"buddy/app/version"
	"buddy/config"
	"buddy/views/markup"
)

// maxOffered limits the listed models of a server.
const maxOffered = 20

func (s *setup) models(p config.Profile) ([]string, error) {
	if p.UsesLogin() {
		return nil, nil // a login has no key before its first use
	}
	key, source, err := p.Key()
	if err != nil {
		return nil, err
	}
	s.hint("listing the server's models …")
	return endpoint.Models(context.Background(), endpoint.Config{
		Profile: p.Name, API: string(p.API), BaseURL: p.BaseURL,
		Access: endpoint.Access{Key: key, KeySource: p.KeyPlace(source), KeyHeader: p.HeaderFor(source), Headers: p.Headers, UserAgent: "buddy/" + version.Number},
	})
}

// chooseModel asks for one of a server's models, by number or id. usual is the answer for an empty line, "" for none.
func (s *setup) chooseModel(all []string, usual string) (string, error) {
	s.offerModels(all)
	if usual == "" && len(all) == 1 {
		usual = all[0]
	}
	ask := askForModel(len(all) > 0, usual)
	for {
		answer, err := s.question(ask)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(answer)
		switch {
		case answer == "" && usual != "":
			return usual, nil
		case answer == "":
			s.hint("the model is missing")
		case err == nil && n >= 1 && n <= len(all):
			return all[n-1], nil
		case err == nil && len(all) > 0:
			s.hint("%d is not a number from 1 to %d", n, len(all))
		default:
			return answer, nil
		}
	}
}

// askForModel returns the question for a model, with the answer for an empty line.
func askForModel(offered bool, usual string) string {
	ask := "the model's id"
	if offered {
		ask = "which model (number or id)"
	}
	if usual != "" {
		ask += " [" + usual + "]"
	}
	return ask + ": "
}

// offerModels prints the first models of a server, numbered.
func (s *setup) offerModels(all []string) {
	for i, id := range all[:min(len(all), maxOffered)] {
		s.line("%3d  %s", i+1, markup.Inline(id))
	}
	if n := len(all) - maxOffered; n > 0 {
		s.line("     and %d more", n)
	}
}

func (s *setup) line(format string, args ...any) {
	_, _ = fmt.Fprintln(s.err, markup.Plain(fmt.Sprintf(format, args...)))
}

// another asks for a server that buddy does not know, and for one of the server's models.
func (s *setup) another() (string, error) {
	p, all, err := s.server()
	if err == nil {
		p.Model, err = s.chooseModel(all, "")
	}
	if err != nil {
		return "", err
	}
	if p, err = s.named(p); err != nil {
		return "", err
	}
	if err = s.accept(p, doctor.CheckModel(context.Background(), config.Config{Active: &p}, false)...); err != nil {
		return "", err
	}
	return p.Name, config.AddProfile(s.config.File, p)
}

// server asks for the address of a server, and for a key if the server wants one, and returns the server's models. An
// address that does not answer is accepted if an empty line confirms it, because the server may not run yet.
func (s *setup) server() (p config.Profile, all []string, err error) {
	for {
		ask := "server address, such as https://llm.example.com/v1"
		if p.BaseURL != "" {
			ask = "server address [" + p.BaseURL + "]"
		}
		answer, err := s.question(ask + ": ")
		switch {
		case err != nil:
			return p, nil, err
		case answer == "" && p.BaseURL != "":
			return p, nil, s.keyOf(&p)
		case answer == "":
			continue
		}
		if _, err := endpoint.New(endpoint.Config{BaseURL: answer}); err != nil {
			s.hint("%v", err)
			continue
		}
		p = config.Profile{BaseURL: answer}
		if all, err = s.models(p); errors.Is(err, endpoint.ErrKey) {
			if err = s.keyOf(&p); err == nil && p.KeyEnv != "" {
				all, err = s.models(p)
			}
			if errors.Is(err, errCancelled) {
				return p, nil, err
			}
		} else if key, _, _ := p.Key(); err == nil && key == "" {
			p.APIKey = config.NoKey()
		}
		if err == nil {
			return p, all, nil
		}
		s.hint("%v; press Enter to use the address anyway", err)
	}
}

// keyOf asks for the environment variable that holds a server's key.
func (s *setup) keyOf(p *config.Profile) (err error) {
	for {
		if p.KeyEnv, err = s.question("variable that holds the API key (empty: no key): "); err != nil {
			return err
		}
		if p.KeyEnv == "" {
			p.APIKey = config.NoKey()
			return nil
		}
		if !strings.ContainsFunc(p.KeyEnv, notInVariable) {
			break
		}
		s.hint("not a variable's name, such as EXAMPLE_KEY; don't enter the key itself here")
	}
	if os.Getenv(p.KeyEnv) == "" {
		s.hint("%s is not set", p.KeyEnv)
	}
	return nil
}

func notInVariable(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
