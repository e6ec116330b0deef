//! Variable bytes: 7 bits of a gap a byte, lowest first; bit 7 says that another byte follows.

use spirit_kernel::Level;

use super::blocks::{Blocks, Codec};

pub(crate) struct Bytes;

pub(crate) type VariableBytes = Blocks<Bytes>;

impl Codec for Bytes {
    const NAME: &'static str = "variable bytes";
    type Unit = u8;

    fn pack(gaps: &[u32], out: &mut Vec<u8>) {
        for gap in gaps {
            let mut rest = *gap;
            while rest > 0x7F {
                out.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            out.push(rest as u8);
        }
    }

    fn unpack(_: Level, from: &[u8], out: &mut [u32]) {
        let mut bytes = from.iter();
        for gap in out {
            let (mut number, mut shift) = (0, 0);
            for byte in bytes.by_ref() {
                number |= u32::from(byte & 0x7F) << shift;
                shift += 7;
                if *byte < 0x80 {
                    break;
                }
            }
            *gap = number;
        }
    }
}
