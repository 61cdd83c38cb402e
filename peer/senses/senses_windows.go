package senses

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// call calls a function of the system; 0 if there is none of that name.
func call(dll, name string, arg unsafe.Pointer) uintptr {
	f := windows.NewLazySystemDLL(dll).NewProc(name)
	if f.Find() != nil {
		return 0
	}
	result, _, _ := f.Call(uintptr(arg)) // which is ignored where none is taken
	return result
}

// onBattery asks whether the AC line is off: the first byte of SYSTEM_POWER_STATUS is 0 then, 255 if that is not known.
func onBattery() bool {
	var status [12]byte
	status[0] = 255
	ok := call("kernel32.dll", "GetSystemPowerStatus", unsafe.Pointer(&status))
	return ok != 0 && status[0] == 0
}

// untouched asks when this session last had input. A service has a session of its own, and sees none.
func untouched() (time.Duration, bool) {
	info := struct{ size, at uint32 }{size: 8}
	if call("user32.dll", "GetLastInputInfo", unsafe.Pointer(&info)) == 0 {
		return 0, false
	}
	now := call("kernel32.dll", "GetTickCount", nil)
	return time.Duration(uint32(now)-info.at) * time.Millisecond, true // both wrap after 49 days
}
