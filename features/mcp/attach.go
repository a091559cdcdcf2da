package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/texts"
	"buddy/tools"
)

// Limits of the resources that a prompt names.
const (
	maxAttached  = 8           // resources of one exchange
	attachedSize = 64 << 10    // bytes of one resource
	attachTime   = time.Minute // for all of them
)

// Attach reads the resources that prompts name as @server:uri and ignores words that name no server. problems has a
// line for each resource that could not be read.
func (s *Servers) Attach(ctx context.Context, prompts []string) (all []tools.Resource, problems []string) {
	ctx, cancel := context.WithTimeoutCause(ctx, attachTime, fmt.Errorf("it was not read within %v", attachTime))
	defer cancel()
	var done []string
	for word := range strings.FieldsSeq(strings.Join(prompts, "\n")) {
		one, uri := s.named(word)
		if one == nil || slices.Contains(done, one.def.Name+":"+uri) {
			continue
		}
		name := one.def.Name + ":" + uri
		if len(done) == maxAttached {
			return all, append(problems, fmt.Sprintf("@%s was not attached: a prompt may name at most %d resources", name, maxAttached))
		}
		done = append(done, name)
		text, images, err := one.attach(ctx, uri)
		if err != nil {
			problems = append(problems, fmt.Sprintf("@%s was not attached: %v", name, err))
			continue
		}
		all = append(all, tools.Resource{Name: name, Text: text, Images: images})
	}
	return all, problems
}

// named parses a word of a prompt that names a resource; the server is nil for other words. Punctuation at the end
// belongs to the sentence, unless the server has a resource whose URI ends with it.
func (s *Servers) named(word string) (*server, string) {
	name, uri, ok := strings.Cut(strings.TrimPrefix(strings.TrimLeft(word, "([{\"'`"), "@"), ":")
	if !ok || uri == "" || !strings.Contains(word, "@") {
		return nil, ""
	}
	one, err := s.find(name)
	if err != nil {
		return nil, ""
	}
	short := strings.TrimRight(uri, ".,;:!?)]}\"'`")
	if short == "" || one.hasResource(uri) {
		return one, uri
	}
	return one, short
}

func (s *server) hasResource(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.resources {
		if r != nil && r.URI == uri {
			return true
		}
	}
	return false
}

// attach reads a resource and cuts its text at attachedSize.
func (s *server) attach(ctx context.Context, uri string) (string, []model.Image, error) {
	res := s.read(ctx, tools.Call{ID: "attach " + uri, Name: "mcp_read"}, uri)
	if res.IsError {
		text := tools.Why(res)
		if why := context.Cause(ctx); why != nil {
			text = why.Error()
		}
		return "", nil, errors.New(oneLine(text))
	}
	text := res.Content
	if len(text) > attachedSize {
		text = texts.ClipBytes(text, attachedSize) + fmt.Sprintf("\n[only the first %d bytes of %d]", attachedSize, len(res.Content))
	}
	return text, res.Images, nil
}

// maxNames limits the completions.
const maxNames = 50

// Names completes the text after an @ with the resources of servers that are ready, as server:uri. Names that start
// with the text come before names that contain it.
func (s *Servers) Names(text string) []string {
	var starting, containing []string
	text = strings.ToLower(text)
	for _, r := range s.Resources("", "") {
		name := r.Server + ":" + r.URI
		switch low := strings.ToLower(name); {
		case strings.ContainsAny(name, " \t"): // a prompt could not name it
		case strings.HasPrefix(low, text):
			starting = append(starting, name)
		case text != "" && strings.Contains(low+" "+strings.ToLower(r.Name), text):
			containing = append(containing, name)
		}
	}
	all := append(starting, containing...)
	return all[:min(len(all), maxNames)]
}

// Commands returns the prompts of servers that are ready, as commands.
func (s *Servers) Commands() (all []event.CustomCommand) {
	for _, one := range s.every() {
		one.mu.Lock()
		all = append(all, one.commands()...)
		one.mu.Unlock()
	}
	return all
}

// commands returns the prompts of the server as commands. The caller holds s.mu.
func (s *server) commands() (all []event.CustomCommand) {
	for i, name := range modelNames(s.def.Name, promptNames(s.prompts)) {
		p := s.prompts[i]
		c := event.CustomCommand{Name: name, Help: oneLine(p.Description), Origin: "server " + s.def.Name}
		for _, a := range p.Arguments {
			arg := oneLine(a.Name)
			if !a.Required {
				arg = "[" + arg + "]"
			}
			c.Args = strings.TrimSpace(c.Args + " " + arg)
		}
		all = append(all, c)
	}
	return all
}
