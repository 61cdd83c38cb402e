package senses

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-ole/go-ole"
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

// The network list manager and its interface INetworkCostManager, whose first method of its own is GetCost.
const (
	networkListManager = "{DCB00C01-570F-4A9B-8D69-199FDBA5723B}"
	networkCostManager = "{DCB00008-570F-4A9B-8D69-199FDBA5723B}"
)

const getCost = 3 // after IUnknown's methods

// metered asks what the connection to the Internet costs.
func metered() bool {
	runtime.LockOSThread() // COM belongs to the thread
	defer runtime.UnlockOSThread()
	if ole.CoInitializeEx(0, ole.COINIT_MULTITHREADED) == nil {
		defer ole.CoUninitialize()
	}
	manager, err := ole.CreateInstance(ole.NewGUID(networkListManager), ole.NewGUID(networkCostManager))
	if err != nil {
		return false
	}
	defer manager.Release()
	methods := (*[getCost + 1]uintptr)(unsafe.Pointer(manager.RawVTable))
	var cost uint32
	result, _, _ := syscall.SyscallN(methods[getCost], uintptr(unsafe.Pointer(manager)),
		uintptr(unsafe.Pointer(&cost)), 0)
	return result == 0 && costMetered(cost)
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
