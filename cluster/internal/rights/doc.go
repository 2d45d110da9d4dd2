// Package rights writes the configuration of servers that keeps cells apart: certificates, keys,
// and accounts of NATS: one for each cell, and one for a program of many cells.
//
//	ca/         keys that sign certificates; for the operator alone
//	server-1/   for the first server: server.conf, accounts.conf, certificates
//	cells/ID/   for the nodes of a cell: certificate and key of its user
//	program/    for the nodes and clients of a program that uses cluster.Join
//	operator/   certificate and key of the user of the system account
//
// Add derives accounts.conf from the folders in cells, and replaces no other file.
package rights
