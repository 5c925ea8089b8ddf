//! Chains of real threads, stopped where they read: by names and lines, in every way that programs are built, run and replaced.

#[cfg(test)]
mod compiled;
#[cfg(test)]
mod copied;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod living;
#[cfg(test)]
mod runtimes;
