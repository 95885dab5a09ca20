//! Memories, operations, projects and their state.

use crate::decode;
use crate::encode;
use crate::handle::Handle;
use oneiro::{
    DistrustRequest, EndState, ExtractRequest, ForgetRequest, ListInteractions, ListMemories,
    ListOperations, ListPacks, ListState, MemoryPatch, MemoryStatsRequest, MergeRequest,
    NewInteraction, NewMemory, Oneiro, PackRequest, ProjectRequest, ReasonRequest,
    ReinforceRequest, ReviewRequest, ShowMemory, StateRequest, SupersedeRequest, UnmuteRequest,
    WhyPackRequest, WhyRequest,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Methods that take a request, and those that take an id and a request.
macro_rules! calls {
    ($($name:ident($decode:expr) $call:expr;)+ --- $($named:ident(id, $named_decode:expr) $named_call:expr;)+) => {
        #[pymethods]
        impl Handle {
            $(
                fn $name<'py>(
                    &self,
                    py: Python<'py>,
                    request: &Bound<'py, PyDict>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    let request = ($decode)(request)?;
                    encode::answer(py, &self.call(py, |oneiro| ($call)(oneiro, request))?)
                }
            )+
            $(
                fn $named<'py>(
                    &self,
                    py: Python<'py>,
                    id: &str,
                    request: &Bound<'py, PyDict>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    let request = ($named_decode)(request)?;
                    encode::answer(py, &self.call(py, |oneiro| ($named_call)(oneiro, id, request))?)
                }
            )+
        }
    };
}

calls! {
    remember(decode::request::<NewMemory>)
        |oneiro: &Oneiro, new| oneiro.memories().remember(new);
    memories(decode::request::<ListMemories>)
        |oneiro: &Oneiro, list: ListMemories| oneiro.memories().list(&list);
    forget_memories(decode::request::<ForgetRequest>)
        |oneiro: &Oneiro, forget| oneiro.memories().forget_many(forget);
    review_memories(decode::request::<ReviewRequest>)
        |oneiro: &Oneiro, review| oneiro.memories().review_many(review);
    distrust(decode::request::<DistrustRequest>)
        |oneiro: &Oneiro, request| oneiro.memories().distrust(request);
    operations(decode::request::<ListOperations>)
        |oneiro: &Oneiro, list: ListOperations| oneiro.operations().list(&list);
    register_project(decode::request::<ProjectRequest>)
        |oneiro: &Oneiro, project| oneiro.projects().register(project);
    capture_interaction(decode::request::<NewInteraction>)
        |oneiro: &Oneiro, new| oneiro.learning().capture(new);
    interactions(decode::request::<ListInteractions>)
        |oneiro: &Oneiro, list: ListInteractions| oneiro.learning().interactions(&list);
    extract(decode::request::<ExtractRequest>)
        |oneiro: &Oneiro, request: ExtractRequest| oneiro.learning().extract(&request);
    pack(decode::request::<PackRequest>)
        |oneiro: &Oneiro, request: PackRequest| oneiro.packs().make(&request);
    packs(decode::request::<ListPacks>)
        |oneiro: &Oneiro, list: ListPacks| oneiro.packs().list(&list);
    why_pack(decode::request::<WhyPackRequest>)
        |oneiro: &Oneiro, request: WhyPackRequest| oneiro.packs().why(&request);
    memory_stats(decode::request::<MemoryStatsRequest>)
        |oneiro: &Oneiro, request: MemoryStatsRequest| oneiro.memories().stats(&request);
    ---
    unmute_memory(id, decode::request::<UnmuteRequest>)
        |oneiro: &Oneiro, id, request: UnmuteRequest| oneiro.memories().unmute(id, &request);
    memory(id, decode::request::<ShowMemory>)
        |oneiro: &Oneiro, id, show: ShowMemory| oneiro.memories().show(id, &show);
    edit_memory(id, decode::request::<MemoryPatch>)
        |oneiro: &Oneiro, id, patch| oneiro.memories().edit(id, patch);
    promote_memory(id, decode::request::<ReasonRequest>)
        |oneiro: &Oneiro, id, why: ReasonRequest| oneiro.memories().promote(id, why.reason);
    reject_memory(id, decode::request::<ReasonRequest>)
        |oneiro: &Oneiro, id, why: ReasonRequest| oneiro.memories().reject(id, why.reason);
    confirm_memory(id, decode::request::<ReasonRequest>)
        |oneiro: &Oneiro, id, why: ReasonRequest| oneiro.memories().confirm(id, why.reason);
    forget_memory(id, decode::request::<ReasonRequest>)
        |oneiro: &Oneiro, id, why: ReasonRequest| oneiro.memories().forget(id, why.reason);
    supersede_memory(id, decode::request::<SupersedeRequest>)
        |oneiro: &Oneiro, id, by| oneiro.memories().supersede(id, by);
    merge_memory(id, decode::request::<MergeRequest>)
        |oneiro: &Oneiro, id, merge| oneiro.memories().merge(id, merge);
    reinforce_memory(id, decode::request::<ReinforceRequest>)
        |oneiro: &Oneiro, id, used| oneiro.memories().reinforce(id, used);
    undo(id, decode::request::<ReasonRequest>)
        |oneiro: &Oneiro, id, why: ReasonRequest| oneiro.operations().undo(id, why.reason);
    project_state(id, decode::request::<ListState>)
        |oneiro: &Oneiro, id, list: ListState| oneiro.projects().state(id, &list);
    set_state(id, decode::request::<StateRequest>)
        |oneiro: &Oneiro, id, state| oneiro.projects().set_state(id, state);
    end_state(id, decode::request::<EndState>)
        |oneiro: &Oneiro, id, end| oneiro.projects().end_state(id, end);
}

#[pymethods]
impl Handle {
    fn memory_history<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.memories().history(id))?)
    }

    fn why<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = decode::request::<WhyRequest>(request)?;
        encode::answer(py, &self.call(py, |oneiro| oneiro.memories().why(id, &request))?)
    }

    fn interaction<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.learning().interaction(id))?)
    }

    fn reinforce_interaction<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.learning().reinforce(id))?)
    }

    fn extract_interaction<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.learning().extract_interaction(id))?)
    }

    fn show_pack<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.packs().show(id))?)
    }

    fn projects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        encode::answer(py, &self.call(py, |oneiro| oneiro.projects().list())?)
    }
}
