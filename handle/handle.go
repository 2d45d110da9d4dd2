package handle

// MaxTypeID is the highest typeId that fits a handle.
const MaxTypeID = 1<<15 - 1

// FreeBit is the highest bit of a handle: in the handle of a recorded item it means
// provisional, in a slot word vacant or depleted.
const FreeBit ID = 1 << 63

const (
	generationShift = 32
	typeShift       = 48
)

// ID is an untyped handle. The zero value is the null handle.
type ID uint64

// New returns a handle of three parts with the free bit clear. A typeID above [MaxTypeID]
// is a bug of the caller; its highest bit is dropped.
func New(typeID, generation uint16, slot uint32) ID {
	return ID(typeID&MaxTypeID)<<typeShift | ID(generation)<<generationShift | ID(slot)
}

// Slot returns the position in the sparse set.
func (id ID) Slot() uint32 { return uint32(id) }

// Generation returns the number of times the slot had been issued when id was, 1 to 65535;
// 0 only in handles that were never issued.
func (id ID) Generation() uint16 { return uint16(id >> generationShift) }

// TypeID returns the number of the map that issued id, 0 to 32767.
func (id ID) TypeID() uint16 { return uint16(id>>typeShift) & MaxTypeID }

// IsZero reports whether id is the null handle.
func (id ID) IsZero() bool { return id == 0 }

// IsProvisional reports whether id names an item that is recorded but not yet flushed. No
// lookup finds it.
func (id ID) IsProvisional() bool { return id&FreeBit != 0 }
