//! What `--scheduler` and `HECATON_SCHEDULER` name.
use crate::api::flags::Config;
use crate::hec::run_order::RunOrder;
use std::ffi::CString;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerName {
    /// An order of the run queues.
    Order(RunOrder),
    /// A module of the package `hecaton` below `Hecaton.Scheduler`: its name, and what may follow after a colon. The
    /// package knows which there are.
    OfPackage(CString),
}

impl SchedulerName {
    /// What has this name, or what is wrong with the name.
    pub fn read(name: &[u8], config: &Config) -> Result<SchedulerName, String> {
        let text = std::str::from_utf8(name).ok();
        if let Some(order) = text.and_then(RunOrder::from_name) {
            return Ok(SchedulerName::Order(order));
        }
        let is_module = config.package && name.first().is_some_and(u8::is_ascii_uppercase);
        match CString::new(name) {
            Ok(name) if is_module && config.hs_main => Ok(SchedulerName::OfPackage(name)),
            _ if is_module => Err("schedulers of the package hecaton need a main in Haskell".to_owned()),
            _ => Err(format!("no such scheduler (there are {})", RunOrder::NAMES)),
        }
    }
}
