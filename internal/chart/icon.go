package chart

import _ "embed"

// Icon is the icon of all pages, as SVG.
//
//go:embed icon.svg
var Icon []byte
