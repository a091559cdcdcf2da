package wire

import (
	"fmt"
	"hash/crc32"
	"strings"

	"buddy/agent/model"
)

// These texts are sent to a model in place of a picture.
const (
	pictureLeftOut = "[picture left out: the model takes no pictures]"
	pictureRefused = "[picture left out: the server refused it]"
)

func withoutPictures(m *model.Message, text string) {
	replacement := strings.TrimSuffix(strings.Repeat(text+"\n", len(m.Images)), "\n")
	if strings.TrimSpace(m.Content) != "" {
		replacement = m.Content + "\n\n" + replacement
	}
	m.Content, m.Images = replacement, nil
}

// lastPicture returns a hash of the last picture in a message, or "" if there is none.
func lastPicture(m model.Message) string {
	if len(m.Images) == 0 {
		return ""
	}
	data := m.Images[len(m.Images)-1].Data
	return fmt.Sprintf("%08x-%d", crc32.Checksum(data, castagnoli), len(data))
}

// CheckImages returns a [model.Error] if the server would refuse the images in the messages. It saves sending the
// request.
func (c *Client) CheckImages(msgs []model.Message) error {
	for n, m := range msgs {
		for i, image := range m.Images {
			e := &model.Error{Kind: model.SetupError, Hint: "rewind to before that message, or leave out the image"}
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
