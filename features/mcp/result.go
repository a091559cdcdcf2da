package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/model"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/tools"
)

// maxPictures limits the pictures of one result.
const maxPictures = 8

// gathered collects the parts of a result.
type gathered struct {
	parts  []string
	images []model.Image
}

func (g *gathered) addf(format string, args ...any) {
	g.parts = append(g.parts, fmt.Sprintf(format, args...))
}

// resultOf converts a result for the model: text and pictures are passed on, other content is only named.
func resultOf(res *sdk.CallToolResult) tools.Result {
	var g gathered
	for _, c := range res.Content {
		g.content(c)
	}
	if len(g.parts) == 0 && res.StructuredContent != nil {
		g.parts = []string{string(tools.JSON(res.StructuredContent))}
	}
	out := g.result()
	out.IsError = res.IsError
	return out
}

// result joins the collected parts.
func (g *gathered) result() tools.Result {
	text := ansi.Strip(strings.Join(g.parts, "\n"))
	if text == "" {
		text = "(the server returned nothing)"
	}
	shown := text
	if list, ok := texts.Listed(text); ok {
		shown = list
	}
	res := tools.Success(text)
	res.Tail, res.Images = strings.ToValidUTF8(tools.End(shown), ""), g.images
	return res
}

func (g *gathered) content(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		g.parts = append(g.parts, c.Text)
	case *sdk.ImageContent:
		g.picture(c.MIMEType, c.Data)
	case *sdk.AudioContent:
		g.addf("[audio, %s, %d bytes: not passed on]", oneLine(c.MIMEType), len(c.Data))
	case *sdk.EmbeddedResource:
		g.resource(c.Resource)
	case *sdk.ResourceLink:
		g.addf("[resource %s %s: mcp_read reads it]", oneLine(c.URI), oneLine(c.Name))
	default:
		g.addf("[content of a kind that is not known: %T]", c)
	}
}

func (g *gathered) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Text != "" || len(r.Blob) == 0:
		g.addf("%s:", oneLine(r.URI))
		g.parts = append(g.parts, r.Text)
	case strings.HasPrefix(r.MIMEType, "image/"):
		g.picture(r.MIMEType, r.Blob)
	default:
		g.addf("[resource %s, %s, %d bytes: not text]", oneLine(r.URI), oneLine(r.MIMEType), len(r.Blob))
	}
}

// picture adds a picture if models can read its format.
func (g *gathered) picture(kind string, data []byte) {
	image, err := model.NewImage(data) // the type comes from the bytes, not from the server
	switch {
	case err != nil:
		g.addf("[picture of type %s, %d bytes, not shown: %v]", oneLine(kind), len(data), err)
	case len(g.images) == maxPictures:
		g.addf("[one more picture: only %d are shown]", maxPictures)
	default:
		g.images = append(g.images, image)
		g.addf("[picture, %s, %d bytes: shown if the model takes pictures]", image.MediaType, len(data))
	}
}

// clip shortens text of a server for a message.
func clip(text string) string { return texts.ClipBytes(strings.TrimSpace(ansi.Strip(text)), 2000) }

// compact returns JSON without spaces.
func compact(data json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return string(data)
	}
	return b.String()
}
