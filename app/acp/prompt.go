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

// prompt submits a prompt from the editor. answer is called when the work on the prompt has ended.
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

// submission turns the editor's content blocks into a prompt for a session in the folder cwd. hide removes secrets from
// embedded files.
func submission(cwd string, hide func(string) string, blocks []contentBlock) (c event.Submit, err error) {
	var text strings.Builder
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
			word, excerpt := embedded(cwd, hide, b.Resource)
			apart(word)
			c.Excerpts = append(c.Excerpts, excerpt...)
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
	c.Text = strings.ToValidUTF8(strings.TrimSpace(text.String()), "\uFFFD")
	if c.Text == "" && len(c.Images) == 0 {
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

// link returns a mention of a resource, to be put into the prompt. The session reads a mentioned file by the rules of
// its workspace.
func link(cwd, uri, name string) string {
	path, lines, ok := fileOf(cwd, uri)
	if !ok {
		return "[" + texts.OneLine(name) + " at " + texts.OneLine(uri) + ", which was not read]"
	}
	return texts.Mention{Name: path}.String() + lines
}

// lineRange matches the selected lines in the URI of a file: #L5, #L5:9, #L5-9 or #L5-L9.
var lineRange = texts.Regexp(`^L(\d+)(?:[:-]L?(\d+))?$`)

// fileOf returns the path in a file URI, relative to cwd if the file is below cwd. lines describes the selected lines,
// such as " (lines 5 to 9)", "" for none.
func fileOf(cwd, uri string) (path, lines string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) {
		return "", "", false
	}
	if m := lineRange().FindStringSubmatch(u.Fragment); m != nil {
		if lines = " (line " + m[1] + ")"; m[2] != "" && m[2] != m[1] {
			lines = " (lines " + m[1] + " to " + m[2] + ")"
		}
	}
	if rel, err := filepath.Rel(cwd, u.Path); err == nil && filepath.IsLocal(rel) {
		return rel, lines, true
	}
	return u.Path, lines, true
}

// embedded returns the name and text of a resource whose content the editor has sent. There is no text if the resource
// is not text or is likely to hold secrets.
func embedded(cwd string, hide func(string) string, r *resource) (name string, text []event.Excerpt) {
	name, lines, ok := fileOf(cwd, r.URI)
	if !ok {
		name = texts.OneLine(r.URI)
	}
	why := policy.Secret(name)
	switch name += lines; {
	case r.Text == nil:
		return "[" + name + ", which is not text]", nil
	case why != "":
		return "[" + name + ", which was not sent because " + why + " suggests secrets]", nil
	}
	return name, []event.Excerpt{{Name: name, Text: hide(*r.Text)}}
}
