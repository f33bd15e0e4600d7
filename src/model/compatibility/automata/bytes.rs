//! Bytes, and classes of bytes that automata do not distinguish.

use std::sync::LazyLock;

/// All bytes.
pub const BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < u8::MAX {
        byte += 1;
        bytes[byte as usize] = byte;
    }
    bytes
};

/// All bytes, those first that read best in a witness.
pub static PREFERRED: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let rank = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b'!'..=b'~' => 3,
        b' ' => 4,
        0x80.. => 5,
        _ => 6,
    };
    let mut bytes = BYTES;
    bytes.sort_by_key(|byte| (rank(*byte), *byte));
    bytes
});

/// Returns whether a byte is not the first one of its character in UTF-8.
pub const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Splits each class of bytes by the classes that its bytes have in another partition.
pub fn split(classes: &mut [u8; 256], others: &[u8; 256]) {
    let width = usize::from(others.iter().copied().max().unwrap_or_default()) + 1;
    let mut known = vec![None; 256 * width];
    let mut count = 0u8;
    for (class, other) in classes.iter_mut().zip(others) {
        let slot: &mut Option<u8> = &mut known[usize::from(*class) * width + usize::from(*other)];
        *class = *slot.get_or_insert_with(|| {
            let fresh = count;
            // There are at most as many classes as bytes.
            count = count.wrapping_add(1);
            fresh
        });
    }
}
