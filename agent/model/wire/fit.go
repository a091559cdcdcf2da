package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"buddy/agent/model"
	"buddy/agent/model/picture"
)

// pictures limits the pictures in one request to a provider.
type pictures struct {
	each   picture.Limits
	number int // 0 means no limit
	total  int // bytes of all files, leaving room for text; base64 makes them a third larger; 0 means no limit
}

// side is the longest side of pictures for servers whose limit is unknown. Anthropic refuses larger ones in a request
// with more than 20 pictures ("At least one of the image dimensions exceed max allowed size for many-image requests:
// 2000 pixels", github.com/anthropics/claude-code/issues/24630). Any request may grow to more than 20 pictures, and
// scaling down the earlier ones only then would change what the provider has cached.
const side = 2000

// portable allows only PNG and JPEG, which every server accepts. llama.cpp cannot read WebP
// (github.com/ggml-org/llama.cpp/blob/master/tools/mtmd/mtmd-helper.cpp: stb_image), and xAI and Fireworks refuse it.
var portable = picture.Limits{Side: side, Formats: []string{}}

// every lists the formats that the large providers accept.
var every = []string{"png", "jpeg", "gif", "webp"}

// taken holds the limits of providers, by the host of their address. If the documentation and a measurement differ, the
// smaller number is used. github.com/earendil-works/pi/pull/120 measured how many pictures Anthropic, OpenAI, Mistral
// and Groq accept.
var taken = map[string]pictures{
	// platform.claude.com/docs/en/build-with-claude/vision: 100 pictures, for models with a large window 600; requests of 32 MB.
	"api.anthropic.com": {picture.Limits{Side: side, Formats: every}, 100, 22 << 20},
	// developers.openai.com/api/docs/guides/images-vision: 500 pictures, which fit into 2048 pixels; more than 50 MB are refused
	// ("Total image size is 50.6MB, which exceeds the allowed limit of 50.0MB", github.com/open-webui/open-webui/issues/26967).
	"api.openai.com": {picture.Limits{Side: 2048, Formats: every}, 500, 34 << 20},
	// blog.google/innovation-and-ai/technology/developers-tools/gemini-api-new-file-limits: 100 MB of base64;
	// docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning: 900 pictures for Gemini 3, PNG, JPEG, WebP.
	"generativelanguage.googleapis.com": {portable, 900, 70 << 20},
	// github.com/earendil-works/pi/pull/120: 8 pictures.
	"api.mistral.ai": {picture.Limits{Side: side, Formats: every}, 8, 0},
	// console.groq.com/docs/vision: 5 pictures of 33,177,600 pixels, requests of 4 MB.
	"api.groq.com": {picture.Limits{Side: side, Pixels: 33_177_600, Bytes: 2 << 20, Formats: []string{}}, 5, 2_900_000},
	// docs.x.ai/docs/guides/image-understanding: JPEG and PNG, any number.
	"api.x.ai": {portable, 0, 0},
	// docs.fireworks.ai/guides/querying-vision-language-models: 30 pictures, 10 MB of base64, no WebP.
	"api.fireworks.ai": {portable, 30, 7 << 20},
	// github.com/scaleway/docs-content/pull/4424: 12 pictures.
	"api.scaleway.ai": {portable, 12, 0},
}

// takenAt returns the limits of the server at a base URL. Even an unknown server gets a limit on the total size of
// pictures, because gateways limit requests.
func takenAt(base string) pictures {
	if u, err := url.Parse(base); err == nil {
		if p, ok := taken[strings.ToLower(u.Hostname())]; ok {
			return p
		}
	}
	return pictures{each: portable, total: 13 << 20}
}

// fitter scales the pictures in requests down to a provider's limits. It is safe for concurrent use.
type fitter struct {
	takes pictures

	mu   sync.Mutex // guards the fields below
	made map[*byte]model.Image
}

// maxMade limits how many scaled pictures are kept for later requests.
const maxMade = 100

// fit returns a request with pictures within the limits, and a text in place of each picture that the server refuses.
// The same pictures give the same request, so that the provider's cache stays valid.
func (f *fitter) fit(req model.Request) model.Request {
	if !req.HasImages() {
		return req
	}
	req.Messages = slices.Clone(req.Messages) // the history has the original
	var sizes []int
	for i := range req.Messages {
		m := &req.Messages[i]
		if len(m.Images) == 0 {
			continue
		}
		fit := make([]model.Image, 0, len(m.Images))
		for _, image := range m.Images {
			smaller, err := f.image(image)
			if err != nil {
				addText(m, fmt.Sprintf("[picture left out: %v]", err))
				continue
			}
			fit = append(fit, smaller)
			sizes = append(sizes, len(smaller.Data))
		}
		m.Images = fit
	}
	leaveOutOldest(req.Messages, f.takes.tooMany(sizes))
	return req
}

// image returns a picture scaled down to the limits.
func (f *fitter) image(i model.Image) (model.Image, error) {
	if i.Check() != nil { // the adapter refuses it
		return i, nil
	}
	key := &i.Data[0]
	f.mu.Lock()
	made, ok := f.made[key]
	f.mu.Unlock()
	if ok {
		return made, nil
	}
	fit, err := i.Fit(f.takes.each)
	if err != nil || &fit.Data[0] == key {
		return fit, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil || len(f.made) >= maxMade {
		f.made = make(map[*byte]model.Image)
	}
	f.made[key] = fit
	return fit, nil
}

// tooMany returns how many of the oldest pictures must be left out; sizes are their sizes in bytes. It leaves out about
// half of the limit at once, so that the next requests can keep the same start, which the provider has cached.
func (p pictures) tooMany(sizes []int) int {
	gone := 0
	if n := len(sizes); p.number > 0 && n > p.number {
		step := max(1, p.number/2)
		gone = (n - p.number + step - 1) / step * step
	}
	if p.total <= 0 {
		return gone
	}
	sum := 0
	for _, size := range sizes[gone:] {
		sum += size
	}
	for half := false; gone < len(sizes) && (sum > p.total || half && sum > p.total/2); gone++ {
		half = true
		sum -= sizes[gone]
	}
	return gone
}

// leaveOutOldest replaces the first gone pictures in the messages with texts.
func leaveOutOldest(msgs []model.Message, gone int) {
	for i := range msgs {
		m := &msgs[i]
		here := min(gone, len(m.Images))
		for range here {
			addText(m, "[picture left out: there are newer ones, and the server does not take all of them]")
		}
		if here > 0 {
			m.Images = slices.Clone(m.Images[here:])
		}
		gone -= here
	}
}

// addText adds a line to the text of a message.
func addText(m *model.Message, text string) {
	switch {
	case strings.TrimSpace(m.Content) == "":
		m.Content = text
	case strings.HasSuffix(m.Content, "]"):
		m.Content += "\n" + text
	default:
		m.Content += "\n\n" + text
	}
}
