//go:build handloom_check

package check

const full = true
