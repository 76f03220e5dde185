// The simple commands that mvdan/sh finds in shell text, wherever they stand, when all their words are literal. Standard input:
// texts, cut at NUL. Standard output, a NUL behind each text's answer: a command a line, or "!" when the text is refused.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The word's value, and whether nothing in it is expanded.
func literal(parts []syntax.WordPart) (string, bool) {
	text := ""
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text += strings.ReplaceAll(strings.ReplaceAll(part.Value, "\\\n", ""), "\\", "")
		case *syntax.SglQuoted:
			text += part.Value
		case *syntax.DblQuoted:
			inside, ok := literal(part.Parts)
			if !ok {
				return "", false
			}
			text += inside
		default:
			return "", false
		}
	}
	return text, true
}

func answer(text []byte) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return "!"
	}
	var found strings.Builder
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, word := range call.Args {
			value, ok := literal(word.Parts)
			if !ok {
				return true
			}
			words = append(words, value)
		}
		fmt.Fprintln(&found, strings.ReplaceAll(strings.Join(words, " "), "\n", " "))
		return true
	})
	return found.String()
}

func main() {
	texts, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	for _, text := range bytes.Split(texts, []byte{0}) {
		fmt.Print(answer(text), "\x00")
	}
}
