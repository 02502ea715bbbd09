//! The accounts of the program: layouts, typed getters, transitions, invariants.

pub mod config;
pub mod creation;
pub mod credit_account;
pub mod gateway;
pub mod job;
pub mod model;
pub mod pricing;
pub mod treasury;
pub mod worker;

pub use {
    config::Config, credit_account::CreditAccount, gateway::Gateway, job::Job, model::Model,
    treasury::Treasury, worker::Worker,
};
