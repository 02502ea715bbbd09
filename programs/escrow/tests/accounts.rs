//! Accounts in memory, as the runtime lays them out.

use pinocchio::{
    AccountView, Address,
    account::{NOT_BORROWED, RuntimeAccount},
};

use crate::{ID, tests::address};

/// An account and its data. The view points into it.
pub struct Stored {
    words: Vec<u64>,
}

impl Stored {
    /// An account of the program.
    pub fn new(data: &[u8]) -> Self {
        Self::of(ID, address(1), data)
    }

    pub fn of(owner: Address, address: Address, data: &[u8]) -> Self {
        let head_words = size_of::<RuntimeAccount>() / size_of::<u64>();
        let mut words = vec![0_u64; head_words + data.len().div_ceil(size_of::<u64>())];
        let head = RuntimeAccount {
            borrow_state: NOT_BORROWED,
            is_signer: 1,
            is_writable: 1,
            executable: 0,
            padding: [0; 4],
            address,
            owner,
            lamports: 1,
            data_len: data.len() as u64,
        };
        // SAFETY: the words have room for head and data, and are aligned like the head.
        unsafe {
            words.as_mut_ptr().cast::<RuntimeAccount>().write(head);
            words.as_mut_ptr().add(head_words).cast::<u8>().copy_from(data.as_ptr(), data.len());
        }
        Self { words }
    }

    /// As often as it is called, of one account.
    pub fn view(&mut self) -> AccountView {
        // SAFETY: head and data lie there as long as `self`, which the tests outlive.
        unsafe { AccountView::new_unchecked(self.words.as_mut_ptr().cast()) }
    }
}
