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
        pub fn constant(at: *const u8, len: u32, name: *mut u8);
        pub fn object(at: *const u8, len: u32, name: *mut u8);
        pub fn write(method: u32, old: *const u8, w: *const u8, writes: u32, next: *const u8, len: u32, name: *mut u8);
        pub fn lattice(method: u32, about: *const u8, len: u32, name: *mut u8);
        pub fn read(name: *const u8) -> i64;
        pub fn value(name: *const u8) -> i64;
        pub fn grow(name: *const u8, at: *const u8, len: u32);
        pub fn naming(names: *const u8, n: u32, guarded: u32);
        pub fn file(name: *const u8, len: u32, to: *mut u8) -> i32;
    }
}

/// A job: a pure function of plain data.
pub trait Job {
    type Arg: Copy;
    type Res: Copy;
    /// How many handles of shared values the argument begins with, which is repr(C) then. What they name is there when
    /// the job begins.
    const SHARED: usize = 0;
    /// Whether guard is asked before it begins where it was stolen to.
    const GUARDED: bool = false;
    fn run(arg: Self::Arg) -> Self::Res;
    /// Whether the lattices in the argument have grown enough. It looks, and does nothing else.
    fn guard(_: Self::Arg) -> bool {
        true
    }
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
    shared: u32,
    guard: Option<unsafe fn(*const u8) -> bool>,
}

trait Described {
    const DESC: Desc;
}

impl<J: Job> Described for J {
    const DESC: Desc = Desc {
        run: run_at::<J>,
        arg: size_of::<J::Arg>() as u32,
        res: size_of::<J::Res>() as u32,
        shared: J::SHARED as u32,
        guard: if J::GUARDED { Some(guard_at::<J>) } else { None },
    };
}

unsafe fn guard_at<J: Job>(data: *const u8) -> bool {
    J::guard((data as *const J::Arg).read_unaligned())
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
static mut TEXT: [u8; 4200] = [0; 4200];

unsafe fn task(i: u32) -> &'static mut Task {
    &mut *(addr_of_mut!(TASKS) as *mut Task).add(i as usize)
}

/// fail ends the whole run with a line that says why.
pub fn fail(why: &str) -> ! {
    unsafe { host::fail(why.as_ptr(), why.len() as u32) };
    core::arch::wasm32::unreachable()
}

/// error makes the running job fail with a text: a line of 4 KiB at most. It goes on, and its result does not count. The
/// error fails its spawner too, and so on, unless take_error is asked after the child was got: that gives the first one,
/// and its text until another child is got.
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
    share::looked();
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
        let (mut arg, mut len) = (t.data.as_ptr(), d.arg);
        if d.shared > 0 || d.guard.is_some() {
            (arg, len) = share::pack(d, arg);
        }
        t.handle = host::offer(d as *const Desc as u32, arg, len, path, (t.id >> 32) as u32, t.id as u32);
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
        if h < TAIL || (*addr_of!(ERROR)).is_some() {
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

/// settle brings a child to its end that was offered, or runs beside one that has failed, so that its slot holds the
/// result. What that other one failed with this one is not to see. The host may give a child back to be run here: on top
/// of the stack, whatever is above it was offered too.
unsafe fn settle(i: u32) {
    let t = task(i);
    let d = t.desc.unwrap_unchecked();
    let before = take_error();
    let mut joined = -1;
    if i < TAIL {
        joined = host::join(t.handle);
    } else {
        HEAD = i;
    }
    let len = joined as u32;
    if joined < 0 {
        let cur = enter(t.id);
        (d.run)(t.data.as_mut_ptr());
        CUR = cur;
    } else if joined >> 32 != 0 {
        if len as usize > 4200 {
            fail("an error's text is too long");
        }
        let text = addr_of_mut!(TEXT) as *mut u8;
        if before.is_none() {
            host::result(text);
        }
        error(core::str::from_utf8_unchecked(core::slice::from_raw_parts(text, len as usize)));
    } else if len != d.res {
        fail("a result has the wrong size");
    } else {
        host::result(t.data.as_mut_ptr());
    }
    if before.is_some() {
        ERROR = before;
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
    unsafe {
        let data = addr_of_mut!(AT) as *mut u8;
        share::unpack(d, arg, len, data);
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

/// What jobs share. A value is a handle in here and has a name of 32 bytes outside; it is there as long as the job runs
/// that has made it. Handles are in arguments, at their beginning, and nowhere else: not in results.
pub mod share {
    use super::*;

    /// A handle of a shared value; 0 is none.
    #[derive(Clone, Copy, PartialEq)]
    #[repr(transparent)]
    pub struct Shared(pub u32);

    const NAME: usize = 32;
    const VALUES: usize = 2048;
    const BYTES: usize = 8192;

    #[derive(Clone, Copy)]
    struct Known {
        name: [u8; NAME],
        looked: u32,    // LOOKS at the last look at a lattice
        value: *mut u8, // of a lattice
        has: bool,      // it is not the least
    }

    static mut KNOWN: [Known; VALUES] =
        [Known { name: [0; NAME], looked: 0, value: core::ptr::null_mut(), has: false }; VALUES];
    static mut COUNT: u32 = 0; // of KNOWN, after the first
    static mut LOOKS: u32 = 1; // grows when lattices may have grown
    static mut ROOM: [u64; BYTES / 8] = [0; BYTES / 8];
    static mut USED: usize = 0;
    static mut PACKED: [u8; NAME * DATA / 4 + DATA] = [0; NAME * DATA / 4 + DATA];

    unsafe fn known(v: Shared) -> &'static mut Known {
        &mut *(addr_of_mut!(KNOWN) as *mut Known).add(v.0 as usize)
    }

    pub(crate) unsafe fn looked() {
        LOOKS = LOOKS.wrapping_add(1);
    }

    /// handle gives the handle of a name.
    unsafe fn handle(name: &[u8; NAME]) -> Shared {
        let mut i = 0;
        while i <= COUNT && known(Shared(i)).name != *name {
            i += 1;
        }
        if i > COUNT {
            if i as usize == VALUES {
                fail("too many shared values");
            }
            known(Shared(i)).name = *name;
            COUNT = i;
        }
        Shared(i)
    }

    /// pack makes of an argument what leaves, names for its handles, and tells the host what it names.
    pub(crate) unsafe fn pack(d: &Desc, data: *const u8) -> (*const u8, u32) {
        let (out, handles, k) = (addr_of_mut!(PACKED) as *mut u8, data as *const u32, d.shared as usize);
        let mut n = 0;
        for i in 0..k {
            let h = handles.add(i).read_unaligned();
            if h != 0 {
                out.add(NAME * n).copy_from_nonoverlapping(known(Shared(h)).name.as_ptr(), NAME);
                n += 1;
            }
        }
        host::naming(out, n as u32, d.guard.is_some() as u32);
        for i in 0..k {
            let h = handles.add(i).read_unaligned();
            out.add(NAME * i).copy_from_nonoverlapping(known(Shared(h)).name.as_ptr(), NAME);
        }
        let rest = d.arg as usize - 4 * k;
        out.add(NAME * k).copy_from_nonoverlapping(data.add(4 * k), rest);
        (out, (NAME * k + rest) as u32)
    }

    /// unpack is the other way.
    pub(crate) unsafe fn unpack(d: &Desc, packed: *const u8, len: u32, data: *mut u8) {
        let k = d.shared as usize;
        let rest = d.arg as usize - 4 * k;
        if len as usize != NAME * k + rest {
            fail("an argument has the wrong size");
        }
        for i in 0..k {
            let h = handle(&*(packed.add(NAME * i) as *const [u8; NAME]));
            (data as *mut u32).add(i).write_unaligned(h.0);
        }
        data.add(4 * k).copy_from_nonoverlapping(packed.add(NAME * k), rest);
    }

    unsafe fn bytes_of<T>(v: &T) -> (*const u8, u32) {
        (v as *const T as *const u8, size_of::<T>() as u32)
    }

    /// constant makes a constant of bytes.
    pub fn constant(b: &[u8]) -> Shared {
        let mut name = [0; NAME];
        unsafe {
            host::constant(b.as_ptr(), b.len() as u32, name.as_mut_ptr());
            handle(&name)
        }
    }

    /// read copies a constant, or the state of an object, and gives its length. It waits if that is not here.
    pub fn read(v: Shared, to: &mut [u8]) -> usize {
        unsafe {
            let n = host::read(known(v).name.as_ptr()) as usize;
            if n > to.len() {
                fail("what is read is larger than the place for it");
            }
            host::result(to.as_mut_ptr());
            n
        }
    }

    /// file gives what was given to the run as --file NAME=PATH, as a constant. For setup, render and check.
    pub fn file(name: &str) -> Option<Shared> {
        let mut to = [0; NAME];
        unsafe {
            match host::file(name.as_ptr(), name.len() as u32, to.as_mut_ptr()) {
                0 => None,
                _ => Some(handle(&to)),
            }
        }
    }

    /// How a kind of shared value changes: what is a method to the host is the address of one of these.
    #[repr(C)]
    pub struct Kind {
        size: u32,
        by: u32, // bytes of a write, or of what a lattice is about
        change: unsafe fn(*mut u8, *const u8),
        valid: unsafe fn(*const u8, *const u8) -> Option<&'static str>,
    }

    unsafe fn no_offer(_: *const u8, _: *const u8) -> Option<&'static str> {
        Some("it is no lattice")
    }

    /// An object whose state goes from version to version by writes. Only the job that has shared one writes to it.
    pub trait Object {
        type State: Copy;
        type Write: Copy;
        /// moved gives the state after a write; it may be run on any machine.
        fn moved(state: Self::State, w: Self::Write) -> Self::State;
    }

    trait ObjectKind {
        const KIND: Kind;
    }

    impl<O: Object> ObjectKind for O {
        const KIND: Kind = Kind {
            size: size_of::<O::State>() as u32,
            by: size_of::<O::Write>() as u32,
            change: move_at::<O>,
            valid: no_offer,
        };
    }

    unsafe fn move_at<O: Object>(state: *mut u8, w: *const u8) {
        let s = state as *mut O::State;
        s.write_unaligned(O::moved(s.read_unaligned(), (w as *const O::Write).read_unaligned()));
    }

    /// object gives the first version of one.
    pub fn object<O: Object>(first: O::State) -> Shared {
        let mut name = [0; NAME];
        unsafe {
            let (at, len) = bytes_of(&first);
            host::object(at, len, name.as_mut_ptr());
            handle(&name)
        }
    }

    /// state gives the state of a version.
    pub fn state<O: Object>(v: Shared) -> O::State {
        let mut s = core::mem::MaybeUninit::<O::State>::uninit();
        unsafe {
            let n = size_of::<O::State>();
            if read(v, core::slice::from_raw_parts_mut(s.as_mut_ptr() as *mut u8, n)) != n {
                fail("a state has the wrong size");
            }
            s.assume_init()
        }
    }

    /// write gives the version after another.
    pub fn write<O: Object>(old: Shared, w: O::Write) -> Shared {
        let next = O::moved(state::<O>(old), w);
        let mut name = [0; NAME];
        unsafe {
            let ((by, writes), (at, len)) = (bytes_of(&w), bytes_of(&next));
            let method = &O::KIND as *const Kind as u32;
            host::write(method, known(old).name.as_ptr(), by, writes, at, len, name.as_mut_ptr());
            handle(&name)
        }
    }

    /// A value that all jobs see grow. join is commutative, associative and idempotent; valid says what is wrong with an
    /// offer of another machine. A program must be right whatever valid offers a value has joined.
    pub trait Lattice {
        type About: Copy;
        type Value: Copy;
        fn join(a: Self::Value, b: Self::Value) -> Self::Value;
        fn valid(about: Self::About, v: Self::Value) -> Option<&'static str>;
    }

    trait LatticeKind {
        const KIND: Kind;
    }

    impl<L: Lattice> LatticeKind for L {
        const KIND: Kind = Kind {
            size: size_of::<L::Value>() as u32,
            by: size_of::<L::About>() as u32,
            change: join_at::<L>,
            valid: valid_at::<L>,
        };
    }

    unsafe fn join_at<L: Lattice>(v: *mut u8, by: *const u8) {
        let a = v as *mut L::Value;
        a.write_unaligned(L::join(a.read_unaligned(), (by as *const L::Value).read_unaligned()));
    }

    unsafe fn valid_at<L: Lattice>(about: *const u8, v: *const u8) -> Option<&'static str> {
        L::valid((about as *const L::About).read_unaligned(), (v as *const L::Value).read_unaligned())
    }

    /// lattice gives the one lattice of its kind about that.
    pub fn lattice<L: Lattice>(about: L::About) -> Shared {
        let mut name = [0; NAME];
        unsafe {
            let (at, len) = bytes_of(&about);
            host::lattice(&<L as LatticeKind>::KIND as *const Kind as u32, at, len, name.as_mut_ptr());
            handle(&name)
        }
    }

    /// value gives the value as far as it is known here; None is the least.
    #[inline(always)]
    pub fn value<L: Lattice>(l: Shared) -> Option<L::Value> {
        unsafe {
            if read_volatile(addr_of!(LIMIT)) == 0 {
                attend();
            }
            let k = known(l);
            if k.looked != LOOKS {
                look(l, size_of::<L::Value>());
            }
            if k.has {
                Some((k.value as *const L::Value).read_unaligned())
            } else {
                None
            }
        }
    }

    #[inline(never)]
    unsafe fn look(l: Shared, size: usize) {
        let k = known(l);
        k.looked = LOOKS;
        if k.value.is_null() {
            k.value = (addr_of_mut!(ROOM) as *mut u8).add(USED);
            USED += (size + 7) & !7;
            if USED > BYTES {
                fail("too many values of lattices");
            }
        }
        let len = host::value(k.name.as_ptr());
        if len <= 0 {
            return;
        }
        if len as usize != size {
            fail("the value of a lattice has the wrong size");
        }
        host::result(k.value);
        k.has = true;
    }

    /// offer joins a value in.
    pub fn offer<L: Lattice>(l: Shared, v: L::Value) {
        let old = value::<L>(l);
        let with = old.map_or(v, |o| L::join(v, o));
        unsafe {
            let ((at, len), k) = (bytes_of(&with), known(l));
            let (now, had) = (core::slice::from_raw_parts(at, len as usize), k.value as *const u8);
            if old.is_some() && now == core::slice::from_raw_parts(had, len as usize) {
                return;
            }
            k.value.copy_from_nonoverlapping(at, len as usize);
            k.has = true;
            let (at, len) = bytes_of(&v);
            host::grow(k.name.as_ptr(), at, len);
        }
    }

    /// both takes apart what the host gives of two things.
    unsafe fn both(p: *mut u8, first: u32, second: u32) -> (*mut u8, *const u8) {
        let (n, k) = (*(p as *const u32), *(p as *const u32).add(1));
        if n != first || k != second {
            fail("a shared value has the wrong size");
        }
        (p.add(8), p.add(8 + ((n as usize + 7) & !7)))
    }

    #[no_mangle]
    unsafe extern "C" fn satin1_move(k: &'static Kind, p: *mut u8, _: u32) -> i64 {
        let (state, w) = both(p, k.size, k.by);
        (k.change)(state, w);
        place(core::slice::from_raw_parts(state, k.size as usize))
    }

    #[no_mangle]
    unsafe extern "C" fn satin1_join(k: &'static Kind, p: *mut u8, _: u32) -> i64 {
        let (v, by) = both(p, k.size, k.size);
        (k.change)(v, by);
        place(core::slice::from_raw_parts(v, k.size as usize))
    }

    #[no_mangle]
    unsafe extern "C" fn satin1_valid(k: &'static Kind, p: *mut u8, _: u32) -> i64 {
        let (about, v) = both(p, k.by, k.size);
        (k.valid)(about, v).map_or(0, |why| place(why.as_bytes()) | FAILED)
    }

    #[no_mangle]
    unsafe extern "C" fn satin1_guard(d: &'static Desc, p: *const u8, len: u32) -> i64 {
        static mut AT: [u64; DATA / 8] = [0; DATA / 8];
        let data = addr_of_mut!(AT) as *mut u8;
        unpack(d, p, len, data);
        match d.guard {
            Some(g) if !g(data) => 0,
            _ => place(core::slice::from_raw_parts(data, 1)),
        }
    }
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
        unsafe {
            let (at, len) = share::pack(&J::DESC, &arg as *const J::Arg as *const u8);
            put(core::slice::from_raw_parts(at, len as usize));
        }
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

    /// wrong says what is wrong with an answer.
    pub fn wrong(why: &'static str) -> i64 {
        place(why.as_bytes()) | FAILED
    }

    /// arg finds the argument of the root job in what satin1_render and satin1_check get.
    pub fn arg<J: Job>(b: &[u8]) -> J::Arg {
        let n = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let mut arg = core::mem::MaybeUninit::<J::Arg>::uninit();
        unsafe {
            share::unpack(&J::DESC, b[8..].as_ptr(), n, arg.as_mut_ptr() as *mut u8);
            arg.assume_init()
        }
    }

    /// result finds the result in what satin1_render and satin1_check get.
    pub fn result(b: &[u8]) -> &[u8] {
        let n = u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize;
        let k = u32::from_le_bytes([b[4], b[5], b[6], b[7]]) as usize;
        let from = 8 + ((n + 7) & !7);
        &b[from..from + k]
    }
}
