package digest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// encode is the encoding of the package comment by reflect.Value alone.
func encode(v reflect.Value) []byte {
	le := binary.LittleEndian
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return []byte{1}
		}
		return []byte{0}
	case reflect.Int8, reflect.Int16, reflect.Int32: // low bytes first
		return le.AppendUint64(nil, uint64(v.Int()))[:v.Type().Size()]
	case reflect.Int, reflect.Int64:
		return le.AppendUint64(nil, uint64(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return le.AppendUint64(nil, v.Uint())[:v.Type().Size()]
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return le.AppendUint64(nil, v.Uint())
	case reflect.Float32:
		return le.AppendUint32(nil, math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return le.AppendUint64(nil, math.Float64bits(v.Float()))
	case reflect.Complex64:
		b := le.AppendUint32(nil, math.Float32bits(float32(real(v.Complex()))))
		return le.AppendUint32(b, math.Float32bits(float32(imag(v.Complex()))))
	case reflect.Complex128:
		b := le.AppendUint64(nil, math.Float64bits(real(v.Complex())))
		return le.AppendUint64(b, math.Float64bits(imag(v.Complex())))
	case reflect.String:
		return append(le.AppendUint64(nil, uint64(v.Len())), v.String()...)
	case reflect.Slice:
		return append(le.AppendUint64(nil, uint64(v.Len())), encodeElements(v)...)
	case reflect.Array:
		return encodeElements(v)
	case reflect.Struct:
		var b []byte
		for field, value := range v.Fields() {
			if field.Name != "_" {
				b = append(b, encode(value)...)
			}
		}
		return b
	case reflect.Map:
		var entries [][]byte
		for it := v.MapRange(); it.Next(); {
			entries = append(entries, append(encode(it.Key()), encode(it.Value())...))
		}
		slices.SortFunc(entries, bytes.Compare)
		return append(le.AppendUint64(nil, uint64(v.Len())), bytes.Join(entries, nil)...)
	case reflect.Interface:
		if v.IsNil() {
			return []byte{0}
		}
		name := v.Elem().Type().String()
		b := append(le.AppendUint64([]byte{1}, uint64(len(name))), name...)
		return append(b, encode(v.Elem())...)
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return nil
	default:
		panic(fmt.Sprintf("no encoding for kind %v", v.Kind()))
	}
}

func encodeElements(v reflect.Value) []byte {
	var b []byte
	for i := range v.Len() {
		b = append(b, encode(v.Index(i))...)
	}
	return b
}
