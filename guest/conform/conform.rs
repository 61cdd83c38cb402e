// What every guest must be able to do, in Rust: the same words with the same answers as conform.c.
#![no_std]
#![no_main]

use satin::share::{self, Lattice, Object, Shared};
use satin::{any, app, drop_all, error, fail, get, spawn, take_error, Job};

macro_rules! job {
    ($name:ident, $arg:ty, $f:expr) => {
        struct $name;
        impl Job for $name {
            type Arg = $arg;
            type Res = u64;
            fn run(arg: $arg) -> u64 {
                let f: fn($arg) -> u64 = $f;
                f(arg)
            }
        }
    };
}

job!(Fib, u32, |n| {
    if n < 2 {
        return n as u64;
    }
    spawn::<Fib>(n - 1);
    let y = Fib::run(n - 2);
    get::<Fib>() + y
});

fn plain(n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    plain(n - 1) + plain(n - 2)
}
job!(Sequential, u32, plain);

fn count(all: u32, columns: u32, left: u32, right: u32) -> u64 {
    if columns == all {
        return 1;
    }
    let (mut n, mut free) = (0, all & !(columns | left | right));
    while free != 0 {
        let bit = free & free.wrapping_neg();
        n += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        free &= free - 1;
    }
    n
}
job!(CountOf, u32, |n| count((1 << n) - 1, 0, 0, 0));

#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}
job!(Queens, Board, |b| {
    if b.columns == b.all {
        return 1;
    }
    let (mut n, mut children, mut free) = (0, 0, b.all & !(b.columns | b.left | b.right));
    while free != 0 {
        let bit = free & free.wrapping_neg();
        let (columns, left, right) = (b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1);
        spawn::<Queens>(Board { all: b.all, columns, left, right });
        children += 1;
        free &= free - 1;
    }
    for _ in 0..children {
        n += any::<Queens>();
    }
    n
});
job!(QueensOf, u32, |n| Queens::run(Board { all: (1 << n) - 1, columns: 0, left: 0, right: 0 }));

job!(Echo, u32, |n| Fib::run(10) - 55 + n as u64);
job!(First, u32, |n| {
    for i in 0..8 {
        spawn::<Echo>(i);
    }
    let mut more = 8;
    while any::<Echo>() != n as u64 {
        if more < 300 {
            spawn::<Echo>(more);
        }
        more += 1;
    }
    drop_all();
    n as u64
});

job!(Forever, u32, |n| {
    let mut i = 0u32;
    loop {
        if unsafe { core::ptr::read_volatile(&i) } == u32::MAX && n == u32::MAX {
            return i as u64;
        }
        i = i.wrapping_add(1);
    }
});
job!(Aborted, u32, |n| {
    spawn::<Forever>(n);
    let r = Fib::run(25) - 75025 + n as u64;
    drop_all();
    r
});

job!(Fails, u32, |n| {
    if n == 0 {
        error("there is none at all");
        return 0;
    }
    spawn::<Fails>(n - 1);
    Fib::run(15);
    get::<Fails>()
});
job!(Caught, u32, |n| {
    spawn::<Fails>(n);
    Fib::run(15);
    get::<Fails>();
    take_error().map_or(0, |_| n as u64)
});
// Fails with a long text.
macro_rules! sixty {
    () => {
        "that there is nothing at all takes a great many words to say,"
    };
}
job!(Wordy, u32, |n| {
    Fib::run(15);
    error(concat!(sixty!(), sixty!(), sixty!(), sixty!(), sixty!(), sixty!()));
    n as u64
});
// Fails with the first of two errors: a job between them deals with those of its own children only.
job!(Beside, u32, |n| {
    spawn::<Wordy>(n);
    spawn::<Caught>(n);
    spawn::<Fails>(n);
    get::<Fails>();
    get::<Caught>();
    get::<Wordy>()
});
job!(Panics, u32, |n| {
    if n == 0 {
        fail("this cannot go on");
    }
    spawn::<Panics>(n - 1);
    Fib::run(15);
    get::<Panics>()
});
job!(Deep, u32, |n| {
    if n == 0 {
        return 0;
    }
    spawn::<Deep>(n - 1);
    get::<Deep>() + 1
});
job!(Floats, u32, |n| {
    let mut sum = 0f64;
    for i in 1..=n {
        sum += 1.0 / i as f64 * if i & 1 == 1 { 1.0 } else { -0.9 };
    }
    let zero = unsafe { core::ptr::read_volatile(&0f64) };
    sum.to_bits() ^ (zero / zero + sum).to_bits()
});

#[derive(Clone, Copy)]
#[repr(C)]
struct Range {
    numbers: Shared,
    from: u32,
    to: u32,
}
struct Sum;
impl Job for Sum {
    type Arg = Range;
    type Res = u64;
    const SHARED: usize = 1;
    fn run(r: Range) -> u64 {
        if r.to - r.from > 16 {
            let mid = (r.from + r.to) / 2;
            spawn::<Sum>(Range { to: mid, ..r });
            let s = Sum::run(Range { from: mid, ..r });
            return get::<Sum>() + s;
        }
        static mut ALL: [u8; 1 << 15] = [0; 1 << 15];
        let mut s = Fib::run(18) - 2584;
        let all = unsafe { &mut *core::ptr::addr_of_mut!(ALL) };
        share::read(r.numbers, all);
        for i in r.from as usize..r.to as usize {
            s += u32::from_le_bytes([all[4 * i], all[4 * i + 1], all[4 * i + 2], all[4 * i + 3]]) as u64;
        }
        s
    }
}
job!(Constant, u32, |n| {
    static mut ALL: [u8; 1 << 15] = [0; 1 << 15];
    let all = unsafe { &mut *core::ptr::addr_of_mut!(ALL) };
    if n as usize > all.len() / 4 {
        fail("too many numbers");
    }
    for i in 0..n {
        all[4 * i as usize..][..4].copy_from_slice(&i.to_le_bytes());
    }
    Sum::run(Range { numbers: share::constant(&all[..4 * n as usize]), from: 0, to: n })
});

struct Steps;
impl Object for Steps {
    type State = u64;
    type Write = u32;
    fn moved(state: u64, w: u32) -> u64 {
        state.wrapping_mul(31).wrapping_add(w as u64)
    }
}
struct Look;
impl Job for Look {
    type Arg = Shared;
    type Res = u64;
    const SHARED: usize = 1;
    fn run(at: Shared) -> u64 {
        (Fib::run(18) - 2584).wrapping_add(share::state::<Steps>(at))
    }
}
job!(AnObject, u32, |n| {
    let (mut at, mut s) = (share::object::<Steps>(1), 0u64);
    for i in 1..=n {
        at = share::write::<Steps>(at, i);
        spawn::<Look>(at);
    }
    for _ in 0..n {
        s = s.wrapping_add(get::<Look>());
    }
    s
});

struct Least;
impl Lattice for Least {
    type About = u64;
    type Value = u64;
    fn join(a: u64, b: u64) -> u64 {
        a.min(b)
    }
    fn valid(about: u64, v: u64) -> Option<&'static str> {
        if v >= about {
            None
        } else {
            Some("it is less than there can be")
        }
    }
}
#[derive(Clone, Copy)]
#[repr(C)]
struct Offers {
    best: Shared,
    from: u32,
    to: u32,
}
struct Search;
impl Job for Search {
    type Arg = Offers;
    type Res = u64;
    const SHARED: usize = 1;
    fn run(o: Offers) -> u64 {
        if o.to - o.from > 1 {
            let mid = (o.from + o.to) / 2;
            spawn::<Search>(Offers { to: mid, ..o });
            let b = Search::run(Offers { from: mid, ..o });
            return get::<Search>().min(b);
        }
        let v = 1000 + (o.from.wrapping_mul(2654435761) >> 8) as u64 + Fib::run(8) - 21;
        share::offer::<Least>(o.best, v);
        if share::value::<Least>(o.best).map_or(true, |least| least > v) {
            fail("a job does not see its own offer");
        }
        v
    }
}
job!(ALattice, u32, |n| {
    let best = share::lattice::<Least>(1000);
    if share::value::<Least>(best).is_some() {
        fail("there is a value that nobody has offered");
    }
    let v = Search::run(Offers { best, from: 0, to: n });
    share::offer::<Least>(best, v);
    share::value::<Least>(best).unwrap_or(0)
});

#[derive(Clone, Copy)]
#[repr(C)]
struct Bounded {
    best: Shared,
    most: u32,
}
struct Within;
impl Job for Within {
    type Arg = Bounded;
    type Res = u64;
    const SHARED: usize = 1;
    const GUARDED: bool = true;
    fn guard(b: Bounded) -> bool {
        share::value::<Least>(b.best).map_or(false, |v| v <= b.most as u64)
    }
    fn run(b: Bounded) -> u64 {
        Fib::run(10) - 55 + Within::guard(b) as u64
    }
}
job!(Guarded, u32, |n| {
    let best = share::lattice::<Least>(1000);
    for i in 0..n {
        share::offer::<Least>(best, 2000 - i as u64);
        spawn::<Within>(Bounded { best, most: 2000 - i });
    }
    let mut s = 0;
    for _ in 0..n {
        s += get::<Within>();
    }
    s
});
job!(Waits, u32, |n| {
    let best = share::lattice::<Least>(1000);
    loop {
        Fib::run(6);
        match share::value::<Least>(best) {
            Some(v) if v <= n as u64 => return v,
            _ => {}
        }
    }
});
job!(OffersIt, u32, |n| {
    share::offer::<Least>(share::lattice::<Least>(1000), n as u64);
    n as u64
});
job!(Invalid, u32, |n| {
    share::offer::<Least>(share::lattice::<Least>(1000), n as u64);
    0
});

struct File;
impl Job for File {
    type Arg = Shared;
    type Res = u64;
    const SHARED: usize = 1;
    fn run(file: Shared) -> u64 {
        let mut text = [0; 1 << 10];
        let n = share::read(file, &mut text);
        text[..n].iter().map(|&b| b as u64).sum()
    }
}

#[no_mangle]
extern "C" fn satin1_describe() -> i64 {
    app::describe(concat!(
        "{\"abi\":1,\"name\":\"conform\",\"summary\":\"what every guest must be able to do\",\"args\":\"WHAT N\",",
        "\"examples\":[\"fib 20\"],\"flags\":[]}"
    ))
}

#[no_mangle]
extern "C" fn satin1_setup(at: *const u8, len: u32) -> i64 {
    let mut words = unsafe { app::bytes(at, len) }.split(|&c| c == 0);
    let what = words.next().unwrap_or(b"");
    let n = match words.next().and_then(app::number) {
        Some(n) => n as u32,
        None => return app::want("N", "a whole number"),
    };
    app::put(what);
    match what {
        b"fib" => app::root::<Fib>(n),
        b"sequential" => app::root::<Sequential>(n),
        b"count_of" => app::root::<CountOf>(n),
        b"queens_of" => app::root::<QueensOf>(n),
        b"first" => app::root::<First>(n),
        b"aborted" => app::root::<Aborted>(n),
        b"fails" => app::root::<Fails>(n),
        b"caught" => app::root::<Caught>(n),
        b"beside" => app::root::<Beside>(n),
        b"panics" => app::root::<Panics>(n),
        b"deep" => app::root::<Deep>(n),
        b"floats" => app::root::<Floats>(n),
        b"constant" => app::root::<Constant>(n),
        b"object" => app::root::<AnObject>(n),
        b"lattice" => app::root::<ALattice>(n),
        b"guarded" => app::root::<Guarded>(n),
        b"waits" => app::root::<Waits>(n),
        b"offers_it" => app::root::<OffersIt>(n),
        b"invalid" => app::root::<Invalid>(n),
        b"file" => match share::file("input") {
            Some(file) => app::root::<File>(file),
            None => app::want("--file", "input=PATH"),
        },
        _ => app::want("WHAT", "one of the words in conform.rs"),
    }
}

#[no_mangle]
extern "C" fn satin1_render(at: *const u8, len: u32) -> i64 {
    let mut value = [0; 8];
    value.copy_from_slice(app::result(unsafe { app::bytes(at, len) }));
    app::put_u64(u64::from_le_bytes(value));
    app::text()
}
