package model

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// IsPage reports whether the answer is a web page, which proxies and gateways send instead of the server's answer.
func IsPage(answer []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(answer), []byte("<")) }

// pageText returns the text of a web page. It omits repetitions, and the status, which is shown anyway.
func pageText(page, status string) string {
	var words []string
	z, silent := html.NewTokenizer(strings.NewReader(page)), false
	for {
		switch z.Next() {
		case html.ErrorToken: // the end, or where the page was cut off
			return strings.Join(words, " ")
		case html.StartTagToken:
			name, _ := z.TagName()
			silent = slices.Contains([]string{"script", "style", "noscript"}, string(name))
		case html.EndTagToken:
			silent = false
		case html.TextToken:
			text := strings.Join(strings.Fields(string(z.Text())), " ")
			if !silent && text != "" && !strings.EqualFold(text, status) && !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
	}
}
