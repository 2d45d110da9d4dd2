package digest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var errSchema = errors.New("not a schema")

// maxNested limits types within types. The parser is recursive.
const maxNested = 100

// ParseSchema parses a text of [Codec.Schema]. It returns an error for any text that is not
// the schema of a codable type.
func ParseSchema(text string) (*Schema, error) {
	p := schemaParser{text: text}
	s := p.part()
	if p.err == nil && p.at < len(text) {
		p.fail("text after the end")
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// schemaParser has no text left after an error.
type schemaParser struct {
	text   string
	at     int
	around [maxNested]*Schema // on the stack, as all of the parser
	depth  int
	empty  int
	err    error
}

// fail sets the first error and ends the text, so that all loops end.
func (p *schemaParser) fail(why string) {
	if p.err == nil {
		why = why[:min(len(why), 200)]
		p.err = fmt.Errorf("%w: byte %d: %s", errSchema, p.at, why)
	}
	p.at = len(p.text)
}

// skip skips a prefix and reports whether it was there.
func (p *schemaParser) skip(prefix string) bool {
	if !strings.HasPrefix(p.text[p.at:], prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

// want fails unless the prefix is there.
func (p *schemaParser) want(prefix string) {
	if !p.skip(prefix) {
		p.fail("want " + strconv.Quote(prefix))
	}
}

// word returns the text up to one of the end characters.
func (p *schemaParser) word(end string) string {
	rest := p.text[p.at:]
	if n := strings.IndexAny(rest, end); n >= 0 {
		rest = rest[:n]
	}
	p.at += len(rest)
	return rest
}

// number reads a decimal number up to limit.
func (p *schemaParser) number(limit int, end string) int {
	word := p.word(end)
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || int(n) > limit {
		p.fail(fmt.Sprintf("%q is not a number up to %d", word[:min(len(word), 100)], limit))
		return 0
	}
	return int(n)
}

// part parses one type.
func (p *schemaParser) part() *Schema {
	start := p.at
	switch {
	case p.skip("@"):
		return p.outer()
	case p.skip("struct{"):
		return p.composite(reflect.Struct, start)
	case p.skip("map["):
		return p.composite(reflect.Map, start)
	case p.skip("[]"):
		return p.composite(reflect.Slice, start)
	case p.skip("["):
		return p.composite(reflect.Array, start)
	}
	return p.basic()
}

// composite parses a type with parts, which may refer to it by @.
func (p *schemaParser) composite(kind reflect.Kind, start int) *Schema {
	s := &Schema{code: uint8(kind), fixed: true}
	if p.depth == maxNested {
		p.fail(fmt.Sprintf("more than %d types deep", maxNested))
		return s
	}
	p.around[p.depth] = s
	p.depth++
	switch kind {
	case reflect.Struct:
		p.structure(s)
	case reflect.Map:
		p.mapping(s)
	case reflect.Slice:
		p.slice(s)
	default:
		p.array(s)
	}
	p.depth--
	s.text = p.text[start:p.at]
	s.within = strings.Contains(s.text, "@")
	return s
}

// structure parses fields up to }.
func (p *schemaParser) structure(s *Schema) {
	s.parts = new(schemaParts)
	for p.err == nil && !p.skip("}") {
		if len(s.parts.fields) > 0 {
			p.want("; ")
		}
		name := p.word(" ")
		p.want(" ")
		part := p.part()
		s.parts.fields = append(s.parts.fields, schemaField{name, part})
		p.add(s, part, 1)
	}
}

func (p *schemaParser) mapping(s *Schema) {
	s.fixed, s.least = false, 8
	s.parts = &schemaParts{key: p.part()}
	p.want("]")
	s.elem = p.part()
	p.counts(s.parts.key)
}

func (p *schemaParser) slice(s *Schema) {
	s.fixed, s.least = false, 8
	s.elem = p.part()
	p.counts(s.elem)
}

func (p *schemaParser) array(s *Schema) {
	s.count = int32(p.number(1<<30, "]"))
	p.want("]")
	if s.count == 0 {
		// Inside an array of length 0 nothing is ever read, so all types are allowed.
		p.empty++
		defer func() { p.empty-- }()
	}
	s.elem = p.part()
	p.add(s, s.elem, s.count)
}

// add adds count values of a part to the minimum size, which has a limit: a forged text
// must not overflow it.
func (p *schemaParser) add(s, part *Schema, count int32) {
	if int64(part.least)*int64(count) > MaxBytes-int64(s.least) {
		p.fail(fmt.Sprintf("items of more than %d bytes", MaxBytes))
		return
	}
	s.least += count * part.least
	s.fixed = s.fixed && part.fixed
}

// counts checks that values of part have bytes. A part without text is an enclosing type
// and has bytes: the length of a slice or map.
func (p *schemaParser) counts(part *Schema) {
	if p.empty == 0 && part.text != "" && part.least == 0 {
		p.fail("elements or keys without bytes")
	}
}

// A slice or a map must be in between, or values would be infinite.
func (p *schemaParser) outer() *Schema {
	n := p.number(p.depth, "]; }")
	if n == 0 {
		p.fail("@ has no type around it")
		return &Schema{}
	}
	between := p.around[p.depth-n : p.depth]
	for _, s := range between {
		if s.kind() == reflect.Slice || s.kind() == reflect.Map {
			return between[0]
		}
	}
	p.fail("a value within itself")
	return &Schema{}
}

// An array of length 0 may have elements of any type.
func (p *schemaParser) basic() *Schema {
	word := p.word("]; }")
	for i := range basicSchemas {
		if basicSchemas[i].text == word {
			return &basicSchemas[i]
		}
	}
	if p.empty > 0 && slices.Contains(kindsWithoutValues, word) {
		return &Schema{text: word, code: uint8(reflect.Struct), fixed: true}
	}
	p.fail(fmt.Sprintf("%q is not an encodable type", word[:min(len(word), 100)]))
	return &Schema{}
}

// kindsWithoutValues are the kinds that only an empty array may have.
var kindsWithoutValues = []string{
	reflect.Pointer.String(), reflect.Func.String(), reflect.Chan.String(), reflect.UnsafePointer.String(), reflect.Interface.String(),
}
