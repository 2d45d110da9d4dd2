package digest_test

import (
	"fmt"

	"handloom/internal/digest"
)

func ExamplePlan_Items() {
	type Ship struct {
		Name  string
		X, Y  int
		Owner *string // skipped: it is a pointer
		cargo map[string]int
	}
	owner := "ann"
	a := Ship{"Argo", 1, 2, &owner, map[string]int{"wool": 1, "oil": 2}}
	b := Ship{"Argo", 1, 2, nil, map[string]int{"oil": 2, "wool": 1}}
	c := Ship{"Argo", 1, 2, nil, map[string]int{"oil": 2, "wool": 3}}

	plan := digest.For[Ship]()
	sum := func(ships ...Ship) uint64 {
		var h digest.Hash
		plan.Items(&h, ships)
		return h.Sum()
	}
	fmt.Println(sum(a) == sum(b), sum(b) == sum(c), sum(a, c) == sum(c, a))
	// Output: true false false
}
