package digest

import (
	"fmt"
	"reflect"
	"strings"
)

// A Schema is a parsed text of [Codec.Schema]. It describes an encoding whose type the program
// may lack.
//
// A forged snapshot needs only 2 bytes of text per Schema, so a Schema has only 48 bytes.
type Schema struct {
	text   string
	elem   *Schema
	parts  *schemaParts
	least  int32 // minimum bytes of a value
	count  int32 // length of an array
	code   uint8
	fixed  bool // every value has least bytes
	within bool // a part of it is an enclosing type
}

// schemaParts are the fields of a struct or the key of a map.
type schemaParts struct {
	fields []schemaField
	key    *Schema
}

// schemaField is a field with the schema of its type.
type schemaField struct {
	name   string
	schema *Schema
}

func (s *Schema) kind() reflect.Kind { return reflect.Kind(s.code) }

// fields returns the fields of a struct, else nil.
func (s *Schema) fields() []schemaField {
	if s.parts == nil {
		return nil
	}
	return s.parts.fields
}

func (s *Schema) String() string { return s.text }

// SchemaHash returns a hash of a text of [Codec.Schema] as 16 digits.
func SchemaHash(text string) string {
	var h Hash
	h.String(text)
	return fmt.Sprintf("%016x", h.Sum())
}

// maxIndent limits the indentation, because text may nest arbitrarily deep.
const maxIndent = 8

// IndentSchema returns a text of [Codec.Schema] with a line for each field, down to 8
// levels.
func IndentSchema(text string) string {
	var b strings.Builder
	depth := 0
	line := func(sep byte) {
		if depth > maxIndent {
			if sep != 0 {
				b.WriteString("; ")
			}
			return
		}
		b.WriteByte('\n')
		for range depth {
			b.WriteByte('\t')
		}
	}
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "{}"):
			b.WriteString("{}")
			i++
		case rest[0] == '{':
			b.WriteByte('{')
			depth++
			line(0)
		case strings.HasPrefix(rest, "; "):
			line(';')
			i++
		case rest[0] == '}':
			if depth > maxIndent {
				depth--
				b.WriteByte('}')
				continue
			}
			depth = max(depth-1, 0)
			line(0)
			b.WriteByte('}')
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

var basicSchemas = [...]Schema{
	{text: "bool", code: uint8(reflect.Bool), least: 1, fixed: true},
	{text: "int8", code: uint8(reflect.Int8), least: 1, fixed: true},
	{text: "int16", code: uint8(reflect.Int16), least: 2, fixed: true},
	{text: "int32", code: uint8(reflect.Int32), least: 4, fixed: true},
	{text: "int64", code: uint8(reflect.Int64), least: 8, fixed: true},
	{text: "uint8", code: uint8(reflect.Uint8), least: 1, fixed: true},
	{text: "uint16", code: uint8(reflect.Uint16), least: 2, fixed: true},
	{text: "uint32", code: uint8(reflect.Uint32), least: 4, fixed: true},
	{text: "uint64", code: uint8(reflect.Uint64), least: 8, fixed: true},
	{text: "float32", code: uint8(reflect.Float32), least: 4, fixed: true},
	{text: "float64", code: uint8(reflect.Float64), least: 8, fixed: true},
	{text: "complex64", code: uint8(reflect.Complex64), least: 8, fixed: true},
	{text: "complex128", code: uint8(reflect.Complex128), least: 16, fixed: true},
	{text: "string", code: uint8(reflect.String), least: 8},
}
