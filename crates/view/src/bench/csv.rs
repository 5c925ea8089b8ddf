//! CSV with hyperfine's columns first, a row a condition. Times are in seconds.

use hotset_analysis::bench::BenchSummary;

use crate::csv::push_line;
use crate::wire::bench::Hyperfine;

/// The table: hyperfine's columns, then the state and what hotset adds, then the parameters. A number that there is
/// not is empty. Lines end in a line feed.
pub fn bench_csv(summary: &BenchSummary) -> String {
    let commands = &summary.session.commands;
    let mut parameters: Vec<&str> = Vec::new();
    for (name, _) in commands.iter().flat_map(|command| &command.parameters) {
        if !parameters.contains(&name.as_str()) {
            parameters.push(name);
        }
    }
    let mut head: Vec<String> = [
        "command",
        "mean",
        "stddev",
        "median",
        "user",
        "system",
        "min",
        "max",
        "state",
        "lower_quartile",
        "upper_quartile",
        "device_bytes",
        "valid_runs",
        "invalid_runs",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(parameters.iter().map(|name| format!("parameter_{name}")));
    let mut out = Vec::new();
    push_line(&mut out, &head);
    for (condition, numbers) in summary.session.conditions.iter().zip(&summary.conditions) {
        let keys = Hyperfine::of(numbers.valid.as_ref());
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut cells = vec![numbers.label.clone()];
        let wall = |of: fn(&hotset_analysis::bench::Spread) -> f64| {
            number(numbers.valid.map(|times| of(&times.wall_ns) / 1e9))
        };
        let figures =
            [keys.mean, keys.stddev, keys.median, keys.user, keys.system, keys.min, keys.max];
        cells.extend(figures.map(number));
        cells.push(condition.state.to_string());
        cells.push(wall(|spread| spread.lower_quartile));
        cells.push(wall(|spread| spread.upper_quartile));
        let device = numbers.valid.and_then(|times| times.device_bytes);
        cells.push(number(device.map(|device| device.median)));
        cells.push(numbers.valid_runs.to_string());
        cells.push(numbers.invalid_runs.to_string());
        let own = commands.get(condition.command).map_or(&[][..], |command| &command.parameters);
        for wanted in &parameters {
            let value = own.iter().find(|(name, _)| name == wanted);
            cells.push(value.map_or_else(String::new, |(_, value)| value.clone()));
        }
        push_line(&mut out, &cells);
    }
    String::from_utf8_lossy(&out).into_owned()
}
