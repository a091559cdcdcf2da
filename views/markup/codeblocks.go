package markup

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// CodeBlocks returns the code blocks of a piece of markdown, without fences and outer indentation. The last newline is
// missing, so that a line pasted into a shell does not run by itself. The code is untrusted.
func CodeBlocks(src []byte) []string {
	if !tame(src) {
		return fencedCode(src)
	}
	src = slices.Clip(src) // Segment.Value may append a newline to the slice
	var blocks []string
	// The callback returns no error.
	_ = ast.Walk(markdownParser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
		default:
			return ast.WalkContinue, nil
		}
		if entering {
			blocks = append(blocks, strings.TrimSuffix(string(n.Lines().Value(src)), "\n"))
		}
		return ast.WalkSkipChildren, nil
	})
	return blocks
}

// fencedCode finds the fenced blocks of text that is not parsed.
func fencedCode(src []byte) []string {
	var (
		blocks []string
		code   strings.Builder
		scan   scanner
	)
	for line := range bytes.Lines(src) {
		switch scan.read(bytes.TrimSuffix(line, []byte("\n"))) {
		case lineCode:
			code.Write(line)
		case lineCloses:
			blocks = append(blocks, strings.TrimSuffix(code.String(), "\n"))
			code.Reset()
		}
	}
	if scan.fence.open() {
		blocks = append(blocks, strings.TrimSuffix(code.String(), "\n"))
	}
	return blocks
}
