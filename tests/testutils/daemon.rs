//! A daemon of a world, which stops with the test.

use crate::world::World;

pub struct Daemon<'w> {
    pub world: &'w World,
    pub port: u16,
    pub pid: i32,
    pub token: String,
}

impl<'w> Daemon<'w> {
    /// Starts it, or finds the one that runs.
    pub fn start(world: &'w World) -> Self {
        Self::start_with(world, &[])
    }

    pub fn start_with(world: &'w World, arguments: &[&str]) -> Self {
        let run = world.blue(&world.root(), &[&["daemon", "start", "--port", "0", "--json"], arguments].concat());
        let answer = run.exits(0).json();
        let url = answer["url"].as_str().unwrap();
        let port = url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        let token = world.json(&world.root(), &["daemon", "token"])["token"].as_str().unwrap().to_owned();
        Self { world, port, pid: answer["pid"].as_i64().unwrap().try_into().unwrap(), token }
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let run = self.world.blue(&self.world.root(), &["daemon", "stop"]);
        if !std::thread::panicking() {
            run.exits(0);
        }
    }
}
