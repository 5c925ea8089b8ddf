//! Open files: what descriptors stand for, and where each open file is.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::trace::{FileIndex, RecordFlags};

/// An open file description: open(2) makes it, dup(2) and fork(2) share it.
#[derive(Debug, Clone)]
pub(super) struct Description {
    /// The file, and its path.
    pub(super) file: Option<(FileIndex, Arc<[u8]>)>,
    /// Its position; none where nothing told it.
    pub(super) position: Option<u64>,
    /// How it was opened, as far as that is known.
    pub(super) flags: RecordFlags,
    users: u32,
}

impl Description {
    pub(super) fn new(file: Option<(FileIndex, Arc<[u8]>)>, position: Option<u64>) -> Self {
        Self { file, position, flags: RecordFlags::NONE, users: 0 }
    }
}

/// What a descriptor stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A file, by its description.
    File(u64),
    /// A pipe, a socket, a terminal, a timer.
    NoFile,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    target: Target,
    closes_on_exec: bool,
}

#[derive(Debug, Default)]
struct Table {
    slots: HashMap<i32, Slot>,
    users: u32,
}

/// Tables of descriptors, which threads share, and the open files that they lead to. What is closed
/// is forgotten.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    tables: HashMap<u64, Table>,
    descriptions: HashMap<u64, Description>,
    last_table: u64,
    last_description: u64,
}

impl OpenFiles {
    /// A table without anything in it.
    pub(super) fn new_table(&mut self) -> u64 {
        self.last_table += 1;
        self.tables.insert(self.last_table, Table { users: 1, ..Table::default() });
        self.last_table
    }

    /// Another thread uses the same table.
    pub(super) fn share(&mut self, table: u64) -> u64 {
        if let Some(table) = self.tables.get_mut(&table) {
            table.users += 1;
        }
        table
    }

    /// A table of its own that leads to the same open files.
    pub(super) fn copy(&mut self, table: u64) -> u64 {
        let slots = self.tables.get(&table).map(|table| table.slots.clone()).unwrap_or_default();
        for slot in slots.values() {
            self.use_again(slot.target);
        }
        let copy = self.new_table();
        if let Some(table) = self.tables.get_mut(&copy) {
            table.slots = slots;
        }
        copy
    }

    /// A thread does not use the table any more.
    pub(super) fn leave(&mut self, table: u64) {
        let Some(left) = self.tables.get_mut(&table) else { return };
        left.users = left.users.saturating_sub(1);
        if left.users > 0 {
            return;
        }
        let slots = std::mem::take(&mut left.slots);
        self.tables.remove(&table);
        for slot in slots.into_values() {
            self.drop_use(slot.target);
        }
    }

    /// execve(2): the thread gets a table of its own, without what closes then.
    pub(super) fn exec(&mut self, table: u64) -> u64 {
        let own = self.copy(table);
        self.leave(table);
        let slots = self.tables.get(&own).map(|table| table.slots.iter());
        let closing = slots.into_iter().flatten().filter(|(_, slot)| slot.closes_on_exec);
        let closing: Vec<i32> = closing.map(|(number, _)| *number).collect();
        for number in closing {
            self.close(own, number);
        }
        own
    }

    /// A description that nothing leads to yet.
    pub(super) fn add(&mut self, description: Description) -> u64 {
        self.last_description += 1;
        self.descriptions.insert(self.last_description, description);
        self.last_description
    }

    /// Has a descriptor stand for something, and closes what it stood for.
    pub(super) fn set(&mut self, table: u64, number: i32, target: Target, closes_on_exec: bool) {
        self.use_again(target);
        let Some(slots) = self.tables.get_mut(&table).map(|table| &mut table.slots) else { return };
        let old = slots.insert(number, Slot { target, closes_on_exec });
        if let Some(old) = old {
            self.drop_use(old.target);
        }
    }

    /// Changes whether execve(2) closes a descriptor.
    pub(super) fn set_closes_on_exec(&mut self, table: u64, number: i32, closes_on_exec: bool) {
        let table = self.tables.get_mut(&table);
        if let Some(slot) = table.and_then(|table| table.slots.get_mut(&number)) {
            slot.closes_on_exec = closes_on_exec;
        }
    }

    pub(super) fn target(&self, table: u64, number: i32) -> Option<Target> {
        self.tables.get(&table)?.slots.get(&number).map(|slot| slot.target)
    }

    pub(super) fn close(&mut self, table: u64, number: i32) {
        let table = self.tables.get_mut(&table);
        if let Some(slot) = table.and_then(|table| table.slots.remove(&number)) {
            self.drop_use(slot.target);
        }
    }

    /// close_range(2).
    pub(super) fn close_between(&mut self, table: u64, first: u64, last: u64) {
        let slots = self.tables.get(&table).map(|table| table.slots.keys().copied());
        let is_in = |number: &i32| u64::try_from(*number).is_ok_and(|at| first <= at && at <= last);
        let closing: Vec<i32> = slots.into_iter().flatten().filter(is_in).collect();
        for number in closing {
            self.close(table, number);
        }
    }

    pub(super) fn description(&self, id: u64) -> Option<&Description> {
        self.descriptions.get(&id)
    }

    pub(super) fn description_mut(&mut self, id: u64) -> Option<&mut Description> {
        self.descriptions.get_mut(&id)
    }

    fn use_again(&mut self, target: Target) {
        if let Target::File(id) = target
            && let Some(description) = self.descriptions.get_mut(&id)
        {
            description.users += 1;
        }
    }

    fn drop_use(&mut self, target: Target) {
        let Target::File(id) = target else { return };
        let Some(description) = self.descriptions.get_mut(&id) else { return };
        description.users = description.users.saturating_sub(1);
        if description.users == 0 {
            self.descriptions.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_lives_until_the_last_closes_it() {
        let mut open = OpenFiles::default();
        let parent = open.new_table();
        let id = open.add(Description::new(None, Some(0)));
        open.set(parent, 3, Target::File(id), true);
        open.set(parent, 4, Target::File(id), false);
        let child = open.copy(parent);
        open.close(parent, 3);
        open.close(parent, 4);
        assert!(open.description(id).is_some());
        let child = open.exec(child);
        assert_eq!(open.target(child, 3), None, "closed by execve");
        assert_eq!(open.target(child, 4), Some(Target::File(id)));
        open.leave(child);
        open.leave(parent);
        assert!(open.descriptions.is_empty() && open.tables.is_empty());
    }

    #[test]
    fn threads_share_a_table() {
        let mut open = OpenFiles::default();
        let table = open.new_table();
        let other = open.share(table);
        open.set(other, 5, Target::NoFile, false);
        open.leave(other);
        assert_eq!(open.target(table, 5), Some(Target::NoFile));
        open.close_between(table, 3, u64::MAX);
        assert_eq!(open.target(table, 5), None);
    }
}
