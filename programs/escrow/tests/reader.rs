use pinocchio::Address;
use proptest::prelude::*;

use crate::{
    state::job::FailureReason,
    wire::{
        arguments::{Addresses, Decode, arguments},
        byte::Byte,
        text::Text,
    },
};

arguments! {
    /// One argument of each type that instructions have.
    pub struct Every<'a> {
        byte: u8,
        short: u16,
        word: u32,
        long: u64,
        time: i64,
        flag: bool,
        reason: Byte<FailureReason>,
        id: &'a [u8; 16],
        key: &'a Address,
        text: Text<'a>,
        keys: Addresses<'a>,
    }
}

/// By Borsh's rules, independently of the reader.
fn encode(numbers: (u8, u16, u32, u64, i64), flag: u8, text: &str, keys: &[[u8; 32]]) -> Vec<u8> {
    let (byte, short, word, long, time) = numbers;
    let mut data = vec![byte];
    data.extend(short.to_le_bytes());
    data.extend(word.to_le_bytes());
    data.extend(long.to_le_bytes());
    data.extend(time.to_le_bytes());
    data.extend([flag, byte]);
    data.extend([byte; 16]);
    data.extend([byte; 32]);
    data.extend((text.len() as u32).to_le_bytes());
    data.extend(text.as_bytes());
    data.extend((keys.len() as u32).to_le_bytes());
    data.extend(keys.concat());
    data
}

proptest! {
    #[test]
    fn arguments_are_read_as_they_were_written_and_no_byte_may_lack_or_be_left(
        numbers: (u8, u16, u32, u64, i64),
        flag: bool,
        text in "[ -~]{0,128}",
        keys in prop::collection::vec(any::<[u8; 32]>(), 0..9),
    ) {
        let data = encode(numbers, u8::from(flag), &text, &keys);
        let read = Every::decode(&data).ok().unwrap();
        prop_assert_eq!((read.byte, read.short, read.word, read.long, read.time), numbers);
        prop_assert_eq!(read.flag, flag);
        prop_assert!(read.reason.get().is_some() == (numbers.0 <= 10));
        prop_assert_eq!(read.id, &[numbers.0; 16]);
        prop_assert_eq!(read.key.as_array(), &[numbers.0; 32]);
        prop_assert_eq!(read.text.bytes(), text.as_bytes());
        prop_assert!(read.keys.iter().map(Address::as_array).eq(keys.iter()));

        for length in 0..data.len() {
            prop_assert!(Every::decode(&data[..length]).is_err(), "the first {} bytes", length);
        }
        prop_assert!(Every::decode(&[data.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn a_flag_is_zero_or_one(flag: u8) {
        let data = encode((0, 0, 0, 0, 0), flag, "", &[]);
        prop_assert_eq!(Every::decode(&data).is_ok(), flag <= 1);
    }

    #[test]
    fn a_length_that_lies_reads_nothing_beyond_the_data(length: u32, rest: Vec<u8>) {
        let mut data = encode((0, 0, 0, 0, 0), 0, "", &[]);
        data.truncate(data.len() - 4);
        data.extend(length.to_le_bytes());
        data.extend(&rest);
        let fits = u64::from(length) * 32 == rest.len() as u64;
        prop_assert_eq!(Every::decode(&data).is_ok(), fits);
    }
}
