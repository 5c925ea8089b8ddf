//! Where threads have code mapped, until the stack comes that it is told for.

use std::collections::HashMap;
use std::path::PathBuf;

use super::CodeMapping;
use super::raw::{CodeHead, RawMapping};
use crate::record::FileKey;

/// Threads that wait for their stack at most: it stands next in the ring, unless that was full.
const MOST_WAITING: usize = 1_024;

/// By thread.
#[derive(Debug, Default)]
pub(super) struct ToldCode(HashMap<u32, (CodeHead, Vec<RawMapping>)>);

impl ToldCode {
    pub(super) fn tell(&mut self, head: CodeHead, mappings: Vec<RawMapping>) {
        if self.0.len() >= MOST_WAITING {
            self.0.clear();
        }
        self.0.insert(head.tid, (head, mappings));
    }

    /// What was told of a thread since this was asked last, unless it was of another program; with what `path` finds of each file.
    pub(super) fn take(
        &mut self,
        tid: u32,
        stack_start: u64,
        path: impl Fn(&FileKey) -> Option<PathBuf>,
    ) -> Option<Vec<CodeMapping>> {
        let (head, mappings) = self.0.remove(&tid)?;
        let mapping = |raw: &RawMapping| {
            let file = Some(raw.file).filter(|file| file.ino != 0);
            CodeMapping {
                addresses: (raw.begin, raw.end),
                offset: raw.offset,
                file: file.map(FileKey::id),
                path: file.as_ref().and_then(&path),
                is_vdso: raw.begin == head.vdso,
            }
        };
        (head.stack_start == stack_start).then(|| mappings.iter().map(mapping).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::zeroed;

    #[test]
    fn mappings_belong_to_the_next_stack_of_their_thread_and_program() {
        let head = CodeHead { tid: 7, stack_start: 1, vdso: 0x9000, ..zeroed() };
        let file = FileKey { ino: 5, dev: 8 << 20, generation: 3 };
        let mappings = vec![
            RawMapping { begin: 0x1000, end: 0x2000, offset: 0x100, file },
            RawMapping { begin: 0x9000, end: 0xa000, ..zeroed() },
        ];
        let path = |key: &FileKey| Some(PathBuf::from(format!("/{}", key.ino)));
        let mut told = ToldCode::default();
        told.tell(head, mappings.clone());
        assert_eq!(told.take(8, 1, path), None);
        let code = told.take(7, 1, path).expect("what was told");
        assert_eq!((code[0].addresses, code[0].offset), ((0x1000, 0x2000), 0x100));
        assert_eq!(code[0].file.map(|file| (file.ino, file.generation)), Some((5, Some(3))));
        assert_eq!(code[0].path, Some(PathBuf::from("/5")));
        assert_eq!((code[0].is_vdso, code[1].is_vdso, code[1].file), (false, true, None));
        assert_eq!(told.take(7, 1, path), None);
        told.tell(head, mappings);
        assert_eq!(told.take(7, 2, path), None, "it runs another program by now");
    }
}
