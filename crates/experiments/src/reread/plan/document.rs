//! A document to parse.

/// What records are made of.
const WORDS: [&str; 8] = ["page", "cache", "folio", "read", "write", "ahead", "dirty", "clean"];

/// A JSON document of exactly `bytes` bytes (64 at least): an array of records with numbers, strings with escapes, lists and
/// a nested object, as web services send them. The same bytes every time.
pub(crate) fn document(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.max(64));
    text.extend_from_slice(b"[");
    for number in 0_u64.. {
        let record = record(number);
        let comma = usize::from(number > 0);
        // The closing bracket needs a place.
        if text.len() + comma + record.len() + 1 > bytes {
            break;
        }
        if comma == 1 {
            text.push(b',');
        }
        text.extend_from_slice(record.as_bytes());
    }
    // White space may stand there, and a few hundred bytes of it change nothing.
    text.resize(text.len().max(bytes.max(64) - 1), b' ');
    text.push(b']');
    text
}

fn record(number: u64) -> String {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    let word = |shift: u32| WORDS[(mixed >> shift) as usize % WORDS.len()];
    let (integer, fraction) = (mixed % 100_000, mixed % 997);
    format!(
        "{{\"id\":{number},\"name\":\"{} {}\",\"ratio\":{integer}.{fraction:03},\"cached\":{},\
         \"path\":\"/srv/{}/\\\"{}\\\"\\n\",\"tags\":[\"{}\",\"{}\",null],\
         \"size\":{{\"bytes\":{mixed},\"pages\":{}}}}}",
        word(3),
        word(9),
        mixed.is_multiple_of(2),
        word(15),
        word(21),
        word(27),
        word(33),
        mixed >> 12,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_size_and_is_json() {
        for bytes in [64, 1000, 145 << 10] {
            let text = document(bytes);
            assert_eq!(text.len(), bytes);
            let parsed: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            let records = parsed.as_array().expect("an array");
            assert_eq!(records.is_empty(), bytes == 64);
            assert!(records.iter().enumerate().all(|(at, record)| record["id"] == at));
        }
        assert_eq!(document(5000), document(5000));
    }
}
