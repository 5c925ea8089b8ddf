//! Values of `size --emit`, and what goes with it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use hotset_view::size::SizeForm;

/// A form and where it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmitTo {
    /// Which one.
    pub(crate) form: SizeForm,
    /// The file; `-` is standard output.
    pub(crate) file: PathBuf,
}

/// Reads `FORM` or `FORM=FILE`.
pub(super) fn emit_to() -> impl TypedValueParser<Value = EmitTo> {
    OsStringValueParser::new().try_map(|typed: OsString| split(&typed))
}

fn split(typed: &OsStr) -> Result<EmitTo, String> {
    let mut parts = typed.as_bytes().splitn(2, |&byte| byte == b'=');
    let word = parts.next().unwrap_or_default();
    let form = SizeForm::ALL.into_iter().find(|form| form.as_str().as_bytes() == word);
    let form = form.ok_or("expected k8s, systemd or vpa, alone or as FORM=FILE")?;
    match parts.next() {
        Some(b"") => Err("expected a file after =, or no =".to_owned()),
        file => Ok(EmitTo { form, file: OsStr::from_bytes(file.unwrap_or(b"-")).into() }),
    }
}

/// Reads a container's name as Kubernetes allows it: a DNS label (RFC 1123).
pub(super) fn container(text: &str) -> Result<String, String> {
    const MOST: usize = 63;
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = !text.is_empty()
        && text.len() <= MOST
        && text.chars().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    is_name.then(|| text.to_owned()).ok_or_else(|| {
        format!("expected up to {MOST} of a-z, 0-9 and -, with a letter or digit at both ends")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_goes_to_standard_output_or_to_a_file() {
        let read = |text: &[u8]| split(OsStr::from_bytes(text));
        let to = |form, file: &[u8]| EmitTo { form, file: OsStr::from_bytes(file).into() };
        assert_eq!(read(b"k8s"), Ok(to(SizeForm::K8s, b"-")));
        assert_eq!(read(b"vpa=a=b.yaml"), Ok(to(SizeForm::Vpa, b"a=b.yaml")));
        assert_eq!(read(b"systemd=\xff"), Ok(to(SizeForm::Systemd, b"\xff")));
        for wrong in [&b""[..], b"K8S", b"docker", b"=x", b"\xff"] {
            assert!(read(wrong).is_err_and(|error| error.contains("systemd or vpa")), "{wrong:?}");
        }
        assert!(read(b"k8s=").is_err_and(|error| error.contains("file after =")));
    }

    #[test]
    fn a_container_has_a_name_that_kubernetes_allows() {
        for name in ["a", "web-1", "0", &"x".repeat(63)] {
            assert_eq!(container(name).as_deref(), Ok(name));
        }
        for name in ["", "-a", "a-", "Web", "a.b", "a\nb", "a\"", "\u{e9}", &"x".repeat(64)] {
            assert!(container(name).is_err(), "{name}");
        }
    }
}
