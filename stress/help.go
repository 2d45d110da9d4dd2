package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"strings"
)

//go:embed help/*.txt
var helpTexts embed.FS

func helpText(topic string) (string, error) {
	text, err := helpTexts.ReadFile("help/" + cmp.Or(topic, "stress") + ".txt")
	return string(text), err
}

func (p *command) help(words ...string) int {
	text, err := helpText(strings.Join(words, " "))
	if err != nil {
		return p.bad(fmt.Errorf("stress help: no help about %q; want profile or replay; see: go run ./stress help -h", words))
	}
	io.WriteString(p.stdout, text)
	return exitPassed
}
