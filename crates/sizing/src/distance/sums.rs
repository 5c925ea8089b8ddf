//! Running sums of the children of a node, which change together.

/// Of each child, the sum of the children before it: a cache line of them.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Sums<T, const CHILDREN: usize>([T; CHILDREN]);

/// Of up to 65,535.
pub(super) type ShortSums = Sums<u16, SHORT>;
pub(super) type LongSums = Sums<u32, LONG>;
const SHORT: usize = 32;
const LONG: usize = 16;

/// The same for both widths.
macro_rules! sums {
    ($number:ty, $children:ident) => {
        impl Sums<$number, $children> {
            pub(super) const CHILDREN: u32 = $children as u32;
            pub(super) const ZERO: Self = Self([0; $children]);

            /// Zeros and then ones. What is taken from the sums when a child loses one is as many of them, from some place on:
            /// nothing from its own and those before, one from each behind it. Compilers make a few wide subtractions of
            /// it on any CPU, without a branch.
            const STEPS: [$number; 2 * $children] = {
                let mut steps = [0; 2 * $children];
                let mut at = $children;
                while at < steps.len() {
                    steps[at] = 1;
                    at += 1;
                }
                steps
            };

            /// The sum before a child, modulo their number.
            #[inline(always)]
            pub(super) fn before(&self, child: u32) -> u32 {
                u32::from(self.0[child as usize % $children])
            }

            /// A child begins: this is the sum before it.
            #[inline(always)]
            pub(super) fn begin(&mut self, child: u32, before: u32) {
                self.0[child as usize % $children] = before as $number;
            }

            /// A child loses one: the sum before it, which stays. Those before children that have not begun may go below
            /// zero, which nobody sees.
            #[inline(always)]
            pub(super) fn take_one(&mut self, child: u32) -> u32 {
                let before = self.before(child);
                let child = child as usize % $children;
                let sums = self.0;
                static STEPS: [$number; 2 * $children] = Sums::<$number, $children>::STEPS;
                if let Some(steps) = STEPS[$children - 1 - child..].first_chunk::<$children>() {
                    self.0 = std::array::from_fn(|at| sums[at].wrapping_sub(steps[at]));
                }
                before
            }
        }
    };
}

sums!(u16, SHORT);
sums!(u32, LONG);

impl LongSums {
    /// Something before all children loses one.
    pub(super) fn take_one_from_all(&mut self) {
        self.0.iter_mut().for_each(|sum| *sum = sum.wrapping_sub(1));
    }
}
