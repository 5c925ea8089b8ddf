mod key_tests;
mod life;
mod recorded;
mod screens;
mod speed;
