package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// imageLeftOut stands for an image in what a model is sent that takes none.
const imageLeftOut = "[picture left out: the model takes no pictures]"

// leaveOut returns a request without images if the model takes none, with a text for each.
func (c *Client) leaveOut(req model.Request) model.Request {
	if !c.textOnly.Load() || !req.HasImages() {
		return req
	}
	req.Messages = slices.Clone(req.Messages) // they are the history's
	for i := range req.Messages {
		m := &req.Messages[i]
		if len(m.Images) == 0 {
			continue
		}
		left := strings.TrimSuffix(strings.Repeat(imageLeftOut+"\n", len(m.Images)), "\n")
		if strings.TrimSpace(m.Content) != "" {
			left = m.Content + "\n\n" + left
		}
		m.Content, m.Images = left, nil
	}
	return req
}

// withoutImages reports whether a request failed since the model takes no images, and leaves
// them out from then on. Servers say it with these statuses: DeepSeek "unknown variant `image_url`,
// expected `text`", OpenRouter "404 No endpoints found that support image input", llama.cpp "500
// image input is not supported - hint: … you may need to provide the mmproj".
func (c *Client) withoutImages(req model.Request, err error) bool {
	var e *model.Error
	return req.HasImages() && errors.As(err, &e) && e.Kind == model.StatusError &&
		slices.Contains([]int{400, 404, 422, 500}, e.Status) && texts.HasAny(e.Body, "image_url", "image input", "mmproj") &&
		c.textOnly.CompareAndSwap(false, true)
}

// CheckImages reports why the images of a request would be refused, as a [model.Error]:
// it is said before anything is sent.
func (c *Client) CheckImages(msgs []model.Message) error {
	for n, m := range msgs {
		for i, image := range m.Images {
			e := &model.Error{Kind: model.SetupError, Hint: "go back to before that message, or leave the image out"}
			switch err := image.Check(); {
			case m.Role != model.User:
				e.What = fmt.Sprintf("a message of %q cannot have images", m.Role)
			case err != nil:
				e.What, e.Err = err.Error(), err
			default:
				continue
			}
			e.What = fmt.Sprintf("not sent: message %d, image %d: %s", n+1, i+1, e.What)
			return e
		}
	}
	return nil
}
