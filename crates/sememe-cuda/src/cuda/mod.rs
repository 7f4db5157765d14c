//! A GPU as a [`Card`].

mod arguments;
mod components;
mod couple;
mod data;
mod doubles;
mod exponentials;
mod finish;
mod grid;
mod memory;
mod probe;
mod products;
mod program;
mod ranks;
mod resident;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, PinnedHostSlice, PushKernelArg};

use self::arguments::{ListsArgument, QueriesArgument, ScreenArgument, TilesArgument};
pub use self::components::Whitened;
pub use self::couple::{Coupled, Nearest, Similarities};
pub use self::data::{Lists, Queries, Rows, Targets};
pub use self::finish::Finishing;
use self::grid::grid_of;
pub use self::probe::{Description, Unavailable, descriptions};
use self::products::Products;
pub use self::products::Vectors;
use self::program::{Layout, Program};
pub use self::ranks::PairRank;
pub use self::resident::RowsOnGpu;
use crate::card::{Best, Card, Facts, Fault, HostRows, Selection, Settled, State, Wanted};
use crate::search::{SAMPLE, groups_of};
use crate::{COLUMNS_OF_TILE, COORDINATES, ROWS_OF_TILE};

/// The compute capability of Hopper.
const HOPPER: (i32, i32) = (9, 0);
/// So many operations in single precision take the time of one in double precision, at most, on cards that are made for it.
const MOST_SINGLE_TO_DOUBLE: usize = 4;
/// Threads of a block that multiplies tiles, and of one that does other work.
const THREADS: u32 = 256;
const WARP: u32 = 32;
/// Bytes of the maxima of rows that are computed at a time.
const MAXIMA_BYTES: usize = 512 << 20;
/// Rows that may be read after the last one: as many as a tile of the sparsest sample spans.
const ROWS_BEYOND: usize = SAMPLE * COLUMNS_OF_TILE;
/// Bounds of candidates that a warp keeps; also in `kernels/`.
const KEPT_BOUNDS: usize = 256;
/// Shared memory that a block may have without asking for it.
const PLAIN_SHARED_MEMORY: usize = 48 << 10;
/// `states` of rows without a result; also in `kernels/`.
const LOST: u32 = u32::MAX;
const CROWDED: u32 = u32::MAX - 1;

impl From<DriverError> for Fault {
    fn from(error: DriverError) -> Self {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Fault::OutOfMemory,
            _ => Fault::Driver(error.to_string()),
        }
    }
}

/// A GPU. Clones share it.
#[derive(Clone)]
pub struct Cuda {
    shared: Arc<Shared>,
}

struct Shared {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    name: String,
    capability: (i32, i32),
    is_hopper: bool,
    multiprocessors: usize,
    shared_memory: usize,
    has_doubles: bool,
    programs: Mutex<HashMap<Layout, Arc<Program>>>,
    products: Mutex<Option<Arc<Products>>>,
    /// Page-locked memory that numbers are fetched by.
    staging: Mutex<Option<PinnedHostSlice<u8>>>,
}

impl Cuda {
    /// The GPU with this number.
    pub fn new(number: usize) -> Result<Self, Unavailable> {
        Self::with(number, true)
    }

    /// A GPU that only uses instructions that all supported cards have, to test these.
    pub fn portable(number: usize) -> Result<Self, Unavailable> {
        Self::with(number, false)
    }

    fn with(number: usize, may_use_hopper: bool) -> Result<Self, Unavailable> {
        let count = probe::count()?;
        if number >= count {
            return Err(Unavailable::NoSuchCard { wanted: number, last: count - 1 });
        }
        let context = CudaContext::new(number)?;
        let (name, capability) = (context.name()?, context.compute_capability()?);
        probe::check_capability(&name, capability)?;
        // SAFETY: one stream does everything, in order.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream()?;
        memory::keep(&context)?;
        let attribute = |attribute| context.attribute(attribute).map(|value| value as usize);
        let multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let shared_memory = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let single_to_double = attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)?;
        let has_doubles = single_to_double <= MOST_SINGLE_TO_DOUBLE;
        let is_hopper = may_use_hopper && capability == HOPPER;
        let shared = Shared {
            context,
            stream,
            name,
            capability,
            is_hopper,
            multiprocessors,
            shared_memory,
            has_doubles,
            programs: Mutex::default(),
            products: Mutex::default(),
            staging: Mutex::default(),
        };
        let cuda = Cuda { shared: Arc::new(shared) };
        // The usual size, so that a missing compiler is noticed now.
        cuda.program(COORDINATES)?;
        Ok(cuda)
    }

    /// The name of the card.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Whether it is made for sums in double precision. Others are slower at them than processors.
    pub fn has_doubles(&self) -> bool {
        self.shared.has_doubles
    }

    /// Whether it is the same GPU, opened once.
    pub fn is_same(&self, other: &Cuda) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Waits until everything is done.
    pub fn synchronize(&self) -> Result<(), Fault> {
        Ok(self.shared.stream.synchronize()?)
    }

    fn layout(&self, padded: usize) -> Result<Layout, Unavailable> {
        let too_small = || Unavailable::Broken("the GPU has too little shared memory".to_owned());
        Layout::for_rows(padded, self.shared.is_hopper, self.shared.shared_memory).ok_or_else(too_small)
    }

    /// The kernels for rows of this length.
    fn program(&self, padded: usize) -> Result<Arc<Program>, Unavailable> {
        let Shared { context, capability, shared_memory, programs, .. } = &*self.shared;
        let layout = self.layout(padded)?;
        let mut programs = programs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(program) = programs.get(&layout) {
            return Ok(program.clone());
        }
        let program = Arc::new(Program::new(context, *capability, layout, *shared_memory)?);
        programs.insert(layout, program.clone());
        Ok(program)
    }

    fn kernels(&self, rows: &Rows) -> Result<Arc<Program>, Fault> {
        self.program(rows.prepared.padded).map_err(|error| Fault::Driver(error.to_string()))
    }

    fn screen_with(
        &self,
        function: &CudaFunction,
        queries: &Queries,
        (targets, part): (&Targets, Range<usize>),
        screen: &ScreenArgument,
    ) -> Result<(), Fault> {
        let padded = queries.rows.prepared.padded;
        let (rows, columns) = (self.queries_argument(queries), self.targets_argument(targets));
        let [first, last] = [part.start / COLUMNS_OF_TILE, part.end.div_ceil(COLUMNS_OF_TILE)];
        let tiles = TilesArgument { first: first as u32, last: last as u32, stride: 1 };
        let grid = self.tiles(queries.count, last - first, padded)?;
        let mut launch = self.shared.stream.launch_builder(function);
        launch.arg(&rows).arg(&columns).arg(&tiles).arg(screen);
        // SAFETY: the arguments are those of the kernel, and all buffers have the sizes it expects.
        unsafe { launch.launch(grid) }?;
        Ok(())
    }
}

impl Card for Cuda {
    type Rows = Rows;
    type Targets = Targets;
    type Queries = Queries;
    type Numbers = CudaSlice<f32>;
    type Lists = Lists;

    fn free_bytes(&self) -> Result<usize, Fault> {
        let context = &self.shared.context;
        Ok(context.mem_get_info()?.0 + memory::kept_bytes(context)?)
    }

    fn upload(&self, rows: HostRows) -> Result<Rows, Fault> {
        self.prepare(Arc::new(self.copied(rows.values)?), self.copied(rows.factors)?, rows.dim)
    }

    fn facts<'a>(&self, rows: &'a Rows) -> &'a Facts {
        &rows.prepared.facts
    }

    fn targets(&self, rows: &Rows, count: usize, bias: &[f64], error: f32) -> Result<Targets, Fault> {
        let bias = self.copied(&bias[..count])?;
        let floats = || self.allocate::<f32>(count);
        let (lengths, lower, upper) = (floats()?, floats()?, floats()?);
        let (program, number) = (self.kernels(rows)?, count as u32);
        let mut launch = self.shared.stream.launch_builder(&program.bounds_of_targets);
        launch.arg(&rows.prepared.lengths).arg(&bias).arg(&number).arg(&lengths).arg(&lower).arg(&upper);
        // SAFETY: the arguments are those of the kernel; a thread a target.
        unsafe { launch.launch(grid_of(count, THREADS, THREADS, 0)) }?;
        Ok(Targets { rows: rows.clone(), count, bias, lengths, lower, upper, error })
    }

    fn queries(&self, rows: &Rows, selection: &Selection, scale: f64) -> Result<Queries, Fault> {
        let (list, first) = match selection {
            Selection::Range(range) => (None, range.start),
            Selection::List(list) => (Some(self.copied(list)?), 0),
        };
        let count = selection.len();
        let inverses = self.allocate::<f32>(count)?;
        let (program, number) = (self.kernels(rows)?, count as u32);
        let address = list.as_ref().map_or(0, |list| self.address(list));
        let mut launch = self.shared.stream.launch_builder(&program.inverses_of_queries);
        launch.arg(&rows.prepared.lengths).arg(&address).arg(&first).arg(&number).arg(&scale).arg(&inverses);
        // SAFETY: the arguments are those of the kernel; a thread a query.
        unsafe { launch.launch(grid_of(count, THREADS, THREADS, 0)) }?;
        Ok(Queries { rows: rows.clone(), list, first, count, scale, inverses })
    }

    fn sampled_thresholds(
        &self,
        queries: &Queries,
        targets: &Targets,
        stride: usize,
        k: usize,
    ) -> Result<CudaSlice<f32>, Fault> {
        let (padded, groups) = (queries.rows.prepared.padded, groups_of(targets.count, stride));
        let tiles = targets.count.div_ceil(stride).div_ceil(COLUMNS_OF_TILE);
        let at_a_time = (MAXIMA_BYTES / 4 / groups.max(1) / ROWS_OF_TILE).max(1) * ROWS_OF_TILE;
        let maxima = self.allocate::<f32>(at_a_time.min(queries.count) * groups)?;
        let thresholds = self.allocate::<f32>(queries.count)?;
        let (program, columns) = (self.kernels(&queries.rows)?, self.targets_argument(targets));
        for from in (0..queries.count).step_by(at_a_time) {
            let count = at_a_time.min(queries.count - from);
            let all = self.queries_argument(queries);
            let rows = QueriesArgument {
                list: if all.list == 0 { 0 } else { all.list + 4 * from as u64 },
                first: all.first + from as u32,
                count: count as u32,
                inverses: all.inverses + 4 * from as u64,
                ..all
            };
            let numbers = [groups, count, k].map(|number| number as u32);
            let sampled = TilesArgument { first: 0, last: tiles as u32, stride: stride as u32 };
            let mut launch = self.shared.stream.launch_builder(&program.maxima_of_rows);
            launch.arg(&rows).arg(&columns).arg(&sampled).arg(&maxima).arg(&numbers[0]);
            // SAFETY: the arguments are those of the kernel, and there is room for the maxima of these rows.
            unsafe { launch.launch(self.tiles(count, tiles, padded)?) }?;
            let part = thresholds.slice(from..from + count);
            let mut launch = self.shared.stream.launch_builder(&program.thresholds_of_rows);
            launch.arg(&maxima).arg(&numbers[1]).arg(&numbers[0]).arg(&numbers[2]).arg(&rows.inverses).arg(&part);
            // SAFETY: the arguments are those of the kernel; a warp a row.
            unsafe { launch.launch(grid_of(count, THREADS / WARP, THREADS, 0)) }?;
        }
        Ok(thresholds)
    }

    fn numbers(&self, numbers: &[f32]) -> Result<CudaSlice<f32>, Fault> {
        self.copied(numbers)
    }

    fn lists(&self, count: usize, capacity: usize) -> Result<Lists, Fault> {
        let candidates = self.allocate(count * capacity)?;
        Ok(Lists { capacity, candidates, counts: self.shared.stream.alloc_zeros(count.max(1))? })
    }

    fn screen(
        &self,
        queries: &Queries,
        targets: &Targets,
        part: Range<usize>,
        thresholds: &CudaSlice<f32>,
        lists: &mut Lists,
    ) -> Result<(), Fault> {
        let screen = ScreenArgument {
            row_thresholds: self.address(thresholds),
            column_thresholds: 0,
            of_rows: self.lists_argument(lists),
            of_columns: ListsArgument::default(),
        };
        self.screen_with(&self.kernels(&queries.rows)?.screen_one_way, queries, (targets, part), &screen)
    }

    fn screen_both(
        &self,
        queries: &Queries,
        targets: &Targets,
        part: Range<usize>,
        thresholds: [&CudaSlice<f32>; 2],
        lists: [&mut Lists; 2],
    ) -> Result<(), Fault> {
        let [row_thresholds, column_thresholds] = thresholds.map(|thresholds| self.address(thresholds));
        let [of_rows, of_columns] = lists.map(|lists| self.lists_argument(lists));
        let screen = ScreenArgument { row_thresholds, column_thresholds, of_rows, of_columns };
        self.screen_with(&self.kernels(&queries.rows)?.screen_both_ways, queries, (targets, part), &screen)
    }

    fn raise(
        &self,
        thresholds: &mut CudaSlice<f32>,
        lists: &Lists,
        queries: &Queries,
        targets: &Targets,
        k: usize,
    ) -> Result<(), Fault> {
        let (lists, rows) = (self.lists_argument(lists), self.queries_argument(queries));
        let (columns, number) = (self.targets_argument(targets), k as u32);
        let program = self.kernels(&queries.rows)?;
        let mut launch = self.shared.stream.launch_builder(&program.raise_thresholds);
        launch.arg(&lists).arg(&rows).arg(&columns).arg(&number).arg(&*thresholds);
        let warps = THREADS / WARP;
        // SAFETY: the arguments are those of the kernel; a warp a row, with shared memory for the bounds that it keeps.
        unsafe { launch.launch(grid_of(queries.count, warps, THREADS, 4 * KEPT_BOUNDS * warps as usize)) }?;
        Ok(())
    }

    fn settle(
        &self,
        lists: Lists,
        queries: &Queries,
        targets: &Targets,
        thresholds: CudaSlice<f32>,
        Best { k, room, wanted }: Best,
    ) -> Result<Settled, Fault> {
        let count = queries.count;
        let lens = if wanted == Wanted::Means { [count, 0] } else { [count * k; 2] };
        let (scores, indices) = (self.allocate::<f64>(lens[0])?, self.allocate::<u32>(lens[1])?);
        let address = self.address(&scores);
        let [scores_argument, means_argument] = if wanted == Wanted::Means { [0, address] } else { [address, 0] };
        let states = self.allocate::<u32>(count)?;
        let arguments = (self.lists_argument(&lists), self.queries_argument(queries), self.targets_argument(targets));
        let (own, others) = (self.exact_argument(&queries.rows), self.exact_argument(&targets.rows));
        let numbers = [queries.rows.prepared.facts.dim, k, room].map(|number| number as u32);
        // A score and an index for each candidate, the scores in order, and bounds.
        let bytes = 12 * room + 8 * k + 4 * KEPT_BOUNDS;
        let warps = (PLAIN_SHARED_MEMORY / bytes).clamp(1, 4) as u32;
        let program = self.kernels(&queries.rows)?;
        let mut launch = self.shared.stream.launch_builder(&program.settle);
        launch.arg(&arguments.0).arg(&arguments.1).arg(&own).arg(&arguments.2).arg(&others);
        launch.arg(&targets.bias).arg(&queries.scale).arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]);
        launch.arg(&thresholds).arg(&scores_argument).arg(&indices).arg(&means_argument).arg(&states);
        // SAFETY: the arguments are those of the kernel; a warp a row, with shared memory for `room` candidates each.
        unsafe { launch.launch(grid_of(count, warps, warps * WARP, warps as usize * bytes)) }?;
        let state = |state: u32| match state {
            LOST => State::Lost,
            CROWDED => State::Crowded,
            found => State::Found(found),
        };
        Ok(Settled {
            states: self.fetched(&states, count)?.into_iter().map(state).collect(),
            scores: self.fetched(&scores, lens[0])?,
            targets: self.fetched(&indices, lens[1])?,
            thresholds: self.fetched(&thresholds, count)?,
        })
    }
}
