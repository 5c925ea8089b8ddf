//! Lines of CSV by RFC 4180, of any bytes.

/// Appends a field, in quotes where it holds a comma, a quote or a line end.
pub(crate) fn push_field(out: &mut Vec<u8>, field: &[u8]) {
    if !field.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        out.extend_from_slice(field);
        return;
    }
    out.push(b'"');
    for &byte in field {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends a line of these fields, ended by a line feed.
pub(crate) fn push_line(out: &mut Vec<u8>, fields: &[impl AsRef<[u8]>]) {
    for (number, field) in fields.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_field(out, field.as_ref());
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        let mut out = Vec::new();
        for field in [&b"plain"[..], b"a,b", b"say \"x\"", b"two\nlines", b"\xff", b""] {
            push_field(&mut out, field);
            out.push(b';');
        }
        assert_eq!(out, b"plain;\"a,b\";\"say \"\"x\"\"\";\"two\nlines\";\xff;;");
    }
}
