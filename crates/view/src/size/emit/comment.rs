//! Lines of a file whose comments begin with a number sign: YAML, and units of systemd.

use crate::report::text::{ascii, wrap};

/// Columns of a line, its indentation and mark included.
const WIDTH: usize = 98;

/// A file in the making. It holds nothing but ASCII: no parser refuses that, and no name of a file or word of a command can end a comment.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Words as comments below each other, so far to the right; none is a blank comment.
    pub(super) fn comment(&mut self, indent: usize, text: &str) {
        match text {
            "" => self.line(&format!("{:indent$}#", "")),
            text => self.wrapped(indent, "", text),
        }
    }

    /// The same as an item of a list.
    pub(super) fn item(&mut self, text: &str) {
        self.wrapped(0, "- ", text);
    }

    fn wrapped(&mut self, indent: usize, mark: &str, text: &str) {
        let room = WIDTH.saturating_sub(indent + "# ".len() + mark.len());
        for (at, line) in wrap(&text.replace(char::is_control, " "), room).iter().enumerate() {
            let mark = if at == 0 { mark } else { &"    "[..mark.len()] };
            self.line(&format!("{:indent$}# {mark}{}", "", ascii(line)));
        }
    }

    /// A command as a comment of one line, so that it can be copied.
    pub(super) fn command(&mut self, command: &str) {
        self.line(&format!("#   {command}"));
    }

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_words_are_they_stay_comments() {
        let mut lines = Lines::default();
        lines.comment(
            2,
            &format!("one\ntwo\r\u{85}\u{2028}\u{fffe}\0 # \"three\" {}", "x ".repeat(99)),
        );
        lines.comment(0, "");
        lines.item(&"item ".repeat(40));
        let text = lines.finish();
        assert!(text.is_ascii() && !text.contains(['\r', '\0']), "{text}");
        assert!(text.contains("\n#\n# - item item") && text.contains("item\n#   item"), "{text}");
        for line in text.lines() {
            assert!(line.trim_start().starts_with('#') && line.len() <= WIDTH, "{line}");
        }
    }
}
