package module

import (
	"encoding/binary"
)

// What compilers import although a pure program has no use for it. There is no clock, no randomness, no file and
// no environment: readings are constants, and what would reach outside gives an error. The clock moves by a
// microsecond at each look, for programs that wait for it to move.

const (
	wasiOK     = 0
	wasiBadF   = 8
	wasiNoSys  = 52
	stdout     = 1
	stderr     = 2
	clockStep  = 1_000 // ns
	charDevice = 2
)

var wasi = map[string]hostFunc{
	"args_get":                {types(i32, i32), types(i32), wasiSays(wasiOK)},
	"args_sizes_get":          {types(i32, i32), types(i32), wasiNothing},
	"environ_get":             {types(i32, i32), types(i32), wasiSays(wasiOK)},
	"environ_sizes_get":       {types(i32, i32), types(i32), wasiNothing},
	"clock_res_get":           {types(i32, i32), types(i32), wasiClock(1)},
	"clock_time_get":          {types(i32, i64, i32), types(i32), wasiClock(2)},
	"random_get":              {types(i32, i32), types(i32), wasiRandom},
	"proc_exit":               {types(i32), nil, wasiExit},
	"sched_yield":             {nil, types(i32), wasiSays(wasiOK)},
	"poll_oneoff":             {types(i32, i32, i32, i32), types(i32), wasiPoll},
	"fd_write":                {types(i32, i32, i32, i32), types(i32), wasiWrite},
	"fd_fdstat_get":           {types(i32, i32), types(i32), wasiStat},
	"fd_fdstat_set_flags":     {types(i32, i32), types(i32), wasiSays(wasiNoSys)},
	"fd_close":                {types(i32), types(i32), wasiSays(wasiBadF)},
	"fd_read":                 {types(i32, i32, i32, i32), types(i32), wasiSays(wasiBadF)},
	"fd_pread":                {types(i32, i32, i32, i64, i32), types(i32), wasiSays(wasiBadF)},
	"fd_pwrite":               {types(i32, i32, i32, i64, i32), types(i32), wasiSays(wasiBadF)},
	"fd_seek":                 {types(i32, i64, i32, i32), types(i32), wasiSays(wasiBadF)},
	"fd_sync":                 {types(i32), types(i32), wasiSays(wasiBadF)},
	"fd_filestat_get":         {types(i32, i32), types(i32), wasiSays(wasiBadF)},
	"fd_filestat_set_size":    {types(i32, i64), types(i32), wasiSays(wasiBadF)},
	"fd_prestat_get":          {types(i32, i32), types(i32), wasiSays(wasiBadF)},
	"fd_prestat_dir_name":     {types(i32, i32, i32), types(i32), wasiSays(wasiBadF)},
	"fd_readdir":              {types(i32, i32, i32, i64, i32), types(i32), wasiSays(wasiBadF)},
	"path_create_directory":   {types(i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_filestat_get":       {types(i32, i32, i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_filestat_set_times": {types(i32, i32, i32, i32, i64, i64, i32), types(i32), wasiSays(wasiNoSys)},
	"path_link":               {types(i32, i32, i32, i32, i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_open":               {types(i32, i32, i32, i32, i32, i64, i64, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_readlink":           {types(i32, i32, i32, i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_remove_directory":   {types(i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_rename":             {types(i32, i32, i32, i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_symlink":            {types(i32, i32, i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"path_unlink_file":        {types(i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"sock_accept":             {types(i32, i32, i32), types(i32), wasiSays(wasiNoSys)},
	"sock_shutdown":           {types(i32, i32), types(i32), wasiSays(wasiNoSys)},
}

func wasiSays(code uint64) func(*instance, []uint64) {
	return func(_ *instance, a []uint64) { a[0] = code }
}

// wasiNothing says that there are no arguments, or no variables.
func wasiNothing(in *instance, a []uint64) {
	in.put(a[0], make([]byte, 4))
	in.put(a[1], make([]byte, 4))
	a[0] = wasiOK
}

func wasiClock(at int) func(*instance, []uint64) {
	return func(in *instance, a []uint64) {
		in.clock += clockStep
		in.put(a[at], binary.LittleEndian.AppendUint64(nil, in.clock))
		a[0] = wasiOK
	}
}

func wasiRandom(in *instance, a []uint64) {
	at, n := uint64(uint32(a[0])), uint64(uint32(a[1]))
	for zeros := make([]byte, min(n, 4096)); n > 0; at, n = at+uint64(len(zeros)), n-uint64(len(zeros)) {
		zeros = zeros[:min(n, uint64(len(zeros)))]
		in.put(at, zeros)
	}
	a[0] = wasiOK
}

func wasiExit(in *instance, a []uint64) { in.refuse("it exits with code %d", uint32(a[0])) }

// wasiPoll says that the first of what is waited for has happened: a timer, whose time has come then.
func wasiPoll(in *instance, a []uint64) {
	const eventSize, subSize = 32, 48
	sub := in.bytes(a[0], subSize)
	event := make([]byte, eventSize)
	copy(event, sub[:8]) // whose it is
	event[10] = sub[8]
	if sub[8] == 0 { // a clock: until, or for how long
		until := binary.LittleEndian.Uint64(sub[24:])
		if binary.LittleEndian.Uint16(sub[40:])&1 == 0 {
			until += in.clock
		}
		in.clock = max(in.clock, until)
	}
	in.put(a[1], event)
	in.put(a[3], []byte{1, 0, 0, 0})
	a[0] = wasiOK
}

// wasiWrite makes what a program prints lines of the log.
func wasiWrite(in *instance, a []uint64) {
	if fd := uint32(a[0]); fd != stdout && fd != stderr || uint32(a[2]) > 1024 {
		a[0] = wasiBadF
		return
	}
	vec := in.bytes(a[1], 8*uint64(uint32(a[2])))
	total := uint32(0)
	for ; len(vec) > 0; vec = vec[8:] {
		b := in.bytes(uint64(binary.LittleEndian.Uint32(vec)), uint64(binary.LittleEndian.Uint32(vec[4:])))
		if total += uint32(len(b)); len(b) > 0 {
			in.log(b)
		}
	}
	in.put(a[3], binary.LittleEndian.AppendUint32(nil, total))
	a[0] = wasiOK
}

func wasiStat(in *instance, a []uint64) {
	if uint32(a[0]) > stderr {
		a[0] = wasiBadF
		return
	}
	b := make([]byte, 24)
	b[0] = charDevice
	in.put(a[1], b)
	a[0] = wasiOK
}
