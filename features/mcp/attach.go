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

// Limits of what prompts may name.
const (
	maxAttached  = 8           // resources of one exchange
	attachedSize = 64 << 10    // bytes of one
	attachTime   = time.Minute // that all of them may take
)

// Attach reads the resources that prompts name as @server:uri. Words that name no server are no
// concern of it. problems say in a line each what could not be read.
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
			return all, append(problems, fmt.Sprintf("@%s was not attached: a prompt may name %d resources", name, maxAttached))
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

// named returns the server and the address of a resource that a word of a prompt names; nil if it
// names none. A sign at its end belongs to the sentence, unless the server has such a resource.
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

// attach reads a resource, of whose text the beginning counts.
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

// maxNames limits the names that a completion offers.
const maxNames = 50

// Names returns what a prompt can name after an @ that begins with a text or, after those, holds it:
// the resources of servers that are ready, as server:uri.
func (s *Servers) Names(text string) []string {
	var begin, hold []string
	text = strings.ToLower(text)
	for _, r := range s.Resources("", "") {
		name := r.Server + ":" + r.URI
		switch low := strings.ToLower(name); {
		case strings.ContainsAny(name, " \t"): // it could not be read back
		case strings.HasPrefix(low, text):
			begin = append(begin, name)
		case text != "" && strings.Contains(low+" "+strings.ToLower(r.Name), text):
			hold = append(hold, name)
		}
	}
	all := append(begin, hold...)
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
