//! A map as an ONNX model: opset 17, any number of rows, scaling inside the graph.
//!
//! ONNX is Protocol Buffers: fields are a key, `number << 3 | type`, and a value. Only two types are needed here: integers
//! of variable length (0), and lengths followed by bytes (2). The field numbers are those of `onnx.proto`.

use super::Affine;
use crate::files::little_endian;

/// The version of the operators, and of the file format that goes with it.
const OPSET: u64 = 17;
const IR_VERSION: u64 = 8;
/// The type of float32 in ONNX.
const FLOAT: u64 = 1;
/// The types of attributes: a float, an integer and integers.
const ATTRIBUTE_INT: u64 = 2;
/// Names in the graph.
const INPUT: &str = "vectors";
const OUTPUT: &str = "mapped";

impl Affine {
    /// The map as an ONNX model that takes `vectors` (float32, rows x dimension) and returns `mapped`.
    pub fn to_onnx(&self) -> Vec<u8> {
        let mut graph = Graph::default();
        // Rows of zeros have no direction, and LpNormalization leaves them zero.
        let mut at = graph.normalised(INPUT, "unit");
        let transposed: Vec<f32> =
            (0..self.from_dim()).flat_map(|j| (0..self.to_dim()).map(move |i| self.matrix().row(i)[j])).collect();
        graph.constant("matrix", &[self.from_dim(), self.to_dim()], &transposed);
        at = graph.node("MatMul", &[&at, "matrix"], "product", &[]);
        if let Some(offset) = self.offset() {
            graph.constant("offset", &[self.to_dim()], offset);
            at = graph.node("Add", &[&at, "offset"], "moved", &[]);
        }
        if let Some(shift) = self.shift() {
            graph.constant("shift", &[self.to_dim()], shift);
            at = graph.normalised(&at, "scaled");
            at = graph.node("Add", &[&at, "shift"], "shifted", &[]);
        }
        graph.normalised(&at, OUTPUT);
        graph.model(self.from_dim(), self.to_dim())
    }
}

/// The nodes and constants of a graph, encoded.
#[derive(Default)]
struct Graph {
    nodes: Vec<u8>,
    constants: Vec<u8>,
}

impl Graph {
    /// Adds an operation and returns the name of its result.
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> String {
        let mut node = Vec::new();
        inputs.iter().for_each(|input| bytes(&mut node, 1, input.as_bytes()));
        bytes(&mut node, 2, output.as_bytes());
        bytes(&mut node, 3, format!("{operator} {output}").as_bytes());
        bytes(&mut node, 4, operator.as_bytes());
        for (name, value) in attributes {
            let mut attribute = Vec::new();
            bytes(&mut attribute, 1, name.as_bytes());
            integer(&mut attribute, 3, *value as u64);
            integer(&mut attribute, 20, ATTRIBUTE_INT);
            bytes(&mut node, 5, &attribute);
        }
        bytes(&mut self.nodes, 1, &node);
        output.to_owned()
    }

    /// Adds the scaling of rows to unit length.
    fn normalised(&mut self, input: &str, output: &str) -> String {
        self.node("LpNormalization", &[input], output, &[("axis", -1), ("p", 2)])
    }

    /// Adds numbers.
    fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let mut tensor = Vec::new();
        shape.iter().for_each(|&size| integer(&mut tensor, 1, size as u64));
        integer(&mut tensor, 2, FLOAT);
        bytes(&mut tensor, 8, name.as_bytes());
        bytes(&mut tensor, 9, &little_endian(values));
        bytes(&mut self.constants, 5, &tensor);
    }

    /// The whole model.
    fn model(self, from: usize, to: usize) -> Vec<u8> {
        let mut graph = self.nodes;
        bytes(&mut graph, 2, b"migration");
        graph.extend(self.constants);
        bytes(&mut graph, 11, &rows_of(INPUT, from));
        bytes(&mut graph, 12, &rows_of(OUTPUT, to));
        let mut opset = Vec::new();
        bytes(&mut opset, 1, b"");
        integer(&mut opset, 2, OPSET);
        let mut model = Vec::new();
        integer(&mut model, 1, IR_VERSION);
        bytes(&mut model, 2, b"sememe");
        bytes(&mut model, 3, env!("CARGO_PKG_VERSION").as_bytes());
        bytes(&mut model, 7, &graph);
        bytes(&mut model, 8, &opset);
        model
    }
}

/// A value of any number of rows.
fn rows_of(name: &str, dim: usize) -> Vec<u8> {
    let (mut any, mut fixed) = (Vec::new(), Vec::new());
    bytes(&mut any, 2, b"rows");
    integer(&mut fixed, 1, dim as u64);
    let mut shape = Vec::new();
    bytes(&mut shape, 1, &any);
    bytes(&mut shape, 1, &fixed);
    let mut tensor = Vec::new();
    integer(&mut tensor, 1, FLOAT);
    bytes(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    bytes(&mut kind, 1, &tensor);
    let mut value = Vec::new();
    bytes(&mut value, 1, name.as_bytes());
    bytes(&mut value, 2, &kind);
    value
}

fn variable(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn integer(out: &mut Vec<u8>, field: u64, value: u64) {
    variable(out, field << 3);
    variable(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    variable(out, field << 3 | 2);
    variable(out, value.len() as u64);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Matrix;

    #[test]
    fn integers_have_as_many_bytes_as_they_need() {
        let encoded = |value| {
            let mut out = Vec::new();
            integer(&mut out, 2, value);
            out
        };
        assert_eq!(encoded(1), [0x10, 1]);
        assert_eq!(encoded(300), [0x10, 0xac, 0x02]);
        assert_eq!(encoded(-1_i64 as u64).len(), 11);
    }

    #[test]
    fn lengths_add_up_to_the_whole_model() {
        let map = Affine::new(Matrix::new(vec![1.0; 6], 3), Some(vec![0.5; 2])).unwrap();
        let model = map.with_shift(Some(vec![0.25; 2])).unwrap().to_onnx();
        // Every field is followed by another one, up to the end.
        let (mut at, mut fields) = (0, Vec::new());
        let read = |at: &mut usize| {
            let (mut value, mut shift) = (0_u64, 0);
            loop {
                let byte = model[*at];
                *at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        while at < model.len() {
            let key = read(&mut at);
            let value = read(&mut at);
            fields.push(key >> 3);
            if key & 7 == 2 {
                at += value as usize;
            }
        }
        assert_eq!((at, &fields[..]), (model.len(), &[1, 2, 3, 7, 8][..]));
        let text = String::from_utf8_lossy(&model);
        for name in ["LpNormalization", "MatMul", "Add", "vectors", "mapped", "offset", "shift"] {
            assert!(text.contains(name), "{name}");
        }
    }
}
