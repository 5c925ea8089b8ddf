//! Columns: their declaration, and how a row hands its values to whoever writes them.

use serde::{Deserialize, Serialize};

use crate::{Feature, LiveIo, Unit};

/// In what form values of a column are kept. Each has a type in every engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A whole number of 64 bits with a sign, of which only what is not negative is used: engines widen numbers without one.
    Number,
    /// Microseconds since 1970, UTC: not all engines know nanoseconds.
    Time,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

/// What can be done with the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// What happened in the interval: it adds up.
    Counter,
    /// What was so at the end of the interval: it does not.
    Gauge,
    /// What the row is of.
    Key,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// In what form its values are kept.
    pub kind: ColumnKind,
    /// Whether a value may be missing: then it was not measured.
    pub may_be_null: bool,
    /// What can be done with its values.
    pub meaning: Meaning,
    /// In what it counts; none of what is no amount.
    pub unit: Option<Unit>,
    /// What it is, in a sentence.
    pub help: &'static str,
}

/// Takes the values of a row, in the order of its columns.
pub trait Cells {
    /// A number; none where it was not measured.
    fn number(&mut self, value: Option<u64>);
    /// Microseconds since 1970.
    fn time(&mut self, value: i64);
    /// True or false.
    fn flag(&mut self, value: bool);
    /// A text; none where there is none.
    fn text(&mut self, value: Option<&str>);
}

/// What has columns: a row, or a part of one.
pub trait Columns {
    /// Adds its columns.
    fn columns(into: &mut Vec<Column>);

    /// Hands over its values, in the same order.
    fn cells(&self, into: &mut dyn Cells);
}

/// What was counted, and what could not be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CountedIo {
    /// The counters.
    pub io: LiveIo,
    /// What the host lacks: counters that need one of these are null.
    pub lacks: Vec<Feature>,
}

impl Columns for CountedIo {
    fn columns(into: &mut Vec<Column>) {
        into.extend(LiveIo::COUNTERS.iter().map(|counter| Column {
            name: counter.name,
            kind: ColumnKind::Number,
            may_be_null: counter.needs.is_some(),
            meaning: Meaning::Counter,
            unit: Some(counter.unit),
            help: counter.help,
        }));
    }

    fn cells(&self, into: &mut dyn Cells) {
        for counter in LiveIo::COUNTERS {
            let is_known = counter.needs.is_none_or(|needs| !self.lacks.contains(&needs));
            into.number(is_known.then(|| (counter.of)(&self.io)));
        }
    }
}

/// Declares a part of a row. A column is `name: kind meaning unit`, or `name: part Type` for columns that another type declares.
#[macro_export]
macro_rules! fleet_columns {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $($(#[doc = $help:literal])+ $field:ident: $kind:ident $($what:ident)+;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
        pub struct $Name {
            $($(#[doc = $help])+ pub $field: $crate::fleet_columns!(@type $kind $($what)+),)*
        }

        impl $crate::fleet::Columns for $Name {
            fn columns(into: &mut Vec<$crate::fleet::Column>) {
                $($crate::fleet_columns!(@column into $field, concat!($($help),+), $kind $($what)+);)*
            }

            fn cells(&self, into: &mut dyn $crate::fleet::Cells) {
                $($crate::fleet_columns!(@cell into self.$field, $kind);)*
            }
        }
    };
    (@type part $Type:ident) => { $Type };
    (@type number $($what:ident)+) => { u64 };
    (@type maybe_number $($what:ident)+) => { Option<u64> };
    (@type time $($what:ident)+) => { i64 };
    (@type flag $($what:ident)+) => { bool };
    (@type text $($what:ident)+) => { std::sync::Arc<str> };
    (@type maybe_text $($what:ident)+) => { Option<std::sync::Arc<str>> };
    (@column $into:ident $field:ident, $help:expr, part $Type:ident) => {
        <$Type as $crate::fleet::Columns>::columns($into)
    };
    (@column $into:ident $field:ident, $help:expr, $kind:ident $meaning:ident $($unit:ident)?) => {
        $into.push($crate::fleet::Column {
            name: stringify!($field),
            kind: $crate::fleet_columns!(@kind $kind),
            may_be_null: $crate::fleet_columns!(@null $kind),
            meaning: $crate::fleet::Meaning::$meaning,
            unit: $crate::fleet_columns!(@unit $($unit)?),
            help: ($help).trim_ascii(),
        })
    };
    (@kind number) => { $crate::fleet::ColumnKind::Number };
    (@kind maybe_number) => { $crate::fleet::ColumnKind::Number };
    (@kind time) => { $crate::fleet::ColumnKind::Time };
    (@kind flag) => { $crate::fleet::ColumnKind::Flag };
    (@kind text) => { $crate::fleet::ColumnKind::Text };
    (@kind maybe_text) => { $crate::fleet::ColumnKind::Text };
    (@null maybe_number) => { true };
    (@null maybe_text) => { true };
    (@null $kind:ident) => { false };
    (@unit) => { None };
    (@unit $unit:ident) => { Some($crate::Unit::$unit) };
    (@cell $into:ident $value:expr, part) => { $crate::fleet::Columns::cells(&$value, $into) };
    (@cell $into:ident $value:expr, number) => { $into.number(Some($value)) };
    (@cell $into:ident $value:expr, maybe_number) => { $into.number($value) };
    (@cell $into:ident $value:expr, time) => { $into.time($value) };
    (@cell $into:ident $value:expr, flag) => { $into.flag($value) };
    (@cell $into:ident $value:expr, text) => { $into.text(Some(&$value)) };
    (@cell $into:ident $value:expr, maybe_text) => { $into.text($value.as_deref()) };
}
