package markup

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// CodeBlocks returns the code blocks of a piece of markdown as they were written, without
// their fences, the indentation of what they stand in, and their last newline: pasted
// into a shell, a line must not run by itself. The text is foreign still.
func CodeBlocks(src []byte) []string {
	if !tame(src) {
		return fencedCode(src)
	}
	src = slices.Clip(src) // a segment's Value may append a newline to what it is cut from
	var blocks []string
	// The walker gives no error of its own.
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

// fencedCode finds the fences of text that is not parsed.
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
