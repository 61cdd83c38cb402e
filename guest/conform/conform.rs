// What every guest must be able to do, in Rust: the same words with the same answers as conform.c.
#![no_std]
#![no_main]

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
        b"panics" => app::root::<Panics>(n),
        b"deep" => app::root::<Deep>(n),
        b"floats" => app::root::<Floats>(n),
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
