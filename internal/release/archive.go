package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"time"
)

// A file is one of an archive: its name there, where it is, and its mode.
type file struct {
	name, path string
	mode       int64
}

// writeTar writes files below a directory, in their order, all of one time and nobody's.
func writeTar(to, below string, files []file, at time.Time) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := &tar.Header{Name: path.Join(below, f.name), Mode: f.mode, Size: int64(len(content)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := t.WriteHeader(head); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// writeZip is the same for Windows.
func writeZip(to, below string, files []file, at time.Time) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	for _, f := range files {
		content, err := os.Open(f.path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Join(below, f.name), Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = io.Copy(w, content)
		}
		if err := errors.Join(err, content.Close()); err != nil {
			return err
		}
	}
	return z.Close()
}
