use super::*;
use crate::live::cgroups::Cgroups;
use crate::record::{FileKey, Process, read};

const KEY: RowKey =
    RowKey { file: FileKey { ino: 7, dev: 8 << 20, generation: 1 }, owner: 5, pad: 0 };

fn pages(read_pages: u64) -> LiveIo {
    LiveIo { read_pages, ..LiveIo::default() }
}

/// Owner 5, which is process 77.
fn known(now: u64, ended: u32) -> Processes {
    let mut processes = Processes::default();
    meet(&mut processes, now, ended);
    processes
}

fn meet(processes: &mut Processes, now: u64, ended: u32) {
    let zero: Process = read(&[0; size_of::<Process>()]).expect("zeros");
    let seen = Process { owner: KEY.owner, tgid: 77, ppid: 1, ended, ..zero };
    processes.register(&seen, now, &mut Cgroups::default());
}

#[test]
fn an_idle_row_is_given_up_and_what_comes_late_is_counted_once() {
    let (mut processes, mut files) = (known(1, 0), Files::new(false));
    let mut state = RowState::default();
    let mut sample = |now: u64, counted: &LiveIo, last: bool, state: &mut RowState| {
        files.begin(now);
        let mut assembly = Assembly::new(now, 1, &mut processes, &mut files);
        let fate = match last {
            false => Some(assembly.add_row(state, KEY, (0, 0), counted)),
            true => {
                assembly.add_late(state, counted);
                None
            }
        };
        assembly.close();
        let pages: Vec<u64> = assembly.rows.iter().map(|row| row.io.unpack().read_pages).collect();
        assert!(assembly.others.is_idle());
        (fate, pages)
    };
    assert_eq!(sample(1, &pages(3), false, &mut state), (Some(RowAction::Keep), vec![3]));
    assert_eq!(sample(2, &pages(3), false, &mut state), (Some(RowAction::Release), vec![]));
    assert!(state.is_released());
    assert_eq!(sample(3, &pages(5), true, &mut state), (None, vec![2]));
    assert_eq!(processes.get(processes.find(5).expect("known")).map(|p| p.rows), Some(0));
    assert_eq!(sample_counts(&mut files, 6), 0, "nothing holds the file");
}

/// Files that are left when `now` is over.
fn sample_counts(files: &mut Files, now: u64) -> usize {
    files.begin(now);
    files.end();
    files.len()
}

#[test]
fn what_comes_after_the_end_belongs_to_nobody() {
    let (mut processes, mut files) = (known(1, 0), Files::new(false));
    let mut state = RowState::default();
    let mut assembly = Assembly::new(1, u16::MAX, &mut processes, &mut files);
    assert_eq!(assembly.add_row(&mut state, KEY, (0, 0), &pages(1)), RowAction::Keep);
    meet(&mut processes, 2, 1);
    files.begin(2);
    let mut assembly = Assembly::new(2, u16::MAX, &mut processes, &mut files);
    assert_eq!(assembly.add_row(&mut state, KEY, (0, 0), &pages(4)), RowAction::Release);
    assembly.close();
    assert_eq!((assembly.rows.len(), assembly.rows[0].io.unpack().read_pages), (1, 3));
    assert!(assembly.processes[0].ended);
    files.begin(3);
    let mut assembly = Assembly::new(3, u16::MAX, &mut processes, &mut files);
    assembly.add_late(&mut state, &pages(6));
    assembly.close();
    assert!(assembly.rows.is_empty() && assembly.processes.is_empty());
    assert_eq!(assembly.others.read_pages, 2);
    assert_eq!(processes.remove_ended(3), [5]);
}

#[test]
fn a_row_that_could_not_be_used_lets_go_of_what_it_held() {
    let (mut processes, mut files) = (known(1, 0), Files::new(false));
    let mut state = RowState::default();
    let mut assembly = Assembly::new(1, u16::MAX, &mut processes, &mut files);
    assembly.add_row(&mut state, KEY, (0, 0), &pages(0));
    Assembly::release_unused(&mut state);
    assert!(state.is_released());
    assembly.add_late(&mut state, &pages(0));
    assert!(!state.is_released());
    meet(&mut processes, 1, 1);
    assert_eq!(processes.remove_ended(2), [5], "no row keeps it");
    let mut never = RowState::default();
    Assembly::release_unused(&mut never);
    assert!(never.is_released() && never.owner() == 0 && never.file().is_none());
}
