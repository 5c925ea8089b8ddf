use std::time::{Duration, SystemTime};

use hotset_facts::LiveIo;
use hotset_sizing::sample::{FileIdentity, Sampler, hash, is_sampled, limit_grid};

use super::*;

const MINUTE_NS: u64 = 60_000_000_000;

/// A group that reads a file again and again, as the sampler of `watch` counts it.
struct Loop {
    sampler: Sampler,
    exponent: u32,
}

impl Loop {
    fn new(exponent: u32) -> Self {
        let sampler = Sampler::of_sample(exponent, 7_500, &limit_grid(1 << 28));
        Self { sampler, exponent }
    }

    fn read(&mut self, path: &str, pages: u64, times: u64) -> GroupCurve {
        let hashes = (0..pages).map(|page| hash(FileIdentity::new(1, 7, 0), page));
        let sampled: Vec<u64> = hashes.filter(|&hash| is_sampled(hash, self.exponent)).collect();
        for _ in 0..times {
            sampled.iter().for_each(|&hash| self.sampler.touch_sampled(hash));
        }
        self.sampler.count(pages * times);
        GroupCurve {
            group: Some(Arc::from(path)),
            exponent: self.sampler.exponent(),
            pages: self.sampler.pages() as u64,
            references: pages * times,
            lost: 0,
            counts: self.sampler.take().into_counts(),
        }
    }
}

fn live(groups: Vec<GroupCurve>) -> LiveCurves {
    LiveCurves { groups, exponent: 4, groups_beyond: 2, unattributed: 3, lost: 5 }
}

fn series(paths: &[&str]) -> SeriesSet<Arc<str>> {
    let mut set = SeriesSet::new(paths.len());
    set.begin(SystemTime::UNIX_EPOCH);
    for path in paths {
        set.add(&Arc::from(*path), &LiveIo { read_pages: 1, ..LiveIo::default() });
    }
    set
}

fn group<'a>(set: &'a CurveSet, path: &str) -> &'a CurveSeries {
    set.groups().find(|(name, _)| &***name == path).expect("a curve").1
}

#[test]
fn a_loop_needs_what_it_reads() {
    let (mut set, series, mut of) = (CurveSet::default(), series(&["/a"]), Loop::new(4));
    for minute in 1..=3 {
        set.add(&live(vec![of.read("/a", 8_192, 2)]), minute * MINUTE_NS, &series);
    }
    let a = group(&set, "/a");
    let need = [0.5, 0.9, 0.95, 0.99].map(|share| a.recent().need_pages(share));
    assert_eq!(need, [Some(8_192); 4]);
    assert_eq!((a.sampling_period_pages(), a.recent().sampled_reuses()), (16, 5 * 512));
    assert!((8_192..9_600).contains(&a.most_pages()), "{}", a.most_pages());
    // Nothing hits below the loop; all but the first round does above.
    assert_eq!(a.totals.references(), 6 * 8_192);
    assert_eq!(a.totals.misses_at(4_096), Some(6 * 8_192));
    assert_eq!(a.totals.misses_at(8_192), Some(8_192));
    assert_eq!((a.totals.first_references(), a.totals.misses_at(255)), (8_192, None));
    assert_eq!((set.groups_beyond, set.unattributed, set.lost), (2, 9, 15));
}

#[test]
fn too_little_to_tell_is_nothing() {
    let series = series(&["/small", "/few", "/once"]);
    let mut set = CurveSet::default();
    // 62 pages in the sample; 40 references of which one in a hundred is no ten; no page twice.
    let small = Loop::new(4).read("/small", 992, 1_000);
    let few = Loop::new(4).read("/few", 4_096, 2);
    let once = Loop::new(4).read("/once", 65_536, 1);
    set.add(&live(vec![small, few, once]), MINUTE_NS, &series);
    let need = |path, share| group(&set, path).recent().need_pages(share);
    assert_eq!((need("/small", 0.5), need("/once", 0.5)), (None, None));
    assert_eq!(
        [0.5, 0.95, 0.99].map(|share| need("/few", share)),
        [Some(4_096), Some(4_096), None]
    );
    // The bound holds all the same, without anything in the sample too.
    assert!((992..1_400).contains(&group(&set, "/small").most_pages()));
    assert_eq!(CurveSeries::new(SystemTime::UNIX_EPOCH).most_pages(), 16);
}

#[test]
fn an_hour_later_the_need_is_that_of_the_hour() {
    let (mut set, series, mut of) = (CurveSet::default(), series(&["/a"]), Loop::new(4));
    set.add(&live(vec![of.read("/a", 65_536, 4)]), MINUTE_NS, &series);
    let need = |set: &CurveSet| group(set, "/a").recent().need_pages(0.9);
    assert_eq!(need(&set), Some(65_536));
    set.add(&live(vec![of.read("/a", 8_192, 9)]), 59 * MINUTE_NS, &series);
    assert_eq!(need(&set), Some(65_536), "both");
    set.add(&live(vec![of.read("/a", 8_192, 1)]), 61 * MINUTE_NS, &series);
    assert_eq!(need(&set), Some(8_192));
    set.add(&live(Vec::new()), 200 * MINUTE_NS, &series);
    assert_eq!((need(&set), group(&set, "/a").recent().sampled_reuses()), (None, 0), "idle");
    assert_eq!(group(&set, "/a").totals.references(), 4 * 65_536 + 10 * 8_192, "counters stay");
}

#[test]
fn who_has_no_series_is_other_and_who_comes_back_begins_anew() {
    let (mut of, mut set) = ([Loop::new(4), Loop::new(6)], CurveSet::default());
    let mut add = |set: &mut CurveSet, series: &SeriesSet<Arc<str>>, minute: u64| {
        let groups = vec![of[0].read("/a", 2_048, 2), of[1].read("/b", 4_096, 2)];
        set.add(&live(groups), minute * MINUTE_NS, series);
    };
    let mut of_a = series(&["/a"]);
    add(&mut set, &of_a, 1);
    add(&mut set, &of_a, 2);
    assert_eq!((group(&set, "/a").totals.references(), set.other().references()), (8_192, 16_384));
    // At a rate of 64, limits below 1,024 pages are not told.
    assert_eq!((set.other().misses_at(1_023), set.other().misses_at(4_096)), (None, Some(4_096)));
    of_a.retain(|_| false);
    add(&mut set, &of_a, 3);
    assert_eq!((set.groups().count(), set.other().references()), (0, 16_384 + 4_096 + 8_192));
    of_a.begin(SystemTime::UNIX_EPOCH + Duration::from_secs(180));
    of_a.add(&Arc::from("/a"), &LiveIo { read_pages: 1, ..LiveIo::default() });
    add(&mut set, &of_a, 4);
    assert_eq!(group(&set, "/a").totals.references(), 4_096);
}
