package acp

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/texts"
)

// prompt submits a prompt of the editor. It is answered when its work has ended.
func (s *session) prompt(blocks []contentBlock, answer reply) {
	submit, err := submission(s.updates.cwd, s.redact, blocks)
	if err != nil {
		answer(nil, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches {
		s.updates.say("This editor can only watch this session: it was started elsewhere, and the editor has no terminal. To allow prompts, set `[host] without_terminal = true` in your settings.")
		stopped("refusal")(answer)
		return
	}
	if name, args, ok := slash.Split(submit.Text); ok {
		if _, custom := slash.FindCustom(s.state.Info.Commands, name); !custom {
			s.command(name, args, answer)
			return
		}
	}
	s.submit(submit, answer)
}

// submit sends a prompt. The caller holds s.mu.
func (s *session) submit(c event.Submit, answer reply) {
	s.prompts = append(s.prompts, &prompt{text: c.Text, answer: answer})
	s.process.Send(c)
}

// submission returns the prompt in the blocks of the editor, in a session with the folder cwd. hide removes secrets from
// the texts of files.
func submission(cwd string, hide func(string) string, blocks []contentBlock) (c event.Submit, err error) {
	var text, attached strings.Builder
	apart := func(word string) { // a mention ends at a space
		if t := text.String(); t != "" && !strings.HasSuffix(t, " ") && !strings.HasSuffix(t, "\n") {
			text.WriteByte(' ')
		}
		text.WriteString(word + " ")
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "resource_link":
			apart(link(cwd, b.URI, b.Name))
		case "resource":
			if b.Resource == nil {
				return c, failf(codeParams, "a block of the type resource has no resource")
			}
			apart(embedded(cwd, hide, b.Resource, &attached))
		case "image":
			image, err := imageOf(b)
			if err != nil {
				return c, err
			}
			c.Images = append(c.Images, image)
		default:
			return c, failf(codeParams, "a block of the type %q is not supported (have: text, image, resource, resource_link)", clip(b.Type))
		}
	}
	c.Text = strings.ToValidUTF8(strings.TrimSpace(text.String())+attached.String(), "\uFFFD")
	if strings.TrimSpace(c.Text) == "" && len(c.Images) == 0 {
		return c, failf(codeParams, "the prompt is empty")
	}
	return c, nil
}

// imageOf returns the picture in a block.
func imageOf(b contentBlock) (model.Image, error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return model.Image{}, failf(codeParams, "an image is not base64: %v", err)
	}
	image, err := model.NewImage(data)
	if err == nil {
		err = image.Check()
	}
	if err != nil {
		return model.Image{}, failf(codeParams, "an image can't be used: %v", err)
	}
	return image, nil
}

// link returns the mention of a resource. The session reads a file by the rules of its workspace.
func link(cwd, uri, name string) string {
	if path, ok := pathOf(cwd, uri); ok {
		return texts.Mention{Name: path}.String()
	}
	return "[" + texts.OneLine(name) + " at " + texts.OneLine(uri) + ", which was not read]"
}

// pathOf returns the file that a URI names, relative to the session's folder if it is below it.
func pathOf(cwd, uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return "", false
	}
	if rel, err := filepath.Rel(cwd, u.Path); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	return u.Path, true
}

// embedded returns the name of a resource that the editor has read, and adds its text to attached.
func embedded(cwd string, hide func(string) string, r *resource, attached *strings.Builder) string {
	name, ok := pathOf(cwd, r.URI)
	if !ok {
		name = texts.OneLine(r.URI)
	}
	if r.Text == nil {
		return "[" + name + ", which is not a text]"
	}
	why := policy.Secret(name)
	if u, err := url.Parse(r.URI); err == nil && u.Fragment != "" {
		name += " (" + texts.OneLine(u.Fragment) + ")" // the selected lines
	}
	if why != "" {
		return "[" + name + ", which was not sent because " + why + " suggests secrets]"
	}
	text := hide(*r.Text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	attached.WriteString("\n\n" + name + " in the editor:\n" + fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence)
	return name
}
