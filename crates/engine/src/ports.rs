//! What comes from outside: time and randomness.

use oneiro_model::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everything else uses")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let micros = since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
        Timestamp::from_micros(micros)
    }
}

/// Makes random ids.
pub trait Ids: Send + Sync {
    /// Ten random bytes.
    fn random(&self) -> [u8; 10];
}

/// Randomness of the operating system.
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        if getrandom::fill(&mut bytes).is_err() {
            // Without the system's randomness an id still has to be unique: address space layout,
            // process and time differ.
            let seed = std::hash::RandomState::new();
            let hash = std::hash::BuildHasher::hash_one(&seed, std::process::id());
            bytes.iter_mut().zip(hash.to_le_bytes()).for_each(|(byte, random)| *byte = random);
        }
        bytes
    }
}
