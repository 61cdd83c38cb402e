//! Satin for Rust: jobs that a swarm may run anywhere, as a WebAssembly module of the ABI satin1 (docs/modules.md).
//!
//!     struct Fib;
//!     impl Job for Fib {
//!         type Arg = u32;
//!         type Res = u64;
//!         fn run(n: u32) -> u64 {
//!             if n < 2 { return n as u64; }
//!             spawn::<Fib>(n - 1);          // may run elsewhere
//!             let y = Fib::run(n - 2);      // an ordinary call
//!             get::<Fib>() + y              // the newest child that was spawned and not yet got
//!         }
//!     }
//!
//! A job is a pure function of one argument: plain data without pointers. Children are got newest first (get), or in
//! order of completion (any, when all children are of one job); a job gets or drops (drop_all) all its children before
//! it returns. Nearly all jobs run in place for some nanoseconds. A module has one thread, which is why the state
//! below needs no lock.
#![no_std]

use core::mem::size_of;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

mod host {
    #[link(wasm_import_module = "satin1")]
    extern "C" {
        pub fn wanted() -> u32;
        pub fn offer(f: u32, arg: *const u8, len: u32, path: *const u32, steps: u32, child: u32) -> i32;
        pub fn join(handle: i32) -> i64;
        pub fn result(to: *mut u8);
        pub fn any(handles: *const i32, n: u32) -> u32;
        pub fn drop(handle: i32);
        pub fn fail(text: *const u8, len: u32);
        pub fn log(text: *const u8, len: u32);
    }
}

/// A job: a pure function of plain data.
pub trait Job {
    type Arg: Copy;
    type Res: Copy;
    fn run(arg: Self::Arg) -> Self::Res;
}

/// Bytes of an argument or a result, children that may be outstanding at a time, and how deep jobs may be nested.
pub const DATA: usize = 40;
pub const CHILDREN: usize = 2048;
pub const DEPTH: usize = 8192;

/// What a job is to the host: the address of one of these.
#[repr(C)]
pub struct Desc {
    run: unsafe fn(*mut u8),
    arg: u32,
    res: u32,
}

trait Described {
    const DESC: Desc;
}

impl<J: Job> Described for J {
    const DESC: Desc = Desc { run: run_at::<J>, arg: size_of::<J::Arg>() as u32, res: size_of::<J::Res>() as u32 };
}

/// run_at runs a job whose argument is at a place, and puts the result there.
unsafe fn run_at<J: Job>(data: *mut u8) {
    let res = J::run((data as *const J::Arg).read_unaligned());
    (data as *mut J::Res).write_unaligned(res);
}

/// A child of a running job. The children of all running jobs are a stack: [0, tail) were offered to the host,
/// [tail, head) are private.
#[derive(Clone, Copy)]
#[repr(C)]
struct Task {
    id: u64, // depth of its parent, and in the low half which child of it
    desc: Option<&'static Desc>,
    handle: i32, // of those offered
    got: bool,   // its result was taken, it waits for newer ones to leave the stack
    data: [u8; DATA],
}

const NO_TASK: Task = Task { id: 0, desc: None, handle: 0, got: false, data: [0; DATA] };

static mut TASKS: [Task; CHILDREN + 1] = [NO_TASK; CHILDREN + 1];
static mut PATH: [u32; DEPTH + 2] = [0; DEPTH + 2]; // which child runs at each depth
static mut HEAD: u32 = 0;
static mut TAIL: u32 = 0;
static mut LIMIT: u32 = CHILDREN as u32; // the attention word: the host writes 0
static mut CUR: u64 = 0; // the running job: depth, children so far
static mut ERROR: Option<&'static str> = None; // that nobody has taken
static mut TEXT: [u8; 256] = [0; 256];

unsafe fn task(i: u32) -> &'static mut Task {
    &mut *(addr_of_mut!(TASKS) as *mut Task).add(i as usize)
}

/// fail ends the whole run with a line that says why.
pub fn fail(why: &str) -> ! {
    unsafe { host::fail(why.as_ptr(), why.len() as u32) };
    core::arch::wasm32::unreachable()
}

/// error makes the running job fail with a text. It goes on, and its result does not count. The error fails its spawner
/// too, and so on, unless take_error is asked after the child was got.
pub fn error(why: &'static str) {
    unsafe {
        if ERROR.is_none() {
            ERROR = Some(why);
        }
    }
}

pub fn take_error() -> Option<&'static str> {
    unsafe { (*addr_of_mut!(ERROR)).take() }
}

pub fn log(text: &str) {
    unsafe { host::log(text.as_ptr(), text.len() as u32) }
}

/// spawn makes a child of the running job.
#[inline(always)]
pub fn spawn<J: Job>(arg: J::Arg) {
    assert!(size_of::<J::Arg>() <= DATA && size_of::<J::Res>() <= DATA);
    unsafe {
        let h = HEAD;
        let t = task(h);
        (t.data.as_mut_ptr() as *mut J::Arg).write_unaligned(arg);
        t.desc = Some(&J::DESC);
        CUR += 1;
        t.id = CUR;
        HEAD = h + 1;
        if h >= read_volatile(addr_of!(LIMIT)) {
            attend();
        }
    }
}

#[inline(never)]
unsafe fn attend() {
    write_volatile(addr_of_mut!(LIMIT), CHILDREN as u32);
    if HEAD >= CHILDREN as u32 {
        fail("too many children at a time");
    }
    let mut n = host::wanted();
    while n > 0 && TAIL < HEAD {
        let t = task(TAIL);
        TAIL += 1;
        t.got = false;
        let d = t.desc.unwrap_unchecked();
        let path = (addr_of!(PATH) as *const u32).add(1);
        t.handle = host::offer(d as *const Desc as u32, t.data.as_ptr(), d.arg, path, (t.id >> 32) as u32, t.id as u32);
        n -= 1;
    }
}

/// enter makes a child the running job, and gives what CUR is to be again after it.
#[inline(always)]
unsafe fn enter(id: u64) -> u64 {
    let cur = CUR;
    let depth = (cur >> 32) as usize + 1;
    if depth >= DEPTH {
        fail("jobs are nested too deep");
    }
    *(addr_of_mut!(PATH) as *mut u32).add(depth) = id as u32;
    CUR = (depth as u64) << 32;
    cur
}

/// get gives the result of the newest child.
#[inline(always)]
pub fn get<J: Job>() -> J::Res {
    unsafe {
        let h = HEAD - 1;
        if h < TAIL {
            return settle_and_pop::<J>(h);
        }
        let t = task(h);
        let arg = (t.data.as_ptr() as *const J::Arg).read_unaligned();
        HEAD = h;
        let cur = enter(t.id);
        let res = J::run(arg);
        CUR = cur;
        res
    }
}

/// any gives the result of a child that has finished, whichever it is; private ones are run, the newest first.
pub fn any<J: Job>() -> J::Res {
    unsafe {
        if HEAD > TAIL {
            return get::<J>();
        }
        settle_and_pop::<J>(first())
    }
}

#[inline(never)]
unsafe fn settle_and_pop<J: Job>(i: u32) -> J::Res {
    settle(i);
    let res = (task(i).data.as_ptr() as *const J::Res).read_unaligned();
    task(i).got = true;
    while HEAD > 0 && HEAD <= TAIL && task(HEAD - 1).got && mine(HEAD - 1) {
        HEAD -= 1;
        TAIL = HEAD;
    }
    res
}

unsafe fn mine(i: u32) -> bool {
    task(i).id >> 32 == CUR >> 32
}

/// first finds the offered child that finishes first.
unsafe fn first() -> u32 {
    static mut HANDLES: [i32; CHILDREN] = [0; CHILDREN];
    let handles = addr_of_mut!(HANDLES) as *mut i32;
    let (mut i, mut n) = (HEAD, 0);
    while i > 0 && mine(i - 1) && n < CHILDREN {
        i -= 1;
        if !task(i).got {
            *handles.add(n) = task(i).handle;
            n += 1;
        }
    }
    if n == 0 {
        fail("a job waits for a child that it does not have");
    }
    let handle = *handles.add(host::any(handles, n as u32) as usize);
    while task(i).got || task(i).handle != handle {
        i += 1;
    }
    i
}

/// settle brings an offered child to its end, so that its slot holds the result. The host may give it back to be run
/// here: on top of the stack, whatever is above it was offered too.
unsafe fn settle(i: u32) {
    let t = task(i);
    let d = t.desc.unwrap_unchecked();
    let joined = host::join(t.handle);
    let len = joined as u32;
    if joined < 0 {
        let cur = enter(t.id);
        (d.run)(t.data.as_mut_ptr());
        CUR = cur;
    } else if joined >> 32 != 0 {
        if len as usize > 256 {
            fail("an error's text is too long");
        }
        let text = addr_of_mut!(TEXT) as *mut u8;
        host::result(text);
        error(core::str::from_utf8_unchecked(core::slice::from_raw_parts(text, len as usize)));
    } else if len != d.res {
        fail("a result has the wrong size");
    } else {
        host::result(t.data.as_mut_ptr());
    }
}

/// drop_all gives up all children of the running job.
pub fn drop_all() {
    unsafe {
        while HEAD > 0 && mine(HEAD - 1) {
            HEAD -= 1;
            if HEAD < TAIL {
                if !task(HEAD).got {
                    host::drop(task(HEAD).handle);
                }
                TAIL = HEAD;
            }
        }
    }
}

const FAILED: i64 = i64::MIN;

fn place(b: &[u8]) -> i64 {
    (b.as_ptr() as i64) << 32 | b.len() as i64
}

#[no_mangle]
extern "C" fn satin1_attention() -> *const u32 {
    unsafe { addr_of!(LIMIT) }
}

#[no_mangle]
extern "C" fn satin1_alloc(len: u32) -> *mut u8 {
    extern "C" {
        static __heap_base: u8;
    }
    let at = (unsafe { addr_of!(__heap_base) } as usize + 15) & !15;
    let (end, have) = (at + len as usize, core::arch::wasm32::memory_size(0) << 16);
    if end > have && core::arch::wasm32::memory_grow(0, (end - have + 0xffff) >> 16) == usize::MAX {
        return core::ptr::null_mut();
    }
    at as *mut u8
}

#[no_mangle]
extern "C" fn satin1_run(d: &'static Desc, arg: *const u8, len: u32) -> i64 {
    static mut AT: [u64; DATA / 8] = [0; DATA / 8];
    if len != d.arg {
        fail("an argument has the wrong size");
    }
    unsafe {
        let data = addr_of_mut!(AT) as *mut u8;
        core::ptr::copy_nonoverlapping(arg, data, len as usize);
        (d.run)(data);
        if HEAD > 0 && mine(HEAD - 1) {
            fail("a job returned before it got or dropped all its children");
        }
        match take_error() {
            Some(e) => place(e.as_bytes()) | FAILED,
            None => place(core::slice::from_raw_parts(data, d.res as usize)),
        }
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    fail("the program panicked")
}

/// What a module says of itself, to be exported as satin1_describe, satin1_setup, satin1_render and satin1_check.
pub mod app {
    use super::*;

    static mut OUT: [u8; 4096] = [0; 4096];
    static mut LEN: usize = 0;

    /// put adds to what text gives.
    pub fn put(b: &[u8]) {
        unsafe {
            if b.len() > 4096 - LEN {
                fail("a text is too long");
            }
            let out = (addr_of_mut!(OUT) as *mut u8).add(LEN);
            core::ptr::copy_nonoverlapping(b.as_ptr(), out, b.len());
            LEN += b.len();
        }
    }

    pub fn put_u64(mut v: u64) {
        let mut digits = [0u8; 20];
        let mut i = digits.len();
        loop {
            i -= 1;
            digits[i] = b'0' + (v % 10) as u8;
            v /= 10;
            if v == 0 {
                break;
            }
        }
        put(&digits[i..]);
    }

    /// text is all that was put.
    pub fn text() -> i64 {
        unsafe {
            let n = LEN;
            LEN = 0;
            (addr_of!(OUT) as i64) << 32 | n as i64
        }
    }

    /// want refuses an argument: what it is, and what is allowed.
    pub fn want(what: &str, allowed: &str) -> i64 {
        unsafe { LEN = 0 };
        put(what.as_bytes());
        put(b": want ");
        put(allowed.as_bytes());
        text() | FAILED
    }

    /// root says what to run, under the title that was put.
    pub fn root<J: Job>(arg: J::Arg) -> i64 {
        put(&[0]);
        put(&(&J::DESC as *const Desc as u32).to_le_bytes());
        put(unsafe { core::slice::from_raw_parts(&arg as *const J::Arg as *const u8, size_of::<J::Arg>()) });
        text()
    }

    /// describe gives a description in JSON.
    pub fn describe(json: &'static str) -> i64 {
        place(json.as_bytes())
    }

    /// bytes are what the host has put at an address.
    ///
    /// # Safety
    /// Only for the address and length of an export's call.
    pub unsafe fn bytes<'a>(at: *const u8, len: u32) -> &'a [u8] {
        core::slice::from_raw_parts(at, len as usize)
    }

    /// number reads a whole number.
    pub fn number(b: &[u8]) -> Option<u64> {
        if b.is_empty() || b.len() > 18 {
            return None;
        }
        let mut v = 0;
        for c in b {
            if !c.is_ascii_digit() {
                return None;
            }
            v = v * 10 + (c - b'0') as u64;
        }
        Some(v)
    }

    /// result finds the result in what satin1_render and satin1_check get.
    pub fn result(b: &[u8]) -> &[u8] {
        let n = u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize;
        let k = u32::from_le_bytes([b[4], b[5], b[6], b[7]]) as usize;
        let from = 8 + ((n + 7) & !7);
        &b[from..from + k]
    }
}
