package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
)

//go:embed help/*.txt
var helpTexts embed.FS

func helpText(topic string) (string, error) {
	text, err := helpTexts.ReadFile("help/" + topic + ".txt")
	return string(text), err
}

func (p *command) help(words []string) int {
	topic := "stress"
	if len(words) > 0 && !slices.Contains([]string{"-h", "-help", "--help"}, words[0]) {
		topic = words[0]
	}
	text, err := helpText(topic)
	if err != nil || len(words) > 1 {
		return p.misused("help", fmt.Errorf("no help about %q; want profile or replay", words))
	}
	io.WriteString(p.stdout, text)
	return 0
}
