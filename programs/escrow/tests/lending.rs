//! No account is lent twice in ways that contradict each other. Under Miri these tests also show
//! that the references themselves are sound.

use crate::{
    state::Worker,
    tests::accounts::Stored,
    wire::layout::{Layout, initialize, load, load_mut},
};

pub const VERSION: u8 = 3;

/// A Worker account: the one kind that may be anywhere.
fn worker_account(version: u8) -> Stored {
    let mut data = vec![0; size_of::<Worker>()];
    data[..8].copy_from_slice(&Worker::DISCRIMINATOR.to_le_bytes());
    data[8] = version;
    Stored::new(&data)
}

#[test]
fn one_writer_excludes_every_other_borrow_by_any_name() {
    let mut account = worker_account(VERSION);
    let (first, second) = (account.view(), account.view());
    let writer = load_mut::<Worker>(&first).ok().unwrap();
    for view in [&first, &second] {
        assert!(load_mut::<Worker>(view).is_err());
        assert!(load::<Worker>(view).is_err());
        assert!(initialize::<Worker>(view, 255).is_err());
    }
    assert_eq!(writer.stake(7, 1), Ok(()));
    assert_eq!(writer.stake_tokens(), 7);
}

#[test]
fn readers_share_an_account_and_exclude_a_writer() {
    let mut account = worker_account(VERSION);
    let (first, second) = (account.view(), account.view());
    let readers = [&first, &second, &first, &second].map(|view| load::<Worker>(view).ok().unwrap());
    for view in [&first, &second] {
        assert!(load_mut::<Worker>(view).is_err());
        assert!(initialize::<Worker>(view, 255).is_err());
    }
    assert!(readers.iter().all(|reader| reader.stake_tokens() == 0));
}

#[test]
fn a_new_account_is_lent_to_the_one_who_creates_it() {
    let mut account = Stored::new(&vec![0; size_of::<Worker>()]);
    let (first, second) = (account.view(), account.view());
    let created = initialize::<Worker>(&first, 254).ok().unwrap();
    for view in [&first, &second] {
        assert!(load_mut::<Worker>(view).is_err() && load::<Worker>(view).is_err());
    }
    assert_eq!(created.sequence(), 1);
}

#[test]
fn every_version_but_the_present_one_is_refused() {
    for version in (0..=u8::MAX).filter(|version| *version != VERSION) {
        let mut account = worker_account(version);
        assert!(load::<Worker>(&account.view()).is_err(), "version {version}");
    }
}
