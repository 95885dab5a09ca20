//! Mounted folders over HTTP: mount, unmount, list, and bring into sync.

use crate::call::{Answer, Call};
use oneiro::{Mount, MountNotes, Page, Result, SyncedMount, UnmountNotes};

pub(super) fn list(call: &Call) -> Result<Answer<Page<SyncedMount>>> {
    Answer::ok(call.oneiro()?.notes().mounts()?.into())
}

pub(super) fn mount(call: &Call, request: MountNotes) -> Result<Answer<SyncedMount>> {
    Answer::ok(call.oneiro()?.notes().mount(&request)?)
}

pub(super) fn unmount(call: &Call, request: UnmountNotes) -> Result<Answer<Mount>> {
    Answer::ok(call.oneiro()?.notes().unmount(&request)?)
}

pub(super) fn sync(call: &Call) -> Result<Answer<Page<SyncedMount>>> {
    list(call)
}
