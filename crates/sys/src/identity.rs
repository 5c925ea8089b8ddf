//! What machine this is: the names of its CPU and of its maker.

use std::fs;

use hotset_facts::{HostIdentity, Observed, Reason};

/// Reads them. What can't be read has a reason.
pub fn host_identity() -> HostIdentity {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let firmware = ["sys_vendor", "product_name"].map(|name| {
        let path = format!("/sys/class/dmi/id/{name}");
        fs::read_to_string(path).unwrap_or_default()
    });
    HostIdentity { cpu_model: cpu_model(&cpu), machine: machine(&cpu, &firmware) }
}

/// The value of a key of /proc/cpuinfo, of the first CPU that has it.
fn value<'a>(cpu: &'a str, key: &str) -> Option<&'a str> {
    let pairs = cpu.lines().filter_map(|line| line.split_once(':'));
    let mut values = pairs.filter(|(found, _)| found.trim() == key).map(|(_, value)| value.trim());
    values.find(|value| !value.is_empty())
}

fn cpu_model(cpu: &str) -> Observed<String> {
    match value(cpu, "model name") {
        Some(model) => Observed::Value(model.to_owned()),
        None => Observed::Missing(Reason::unsupported("no model name in /proc/cpuinfo")),
    }
}

/// Only x86 says by a flag whether a hypervisor runs it.
fn machine(cpu: &str, firmware: &[String]) -> Observed<String> {
    let kind = value(cpu, "flags").map(|flags| {
        let is_virtual = flags.split_whitespace().any(|flag| flag == "hypervisor");
        if is_virtual { "virtual" } else { "physical" }
    });
    let named = firmware.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let named = named.collect::<Vec<_>>().join(" ");
    match (kind, named.as_str()) {
        (None, "") => Observed::Missing(Reason::unsupported(
            "neither flags in /proc/cpuinfo nor names in /sys/class/dmi/id",
        )),
        (Some(kind), "") => Observed::Value(kind.to_owned()),
        (None, _) => Observed::Value(named),
        (Some(kind), _) => Observed::Value(format!("{kind}, {named}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu vme hypervisor lm\n\n\
                       processor\t: 1\nmodel name\t: another\n";

    #[test]
    fn the_first_cpu_names_the_model() {
        assert_eq!(cpu_model(CPU), Observed::Value("AMD EPYC 7B13".to_owned()));
        assert!(cpu_model("processor : 0\nCPU part : 0xd0c\n").reason().is_some());
    }

    #[test]
    fn a_machine_is_virtual_by_its_flag_and_named_by_its_firmware() {
        let names = ["QEMU\n".to_owned(), "Standard PC\n".to_owned()];
        let none = [String::new(), String::new()];
        let physical = "flags : fpu lm\n";
        let machine = |cpu, names| machine(cpu, names).value();
        assert_eq!(machine(CPU, &names).as_deref(), Some("virtual, QEMU Standard PC"));
        assert_eq!(machine(CPU, &none).as_deref(), Some("virtual"));
        assert_eq!(machine(physical, &none).as_deref(), Some("physical"));
        assert_eq!(machine("", &names).as_deref(), Some("QEMU Standard PC"));
        assert_eq!(machine("", &none), None);
    }
}
