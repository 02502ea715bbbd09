use proptest::prelude::*;

use crate::wire::text::{TEXT_BYTES_MAX, Text};

#[test]
fn each_of_the_256_bytes_is_accepted_just_if_it_is_printable_ascii() {
    for byte in 0..=u8::MAX {
        let is_printable = byte.is_ascii_graphic() || byte == b' ';
        assert_eq!(Text::new(&[byte]).is_ok(), is_printable, "{byte}");
        assert_eq!(Text::new(&[b'a', byte, b'z']).is_ok(), is_printable, "{byte}");
    }
}

#[test]
fn text_may_have_as_many_bytes_as_its_bound_and_its_account_have() {
    let bytes = [b'a'; TEXT_BYTES_MAX + 1];
    assert!(Text::new(&bytes).is_err());
    let text = Text::new(&bytes[..TEXT_BYTES_MAX]).ok().unwrap();
    assert_eq!(text.store(&mut [0; TEXT_BYTES_MAX]), Ok(TEXT_BYTES_MAX as u8));
    assert!(text.store(&mut [0; TEXT_BYTES_MAX - 1]).is_err());
    assert!(Text::new(&[]).ok().unwrap().store(&mut [0; 4]).is_err());
}

proptest! {
    #[test]
    fn stored_text_is_read_back_and_nothing_of_the_text_before_stays(
        before in "[ -~]{1,16}",
        after in "[ -~]{1,16}",
    ) {
        let mut account = [0; 16];
        for text in [&before, &after] {
            let length = Text::new(text.as_bytes()).unwrap_or_else(|_| unreachable!())
                .store(&mut account).unwrap();
            prop_assert_eq!(Text::stored(&account, length).bytes(), text.as_bytes());
            prop_assert!(account[usize::from(length)..].iter().all(|byte| *byte == 0));
        }
    }
}
