//go:build !linux

package thrift

func letGoOfFiles() {}
