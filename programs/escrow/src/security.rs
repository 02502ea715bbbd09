//! Where to report a vulnerability, in the form that explorers look for in a program's binary.

#[used]
#[unsafe(link_section = ".security.txt")]
static SECURITY_TXT: &[u8] = concat!(
    "=======BEGIN SECURITY.TXT V1=======\0",
    "name\0escrow\0",
    "project_url\0SECURITY.md of the source\0",
    "contacts\0link:SECURITY.md of the source\0",
    "policy\0SECURITY.md of the source\0",
    "preferred_languages\0en\0",
    "source_release\0",
    env!("CARGO_PKG_VERSION"),
    "\0",
    "=======END SECURITY.TXT V1=======\0",
)
.as_bytes();
