//! Traps of strace's arguments.

use super::args::*;

fn args(text: &str) -> Vec<String> {
    let (args, _) = arguments(text.as_bytes());
    args.into_iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

#[test]
fn strings_and_paths_hide_commas_and_parentheses() {
    let text = r#"3</tmp/a) = 5, b>, "x) = 7, \"", {a=[1, 2], b="}"}, 0x7 /* 3, vars) */) = 8"#;
    let expected =
        ["3</tmp/a) = 5, b>", r#""x) = 7, \"""#, r#"{a=[1, 2], b="}"}"#, "0x7 /* 3, vars) */"];
    assert_eq!(args(text), expected);
    let parts = split(text.as_bytes()).expect("whole");
    assert_eq!(parts.result.value, Some(8));
    assert_eq!(args("1<</dev/null<char 1:3>>, 5) = 5").len(), 2);
    assert_eq!(args("5<TCP:[1.2.3.4:5->6.7.8.9:10]>, 1<<3, 4) = 0").len(), 3);
    assert_eq!(args(") = 5"), [""; 0]);
}

#[test]
fn results_of_every_kind() {
    let result = |text: &str| {
        split(text.as_bytes()).map(|parts| {
            let path = parts.result.path.map(|path| String::from_utf8_lossy(path).into_owned());
            (parts.result.value, path, parts.result.duration_ns)
        })
    };
    let path = |path: &str| Some(path.to_owned());
    assert_eq!(result(")   = ?"), Ok((None, None, None)));
    assert_eq!(result(") = 3</tmp/a b> <0.000012>"), Ok((Some(3), path("/tmp/a b"), Some(12_000))));
    assert_eq!(result(") = 3</tmp/1.5>"), Ok((Some(3), path("/tmp/1.5"), None)));
    let failed = result(") = -1 ENOENT (No such file or directory) <0.5>");
    assert_eq!(failed, Ok((Some(-2), None, Some(500_000_000))));
    assert_eq!(result(") = ? ERESTARTSYS (To be restarted)"), Ok((None, None, None)));
    assert_eq!(result(") = 0x7f0000001000"), Ok((Some(0x7f00_0000_1000), None, None)));
    assert_eq!(result(") = 9223372036854775807"), Ok((Some(i64::MAX), None, None)));
    assert_eq!(result(") = 0xffffffffff600000"), Ok((Some(-10_485_760), None, None)));
    assert!(result(") = read").is_err_and(|reason| reason.contains("expected a number or ?")));
    assert!(result("3, \"abc").is_err_and(|reason| reason.contains("closing parenthesis")));
    assert!(result(") 5").is_err());
}

#[test]
fn escapes_are_bytes() {
    assert_eq!(string(br#""\303\251 \"q\" \x41\n\0""#), Some(b"\xc3\xa9 \"q\" A\n\0".to_vec()));
    assert_eq!(string(br#""cut"..."#), None);
    assert_eq!(string(b"NULL"), None);
    assert_eq!(unescape(br"g\76h\74i"), b"g>h<i");
    assert_eq!(unescape(br"\"), b"");
}

#[test]
fn descriptors_have_numbers_and_may_have_paths() {
    let of = |text: &str| descriptor(text.as_bytes());
    let found = |number, path: Option<&str>, is_deleted| {
        Some(Descriptor { number, path: path.map(|path| path.as_bytes().to_vec()), is_deleted })
    };
    assert_eq!(of("3"), found(3, None, false));
    assert_eq!(of("3</a b>"), found(3, Some("/a b"), false));
    assert_eq!(of("3</a>(deleted)"), found(3, Some("/a"), true));
    assert_eq!(of("AT_FDCWD</root>"), found(CURRENT, Some("/root"), false));
    assert_eq!(of("1</dev/null<char 1:3>>"), found(1, Some("/dev/null<char 1:3>"), false));
    assert_eq!((of("NULL"), of("")), (None, None));
}

#[test]
fn lists_and_fields() {
    let vectors = br#"[{iov_base="a, ]", iov_len=5}, {iov_base="", iov_len=7}]"#;
    let lengths: Vec<_> = list(vectors)
        .expect("a list")
        .into_iter()
        .map(|vector| size(field(vector, "iov_len").expect("a length")))
        .collect();
    assert_eq!(lengths, [Some(5), Some(7)]);
    assert_eq!(list(b"[1, ...]"), None);
    assert_eq!(list(b"NULL"), None);
    assert!(has(b"O_RDWR|O_APPEND", "O_APPEND") && !has(b"O_RDWR|O_APPENDIX", "O_APPEND"));
}
