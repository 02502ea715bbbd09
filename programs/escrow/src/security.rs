//! Where to report a vulnerability, in the form that explorers look for in a program's binary
//! (security.txt for programs, version 1).

#[used]
#[unsafe(link_section = ".security.txt")]
static SECURITY_TXT: &[u8] = concat!(
    "=======BEGIN SECURITY.TXT V1=======\0",
    "name\0Credit-metered inference: escrow\0",
    "project_url\0README.md of the repository this program is built from\0",
    "contacts\0other:a private security advisory in that repository\0",
    "policy\0SECURITY.md of that repository\0",
    "preferred_languages\0en\0",
    "source_code\0programs/escrow of that repository\0",
    "source_release\0",
    env!("CARGO_PKG_VERSION"),
    "\0",
    "=======END SECURITY.TXT V1=======\0",
)
.as_bytes();
