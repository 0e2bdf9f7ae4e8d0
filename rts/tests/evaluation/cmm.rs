//! Reads from `cmm/Update.cmm` what the update frame does to a thunk. The model does exactly that, in that order.
use std::sync::OnceLock;

const UPDATE: &str = include_str!("../../../cmm/Update.cmm");
const EVALUATION: &str = include_str!("../../../cmm/evaluation/lock-free/Evaluation.h");

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    LoadHeader,
    /// Leave the thunk to the code that updates claimed thunks, if the header shows a claim or a value.
    LeaveIfClaimed,
    StoreIndirectee,
    StoreHeader,
}

/// Returns the steps of `stg_upd_frame`.
pub fn plain_update() -> &'static [Step] {
    static STEPS: OnceLock<Vec<Step>> = OnceLock::new();
    STEPS.get_or_init(|| {
        let from = UPDATE.find("INFO_TABLE_RET(stg_upd_frame,").expect("the frame");
        let frame = &UPDATE[from..];
        let frame = &frame[frame.find('{').expect("its code") + 1..frame.find("\n}").expect("its end")];
        let frame = frame.replace("STORE_VALUE(updatee)", &definition(UPDATE, "STORE_VALUE(updatee)"));
        steps(&frame.replace("STORE_IND(updatee)", &definition(EVALUATION, "STORE_IND(updatee)")))
    })
}

/// Returns the definition of a macro.
fn definition(source: &str, name: &str) -> String {
    let from = source.find(&format!("#define {name}")).unwrap_or_else(|| panic!("{name} is defined nowhere"));
    let mut text = String::new();
    for line in source[from..].lines() {
        text += line.trim_end_matches('\\');
        if !line.ends_with('\\') {
            break;
        }
    }
    text["#define ".len() + name.len()..].trim().to_owned()
}

/// Translates the code into steps. Panics on a statement that the model does not know.
fn steps(code: &str) -> Vec<Step> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let code = words.join(" ");
    let mut found = Vec::new();
    for statement in code.split([';', '{', '}']).map(str::trim) {
        let step = match statement {
            "info = GET_INFO(updatee)" => Step::LoadHeader,
            "if (info == stg_IND_info || info == stg_BLACKHOLE_info) (likely: False)" => Step::LeaveIfClaimed,
            "StgInd_indirectee(updatee) = R1" => Step::StoreIndirectee,
            "SET_INFO(updatee, stg_IND_info)" => Step::StoreHeader,
            // On x86-64 stores stay in order. Calls into Rust are no part of the protocol.
            ""
            | "W_ updatee, info"
            | "updatee = Sp(1)"
            | "jump hec_update_claimed [R1]"
            | "Sp_adj(2)"
            | "prim_write_barrier" => continue,
            "if (HEC_IS_OLD(updatee)) (likely: False)"
            | "ccall hec_remember(MyCapability() \"ptr\", updatee \"ptr\")"
            | "RETURN_R1()" => continue,
            other => panic!("cmm/Update.cmm: the model does not know what `{other}` does"),
        };
        found.push(step);
    }
    found
}
