//! The open connections: how many there may be in all, from one address, and without a complete
//! request, and which one is closed to make room for a new one.
//!
//! hyper bounds how long one connection may take to send a head, but not how many may be doing so:
//! a client that opens connections faster than they time out would hold every slot. So the accept loop
//! keeps this list, and a connection that waits for its client gives way to a new one. A connection
//! whose request is being answered, or whose answer is being sent, is never closed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// In all.
    pub(crate) total: usize,
    /// From one address. Less than all, so that one address never holds every place, and many more
    /// than a proxy or a few hundred programs on this machine need.
    pub(crate) per_address: usize,
    /// Without a complete request so far. A client sends its request as soon as it is connected, so
    /// this is the size of a burst of new clients.
    pub(crate) new: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { total: 1_024, per_address: 768, new: 512 }
    }
}

/// What a connection is doing. The order is that in which connections give way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It has not sent a complete head yet.
    New,
    /// It was answered and may ask again.
    Idle,
    /// A request of it is being answered.
    Busy,
    /// The answer is complete and not yet sent. A client that takes nothing of it is given up by
    /// [`Patient`](crate::patience::Patient).
    Sending,
}

impl Phase {
    /// Whether nothing is lost when the connection is closed.
    fn waits_for_client(self) -> bool {
        matches!(self, Phase::New | Phase::Idle)
    }
}

struct Entry {
    address: IpAddr,
    phase: Phase,
    /// When it entered its phase, as a count of changes of phase of all connections.
    since: u64,
    abort: Option<AbortHandle>,
}

/// Whether a new connection is taken.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is.
    Admitted(Connection),
    /// Its address has too many requests in progress: it is closed.
    Refused,
    /// Every place is taken by a request in progress: it waits.
    Full,
}

/// The open connections.
#[derive(Clone)]
pub(crate) struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    limits: Limits,
    open: Mutex<Open>,
    /// Told whenever a place may have become free.
    changed: Notify,
}

#[derive(Default)]
struct Open {
    entries: HashMap<u64, Entry>,
    /// Counts connections and changes of phase.
    clock: u64,
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Connections {
        let shared = Shared { limits, open: Mutex::default(), changed: Notify::new() };
        Connections { shared: Arc::new(shared) }
    }

    /// Takes a new connection, closing others that wait for their clients where it must.
    pub(crate) fn admit(&self, peer: IpAddr) -> Admission {
        let (limits, address) = (self.shared.limits, address_of(peer));
        let mut open = self.lock();
        if open.count(|entry| entry.address == address) >= limits.per_address
            && !open.close_one(|entry| entry.address == address)
        {
            return Admission::Refused;
        }
        if open.entries.len() >= limits.total && !open.close_one(|_| true) {
            return Admission::Full;
        }
        if open.count(|entry| entry.phase == Phase::New) >= limits.new {
            open.close_one(|entry| entry.phase == Phase::New);
        }
        let since = open.tick();
        open.entries.insert(since, Entry { address, phase: Phase::New, since, abort: None });
        Admission::Admitted(Connection { id: since, connections: self.clone() })
    }

    /// Waits until a connection is closed or waits for its client.
    pub(crate) async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Closes a connection that waits for its client, if there is any.
    pub(crate) fn close_one(&self) -> bool {
        self.lock().close_one(|_| true)
    }

    /// Closes every connection that has not sent a head yet. One that was answered ends by itself
    /// when the last bytes of its answer are taken.
    pub(crate) fn close_new(&self) {
        let mut open = self.lock();
        while open.close_one(|entry| entry.phase == Phase::New) {}
    }

    /// Closes every connection; whatever they were being answered is dropped.
    pub(crate) fn close_all(&self) {
        for (_, entry) in self.lock().entries.drain() {
            if let Some(abort) = entry.abort {
                abort.abort();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Every change is complete before anything can panic.
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn count(&self, is_counted: impl Fn(&Entry) -> bool) -> usize {
        self.entries.values().filter(|entry| is_counted(entry)).count()
    }

    /// Closes one of the connections that are counted, if any of them waits for its client: of the
    /// address that has the most of those counted, a new one before an idle one, and of these the
    /// one that waits longest. So addresses with many connections lose theirs first.
    fn close_one(&mut self, is_counted: impl Fn(&Entry) -> bool) -> bool {
        let counted = || self.entries.iter().filter(|(_, entry)| is_counted(entry));
        let mut by_address: HashMap<IpAddr, usize> = HashMap::new();
        for (_, entry) in counted() {
            *by_address.entry(entry.address).or_default() += 1;
        }
        let closed = counted()
            .filter(|(_, entry)| entry.phase.waits_for_client())
            .min_by_key(|(_, entry)| {
                (Reverse(by_address.get(&entry.address)), entry.phase, entry.since)
            })
            .map(|(id, _)| *id);
        let Some(entry) = closed.and_then(|id| self.entries.remove(&id)) else { return false };
        if let Some(abort) = entry.abort {
            abort.abort();
        }
        true
    }
}

/// One connection; it leaves the list when this is dropped.
pub(crate) struct Connection {
    id: u64,
    connections: Connections,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Connection {
    /// Another name of the same connection, by which its requests say that they begin.
    pub(crate) fn requests(&self) -> Requests {
        Requests {
            id: self.id,
            connections: self.connections.clone(),
            is_sending: Arc::new(AtomicBool::new(false)),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().entries.remove(&self.id);
        self.connections.shared.changed.notify_one();
    }
}

/// The requests of one connection.
#[derive(Clone)]
pub(crate) struct Requests {
    id: u64,
    connections: Connections,
    /// Whether the connection is in [`Phase::Sending`]: streams are flushed often, and most of the
    /// time that ends no answer.
    is_sending: Arc<AtomicBool>,
}

impl Requests {
    /// Names the task that serves the connection; it is ended when the connection gives way.
    pub(crate) fn served_by(&self, task: AbortHandle) {
        if let Some(entry) = self.connections.lock().entries.get_mut(&self.id) {
            entry.abort = Some(task);
        }
    }

    /// Whether a complete head has arrived at least once.
    pub(crate) fn any_begun(&self) -> bool {
        let open = self.connections.lock();
        open.entries.get(&self.id).is_some_and(|entry| entry.phase != Phase::New)
    }

    /// A request begins; it lasts until what is answered here is dropped, and then its answer is
    /// sent until [`Requests::flushed`].
    pub(crate) fn begin(&self) -> InProgress {
        self.is_sending.store(false, Ordering::Relaxed);
        self.authenticate(Phase::Busy);
        InProgress { requests: self.clone() }
    }

    /// Everything that was answered so far has been sent.
    pub(crate) fn flushed(&self) {
        if self.is_sending.swap(false, Ordering::Relaxed) {
            self.authenticate(Phase::Idle);
            self.connections.shared.changed.notify_one();
        }
    }

    fn authenticate(&self, phase: Phase) {
        let mut open = self.connections.lock();
        let since = open.tick();
        if let Some(entry) = open.entries.get_mut(&self.id) {
            (entry.phase, entry.since) = (phase, since);
        }
    }
}

/// A request that is being answered.
pub(crate) struct InProgress {
    requests: Requests,
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.requests.authenticate(Phase::Sending);
        self.requests.is_sending.store(true, Ordering::Relaxed);
    }
}

/// What a peer is counted by: of IPv6 the network of 64 bits that one customer has as a rule.
fn address_of(peer: IpAddr) -> IpAddr {
    const NETWORK: u128 = !0 << 64;
    match peer.to_canonical() {
        IpAddr::V6(long) => IpAddr::V6(Ipv6Addr::from_bits(long.to_bits() & NETWORK)),
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { total: 8, per_address: 6, new: 4 };

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn admit(connections: &Connections, from: u8) -> Connection {
        match connections.admit(address(from)) {
            Admission::Admitted(connection) => connection,
            other => panic!("{other:?}"),
        }
    }

    /// Asks something on a connection and takes the whole answer.
    fn run_request(connection: &Connection) {
        let requests = connection.requests();
        drop(requests.begin());
        requests.flushed();
    }

    fn admit_idle(connections: &Connections, from: u8) -> Connection {
        let connection = admit(connections, from);
        run_request(&connection);
        connection
    }

    fn is_open(connection: &Connection) -> bool {
        connection.connections.lock().entries.contains_key(&connection.id)
    }

    #[test]
    fn the_oldest_connection_without_a_request_gives_way_to_a_new_one() {
        let connections = Connections::new(LIMITS);
        let new: Vec<Connection> = (0..10).map(|_| admit(&connections, 1)).collect();
        let open: Vec<bool> = new.iter().map(is_open).collect();
        assert_eq!(open, [[false; 6].as_slice(), &[true; 4]].concat());
    }

    #[test]
    fn a_burst_of_one_address_does_not_close_new_connections_of_another() {
        let connections = Connections::new(LIMITS);
        let other = admit(&connections, 2);
        let flood: Vec<Connection> = (0..50).map(|_| admit(&connections, 1)).collect();
        assert!(is_open(&other));
        assert_eq!(flood.iter().filter(|one| is_open(one)).count(), LIMITS.new - 1);
    }

    #[test]
    fn requests_in_progress_are_never_closed_and_idle_connections_only_after_new_ones() {
        let connections = Connections::new(LIMITS);
        let busy = admit(&connections, 1);
        let requests = busy.requests();
        let request = requests.begin();
        let idle = admit(&connections, 1);
        run_request(&idle);
        let flood: Vec<Connection> = (0..50).map(|_| admit(&connections, 1)).collect();
        assert!(is_open(&busy) && is_open(&idle));
        drop(flood);
        // Those who ask once and then say nothing are closed too, the longest idle first.
        let asked_once: Vec<Connection> = (0..50)
            .map(|_| {
                let one = admit(&connections, 1);
                run_request(&one);
                one
            })
            .collect();
        assert!(is_open(&busy) && !is_open(&idle));
        assert_eq!(asked_once.iter().filter(|one| is_open(one)).count(), LIMITS.per_address - 1);
        drop(request);
        requests.flushed();
        let _last = admit(&connections, 1);
        assert!(is_open(&busy), "it was idle for the shortest time");
    }

    #[test]
    fn an_answer_that_is_being_sent_is_not_closed_until_it_is_flushed() {
        let connections = Connections::new(Limits { total: 1, ..LIMITS });
        let sending = admit(&connections, 1);
        let requests = sending.requests();
        let request = requests.begin();
        // What is flushed while the request is being answered is a part of the answer.
        requests.flushed();
        assert!(matches!(connections.admit(address(2)), Admission::Full));
        drop(request);
        assert!(matches!(connections.admit(address(2)), Admission::Full));
        requests.flushed();
        let _next = admit(&connections, 2);
        assert!(!is_open(&sending));
    }

    #[test]
    fn when_every_place_is_taken_the_address_with_the_most_connections_loses_one() {
        let connections = Connections::new(LIMITS);
        let crowd: Vec<Connection> = (0..5).map(|_| admit_idle(&connections, 1)).collect();
        let few: Vec<Connection> = (0..2).map(|_| admit_idle(&connections, 2)).collect();
        // It has sent nothing so far, and it is the only connection of its address.
        let newcomer = admit(&connections, 3);
        let more: Vec<Connection> = (4..7).map(|from| admit(&connections, from)).collect();
        assert!(is_open(&newcomer) && few.iter().chain(&more).all(is_open));
        let open: Vec<bool> = crowd.iter().map(is_open).collect();
        assert_eq!(open, [false, false, false, true, true], "the longest idle first");
    }

    #[test]
    fn when_the_crowd_is_busy_the_next_address_loses_a_connection() {
        let connections = Connections::new(LIMITS);
        let (crowd, requests): (Vec<Connection>, Vec<InProgress>) = (0..5)
            .map(|_| {
                let one = admit(&connections, 1);
                let request = one.requests().begin();
                (one, request)
            })
            .unzip();
        let few: Vec<Connection> = (0..2).map(|_| admit_idle(&connections, 2)).collect();
        let alone = admit(&connections, 3);
        let _newcomer = admit(&connections, 4);
        assert!(is_open(&alone) && crowd.iter().all(is_open));
        assert_eq!(few.iter().map(is_open).collect::<Vec<_>>(), [false, true]);
        drop(requests);
    }

    #[test]
    fn one_address_leaves_places_for_others_and_waits_for_its_own() {
        let connections = Connections::new(LIMITS);
        let held: Vec<_> = (0..LIMITS.per_address)
            .map(|_| {
                let one = admit(&connections, 1);
                let request = one.requests().begin();
                (one, request)
            })
            .collect();
        assert!(matches!(connections.admit(address(1)), Admission::Refused));
        let others = [2, 3].map(|from| {
            let one = admit(&connections, from);
            let request = one.requests().begin();
            (one, request)
        });
        assert!(matches!(connections.admit(address(4)), Admission::Full));
        drop(held);
        let _taken = admit(&connections, 1);
        drop(others);
    }

    #[test]
    fn addresses_of_one_customer_are_counted_as_one() {
        let parse = |text: &str| address_of(text.parse().unwrap());
        assert_eq!(parse("2001:db8::1"), parse("2001:db8::ffff:1"));
        assert_ne!(parse("2001:db8::1"), parse("2001:db8:0:1::1"));
        assert_eq!(parse("::ffff:192.0.2.7"), parse("192.0.2.7"));
        assert_ne!(parse("192.0.2.7"), parse("192.0.2.8"));
    }
}
