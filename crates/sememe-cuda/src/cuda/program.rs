//! The kernels, compiled for the card that is there. What was compiled is kept in the user's cache.

use std::ffi::CString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::{Ptx, result, sys};

use super::HOPPER;
use super::probe::{Unavailable, find_compiler};
use crate::{COLUMNS_OF_TILE, ROWS_OF_TILE};

/// Compiled as one file.
const SOURCE: &str = concat!(
    include_str!("../kernels/common.cu"),
    include_str!("../kernels/search.cu"),
    include_str!("../kernels/rows.cu"),
    include_str!("../kernels/multiply.cu"),
    include_str!("../kernels/screen.cu"),
    include_str!("../kernels/select.cu"),
);
/// Coordinates of a step; also in `kernels/`.
const DEPTH: usize = 64;

/// How the kernels use shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Coordinates of a row.
    padded: usize,
    is_streamed: bool,
    stages: usize,
    waiting: usize,
    /// Whether groups of four warps multiply out of shared memory. Only Hopper has these instructions.
    is_hopper: bool,
}

impl Layout {
    /// The fastest one for rows of `padded` coordinates in half precision that fits into shared memory.
    pub(super) fn for_rows(padded: usize, is_hopper: bool, shared_memory: usize) -> Option<Self> {
        let all: &[_] = match is_hopper {
            true => &[(false, 4, 255), (true, 4, 255)],
            false => &[(false, 3, 1024), (true, 3, 1024), (true, 2, 128)],
        };
        let layout = |&(is_streamed, stages, waiting)| Layout { padded, is_streamed, stages, waiting, is_hopper };
        all.iter().map(layout).find(|layout| layout.bytes() <= shared_memory)
    }

    /// Bytes of shared memory.
    pub(super) fn bytes(self) -> usize {
        let row_steps = if self.is_streamed { self.stages } else { self.padded.div_ceil(DEPTH) };
        let step = |rows: usize| rows * DEPTH * 2;
        // Two numbers of each column, and eight bytes of each waiting candidate.
        let others = 8 * COLUMNS_OF_TILE + 4 + 8 * self.waiting;
        row_steps * step(ROWS_OF_TILE) + self.stages * step(COLUMNS_OF_TILE) + others
    }
}

/// The kernels on a card.
pub(super) struct Program {
    pub(super) round_rows: CudaFunction,
    pub(super) bounds_of_targets: CudaFunction,
    pub(super) inverses_of_queries: CudaFunction,
    pub(super) maxima_of_rows: CudaFunction,
    pub(super) screen_one_way: CudaFunction,
    pub(super) screen_both_ways: CudaFunction,
    pub(super) thresholds_of_rows: CudaFunction,
    pub(super) raise_thresholds: CudaFunction,
    pub(super) settle: CudaFunction,
    pub(super) squares_of_rows: CudaFunction,
}

impl Program {
    pub(super) fn new(
        context: &Arc<CudaContext>,
        capability: (i32, i32),
        layout: Layout,
        shared_memory: usize,
    ) -> Result<Self, Unavailable> {
        let definitions = [
            format!("-DPADDED={}", layout.padded),
            format!("-DSTREAMED={}", u8::from(layout.is_streamed)),
            format!("-DSTAGES={}", layout.stages),
            format!("-DWAITING={}", layout.waiting),
            format!("-DHOPPER={}", u8::from(layout.is_hopper)),
        ];
        let module = compiled(context, SOURCE, capability, &definitions)?;
        let function = |name: &str| module.load_function(name);
        let program = Program {
            round_rows: function("round_rows")?,
            bounds_of_targets: function("bounds_of_targets")?,
            inverses_of_queries: function("inverses_of_queries")?,
            maxima_of_rows: function("maxima_of_rows")?,
            screen_one_way: function("screen_one_way")?,
            screen_both_ways: function("screen_both_ways")?,
            thresholds_of_rows: function("thresholds_of_rows")?,
            raise_thresholds: function("raise_thresholds")?,
            settle: function("settle")?,
            squares_of_rows: function("squares_of_rows")?,
        };
        for function in [&program.maxima_of_rows, &program.screen_one_way, &program.screen_both_ways] {
            function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_memory as i32)?;
        }
        Ok(program)
    }
}

/// Kernels with these definitions, compiled for a card of this capability.
pub(super) fn compiled(
    context: &Arc<CudaContext>,
    source: &str,
    capability: (i32, i32),
    definitions: &[String],
) -> Result<Arc<CudaModule>, Unavailable> {
    // Hopper's own instructions need its own architecture.
    let own = if capability == HOPPER { "a" } else { "" };
    let mut options = vec![format!("--gpu-architecture=sm_{}{}{own}", capability.0, capability.1)];
    options.push("--std=c++17".to_owned());
    options.extend_from_slice(definitions);
    Ok(context.load_module(Ptx::from_binary(machine_code_of(source, &options)?))?)
}

/// Kernels as machine code, from the cache if they were compiled before.
fn machine_code_of(source: &str, options: &[String]) -> Result<Vec<u8>, Unavailable> {
    let mut hasher = blake3::Hasher::new();
    std::iter::once(source).chain(options.iter().map(String::as_str)).for_each(|text| {
        hasher.update(text.as_bytes()).update(b"\0");
    });
    let file = cache().map(|folder| folder.join(format!("kernels-{}.cubin", &hasher.finalize().to_hex()[..24])));
    if let Some(code) = file.as_deref().and_then(read) {
        return Ok(code);
    }
    let code = compile(source, options)?;
    // A cache that cannot be written costs a few seconds at every start.
    let _ = file.map(|file| write(&file, &code));
    Ok(code)
}

fn cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.or_else(|| folder("LOCALAPPDATA")).map(|cache| cache.join("sememe"))
}

/// Reads machine code that has the hash it ends with.
fn read(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(file).ok()?;
    let hash = bytes.split_off(bytes.len().checked_sub(blake3::OUT_LEN)?);
    (blake3::hash(&bytes).as_bytes()[..] == hash[..]).then_some(bytes)
}

/// Writes machine code and its hash beside, and renames it into place.
fn write(file: &Path, code: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().expect("a file in a folder");
    std::fs::create_dir_all(folder)?;
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    written.write_all(code)?;
    written.write_all(blake3::hash(code).as_bytes())?;
    written.persist(file)?;
    Ok(())
}

fn compile(source: &str, options: &[String]) -> Result<Vec<u8>, Unavailable> {
    find_compiler()?;
    let broken = |error: result::NvrtcError| Unavailable::Broken(format!("NVRTC fails: {error:?}"));
    let source = CString::new(source).expect("no zero byte in the kernels");
    let program = result::create_program(&source, Some(c"kernels.cu")).map_err(broken)?;
    // SAFETY: the program was created above and is destroyed below.
    let compiled = match unsafe { result::compile_program(program, options) } {
        Ok(()) => machine_code(program).map_err(broken),
        Err(error) => Err(Unavailable::Broken(format!("the kernels do not compile ({error:?}): {}", log(program)))),
    };
    // SAFETY: the program is not used after it.
    unsafe { result::destroy_program(program) }.map_err(broken)?;
    compiled
}

fn machine_code(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program was compiled, and `size` is valid for the call.
    unsafe { sys::nvrtcGetCUBINSize(program, &raw mut size) }.result()?;
    let mut code = vec![0_u8; size];
    // SAFETY: there is room for `size` bytes.
    unsafe { sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()) }.result()?;
    Ok(code)
}

fn log(program: sys::nvrtcProgram) -> String {
    // SAFETY: the program exists.
    let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
    let bytes: Vec<u8> = log.into_iter().map(|byte| byte as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_fit_into_the_shared_memory_of_the_cards_there_are() {
        // Hopper keeps rows of 300 numbers in shared memory, and streams longer ones.
        let is_streamed = |padded, is_hopper, memory| {
            Layout::for_rows(padded, is_hopper, memory).map(|layout| (layout.is_streamed, layout.stages))
        };
        assert_eq!(is_streamed(304, true, 232_448), Some((false, 4)));
        assert_eq!(is_streamed(1536, true, 232_448), Some((true, 4)));
        // Ampere and Ada: 163 and 99 KB.
        assert_eq!(is_streamed(304, false, 166_912), Some((true, 3)));
        assert_eq!(is_streamed(304, false, 101_376), Some((true, 2)));
        assert_eq!(is_streamed(304, false, 49_152), None);
    }

    #[test]
    fn damaged_code_is_compiled_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cache/kernels.cubin");
        write(&file, b"code").unwrap();
        assert_eq!(read(&file).as_deref(), Some(&b"code"[..]));
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[0] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(read(&file), None);
        std::fs::write(&file, b"short").unwrap();
        assert_eq!(read(&file), None);
    }
}
