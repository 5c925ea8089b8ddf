//! What the system says of an error, as people read it.

use std::borrow::Cow;

/// Takes the numbers of errors out of a message: `No such file or directory (os error 2)`, as std::io::Error displays it,
/// says the same without.
pub fn without_error_numbers(message: &str) -> Cow<'_, str> {
    const BEGINS: &str = " (os error ";
    let Some((before, rest)) = message.split_once(BEGINS) else { return Cow::Borrowed(message) };
    let mut out = before.to_owned();
    match rest.split_once(')') {
        Some((number, after)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            out.push_str(&without_error_numbers(after));
        }
        _ => {
            out.push_str(BEGINS);
            out.push_str(&without_error_numbers(rest));
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_errors_are_taken_out() {
        let enoent = std::io::Error::from_raw_os_error(2).to_string();
        assert_eq!(without_error_numbers(&enoent), "No such file or directory");
        let both = format!("a: {enoent}; b: {enoent}, c");
        let wanted = "a: No such file or directory; b: No such file or directory, c";
        assert_eq!(without_error_numbers(&both), wanted);
        for kept in ["", "all is well", "x (os error two)", "x (os error 2"] {
            assert_eq!(without_error_numbers(kept), kept);
        }
    }
}
